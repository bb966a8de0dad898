package io.millrace.proxy.remap;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Caches remap rules with the origins that extensions have chosen for them. Keeps the {@value #COUNT_MAX} most recently
 * used rules.
 *
 * <p>Confined to one event loop.
 */
public final class ChosenOrigins {
    private static final int COUNT_MAX = 256;

    private record Choice(Mapped mapped, URI origin) {}

    private final Map<Choice, Mapped> rulesByChoice = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Choice, Mapped> eldest) {
            return size() > COUNT_MAX;
        }
    };

    /** Returns the rule with another origin. */
    public Mapped of(Mapped mapped, URI origin) {
        return rulesByChoice.computeIfAbsent(new Choice(mapped, origin), ChosenOrigins::create);
    }

    private static Mapped create(Choice choice) {
        URI origin = choice.origin();
        return choice.mapped()
                .rule()
                .leadingTo(
                        origin.getScheme().toLowerCase(Locale.ROOT),
                        origin.getHost().toLowerCase(Locale.ROOT),
                        origin.getPort());
    }
}
