package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.List;
import java.util.Set;

/**
 * The lifetimes of {@code proxy_cache_valid} for the requests of a location with an expression, as elements of
 * {@code rules}. Unlike {@code ttl_in_cache} they depend on the status and the fields of the response. Stateless.
 */
public final class MatchedLifetimes {
    private MatchedLifetimes() {}

    /**
     * Adds elements to the remap rule of another location, whose requests can match the expression.
     *
     * @param when condition for the requests
     * @param sources further lines that the elements come from
     */
    public static void write(Scope scope, DraftNode rule, String when, List<Entry> sources) {
        String fields = withoutLifetime(CachePlan.ignored(scope));
        for (StatusLifetime each : StatusLifetime.of(scope)) {
            DraftNode element = rule.addElement("rules").removableIfInvalid();
            element.put("when", when + " && " + each.condition() + " && " + fields);
            each.write(element);
            element.from(each.line().markHandled());
            sources.forEach(element::from);
        }
    }

    /** Marks the lines that {@link #write} reads, and says why some of them give no element. */
    public static void markLines(Scope scope) {
        List<Directive> used =
                StatusLifetime.of(scope).stream().map(StatusLifetime::line).toList();
        for (Directive each : scope.all("proxy_cache_valid")) {
            each.markHandled();
            if (!used.contains(each) && Values.time(each.lastArg()) != null) {
                each.note("earlier lines list its statuses, or it lists only 206");
            }
        }
    }

    /**
     * Returns the condition for responses that nginx stores, and whose fields have no lifetime that nginx reads.
     * Responses with {@code private} are always excluded: the lifetime that an element sets would make them public.
     */
    private static String withoutLifetime(Set<String> ignored) {
        String obeyed = ignored.contains("cache-control") ? "private" : "max-?age|no-cache|no-store|private";
        String condition = "!(" + IgnoredFields.CONTROL + " =~ \"(?i)" + obeyed + "\")";
        if (!ignored.contains("expires")) {
            condition += " && !(" + IgnoredFields.EXPIRES + ")";
        }
        return ignored.contains("set-cookie") ? condition : condition + " && !(" + IgnoredFields.COOKIE + ")";
    }
}
