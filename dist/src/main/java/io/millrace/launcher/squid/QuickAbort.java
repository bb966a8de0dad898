package io.millrace.launcher.squid;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The translator of {@code quick_abort_min}, {@code quick_abort_max} and {@code quick_abort_pct}.
 *
 * <p>They decide whether a fetch continues after its client has left. Squid compares them in this order:
 *
 * <ol>
 *   <li>a negative {@code quick_abort_min}: the fetch continues
 *   <li>fewer bytes are missing than {@code quick_abort_min}: the fetch continues
 *   <li>more bytes are missing than {@code quick_abort_max}: the fetch ends
 *   <li>a larger share than {@code quick_abort_pct} was received: the fetch continues, otherwise it ends
 * </ol>
 *
 * <p>Millrace compares the received share only. Source: {@code CheckQuickAbortIsReasonable} of Squid 6, and
 * {@code squid.conf.documented}. Stateless.
 */
final class QuickAbort {
    private static final String KEY = "cache.background_fill_completed_threshold";
    private static final String MIN = "quick_abort_min";
    private static final String MAX = "quick_abort_max";
    private static final String PCT = "quick_abort_pct";

    private QuickAbort() {}

    /** Translates all lines of the three directives. The last line of a directive applies, as in Squid. */
    static void translate(List<SquidLine> lines, Draft draft) {
        SquidLine min = last(lines, MIN);
        SquidLine max = last(lines, MAX);
        boolean neverAborts = min != null && min.arg(0).startsWith("-");
        boolean alwaysAborts = !neverAborts && max != null && max.arg(0).matches("0+|-.*");
        for (SquidLine line : lines) {
            if (!line.name().matches(MIN + "|" + MAX + "|" + PCT)) {
                continue;
            }
            if (line != last(lines, line.name())) {
                line.note("a later line replaces the value");
            } else if (neverAborts) {
                continueAll(line);
            } else if (alwaysAborts) {
                endAll(line, draft);
            } else if (line.name().equals(PCT)) {
                translatePercentage(line, draft);
            } else {
                line.note("missing bytes are not compared; " + KEY + " compares the received share");
            }
        }
    }

    private static @Nullable SquidLine last(List<SquidLine> lines, String name) {
        SquidLine last = null;
        for (SquidLine line : lines) {
            last = line.name().equals(name) ? line : last;
        }
        return last;
    }

    /** Translates a line if every fetch continues, which is the default of Millrace. */
    private static void continueAll(SquidLine line) {
        if (line.name().equals(MIN)) {
            line.markHandled().matchesDefaultOf(KEY);
        } else {
            line.note(MIN + " is negative: every fetch continues after its client has left");
        }
    }

    /** Translates a line if every fetch ends with its last client: the share 1 in Millrace. */
    private static void endAll(SquidLine line, Draft draft) {
        if (line.name().equals(MAX)) {
            set("1", line, draft);
        } else if (line.name().equals(MIN) && !line.arg(0).matches("0+")) {
            line.notMapped("missing bytes are not compared: a fetch ends with its last client");
        } else {
            line.note(MAX + " is 0: every fetch ends with its last client");
        }
    }

    private static void translatePercentage(SquidLine line, Draft draft) {
        if (line.arg(0).matches("\\d{1,2}|100")) {
            set(
                    new BigDecimal(line.arg(0))
                            .movePointLeft(2)
                            .stripTrailingZeros()
                            .toPlainString(),
                    line,
                    draft);
        } else {
            line.notMapped("'" + line.arg(0) + "' is not a percentage from 0 to 100");
        }
    }

    private static void set(String share, SquidLine line, Draft draft) {
        draft.set(KEY, share, line.markHandled());
        DraftNode node = draft.root().find(KEY);
        if (node != null) {
            node.removableIfInvalid();
        }
    }
}
