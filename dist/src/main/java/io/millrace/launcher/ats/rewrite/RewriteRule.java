package io.millrace.launcher.ats.rewrite;

import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.source.Entry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One operator of {@code header_rewrite} with its condition. Immutable.
 *
 * @param hook the hook at which the operator runs
 * @param when the condition as an expression; null if there is none
 * @param problem the reason why the condition has no equivalent; null for none
 * @param conditions the lines of the condition
 * @param words the words of the operator's line
 */
record RewriteRule(
        RewriteHook hook, @Nullable String when, @Nullable String problem, List<Entry> conditions, Words words) {
    /** The line of the operator. */
    Entry entry() {
        return words.entry();
    }
}
