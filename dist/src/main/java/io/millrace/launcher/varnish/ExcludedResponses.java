package io.millrace.launcher.varnish;

import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Statement;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The statements of {@code vcl_backend_response} that exclude responses from storing. Rules that set lifetimes must not
 * store these responses. Confined to one thread.
 */
final class ExcludedResponses extends Walker {
    private final VclImportState state;
    /** Number of statements that set a lifetime. */
    private int lifetimes;

    private boolean byResponse;
    /** First statement with a condition that no element of {@code rules} can express. */
    private @Nullable Statement unknown;

    private ExcludedResponses(VclImportState state) {
        super(state.vcl());
        this.state = state;
    }

    /** Reads the statements of the subroutine. */
    static ExcludedResponses of(VclImportState state) {
        ExcludedResponses all = new ExcludedResponses(state);
        all.walk("vcl_backend_response");
        all.walk("vcl_fetch");
        return all;
    }

    /** Number of statements that set a lifetime. */
    int lifetimes() {
        return lifetimes;
    }

    /** The first statement that excludes responses by a test that rules do not have; null if there is none. */
    @Nullable
    Statement unknown() {
        return unknown;
    }

    /**
     * Returns true if a statement excludes responses by anything but URL, status, method or a Cache-Control that
     * forbids storing. A lifetime for all responses would apply to these responses too.
     */
    boolean isByResponse() {
        return byResponse;
    }

    @Override
    boolean isFinal(String target) {
        return false;
    }

    @Override
    void statement(Statement each, List<Condition> around) {
        String target = each.target().toLowerCase(Locale.ROOT);
        boolean sets = each.kind().equals("set");
        boolean ttl = sets && target.equals("beresp.ttl");
        boolean zero = ttl && VclImportState.time(each.value()) != null && VclImportState.seconds(each.value()) <= 0;
        boolean uncacheable =
                sets && target.equals("beresp.uncacheable") && !each.value().equals("false");
        boolean passes = each.kind().equals("return") && target.equals("pass");
        if ((zero || uncacheable || passes) && unknown == null) {
            for (List<Condition.Test> tests : Condition.alternatives(new Condition.All(around))) {
                unknown = isKnown(tests) ? unknown : each;
                Match match = Match.of(tests);
                byResponse |= !tests.isEmpty()
                        && !(match.isStatus() || match.isUrl() || match.isUnsafe() || match.isForbidden());
            }
        }
        lifetimes += ttl ? 1 : 0;
    }

    private boolean isKnown(List<Condition.Test> tests) {
        for (Condition.Test test : tests) {
            if (test.left().toLowerCase(Locale.ROOT).matches("bere(q|sp)\\.uncacheable")) {
                return true;
            }
        }
        Match match = Match.of(tests);
        return tests.isEmpty()
                || match.isUnsafe()
                || match.isUrl()
                || state.fields().conditions().ofExcluded(List.copyOf(tests)) != null;
    }
}
