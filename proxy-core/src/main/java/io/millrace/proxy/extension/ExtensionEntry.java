package io.millrace.proxy.extension;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.extension.config.SectionConfig;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfig;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An extension object and its settings. Immutable.
 *
 * @param name the name in logs, metrics and Cache-Status: letters, digits, '-' and '_'
 * @param extension the object, not yet open
 * @param onError the effect of a failure in any of its hooks; null for the default of each hook
 * @param deadlineNanos time limit for the result of an asynchronous hook
 * @param config the configuration that the extension reads
 * @param rules the remap rules whose requests call the hooks
 */
public record ExtensionEntry(
        String name,
        Extension extension,
        @Nullable OnError onError,
        long deadlineNanos,
        ExtensionConfig config,
        Predicate<RemapRuleConfig> rules) {

    /** The default of {@link #deadlineNanos}: 5 seconds. */
    public static final long DEADLINE_NANOS = 5_000_000_000L;

    private static final int NAME_LENGTH_MAX = 64;

    /**
     * Checks the name and the deadline.
     *
     * @throws IllegalArgumentException if the name is not valid, or the deadline is not positive
     */
    public ExtensionEntry {
        if (!isName(name)) {
            throw new IllegalArgumentException("the name of an extension must have 1 to " + NAME_LENGTH_MAX
                    + " letters, digits, '-' and '_', but is \"" + name + "\"");
        }
        if (deadlineNanos <= 0) {
            throw new IllegalArgumentException(
                    "deadline of extension " + name + " in ns: actual=" + deadlineNanos + ", minimum=1");
        }
    }

    /** Returns an entry for all remap rules, with the defaults and without configuration. */
    public static ExtensionEntry of(Extension extension) {
        return new ExtensionEntry(
                extension.name(), extension, null, DEADLINE_NANOS, SectionConfig.empty(), rule -> true);
    }

    /** Returns true if the text is a valid name of an entry. */
    public static boolean isName(String text) {
        return text.length() <= NAME_LENGTH_MAX && text.matches("[A-Za-z0-9_-]+");
    }
}
