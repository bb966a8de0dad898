package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * One line of {@code proxy_cache_valid} as an element of {@code rules}. Immutable.
 *
 * @param line the line
 * @param statuses statuses whose lifetime this line sets, without those that an earlier line names
 */
record StatusLifetime(Directive line, Set<String> statuses) {
    /** Returns the lines of a scope that have a readable time and set the lifetime of a status. */
    static List<StatusLifetime> of(Scope scope) {
        List<StatusLifetime> lifetimes = new ArrayList<>();
        Set<String> decided = new HashSet<>();
        for (Directive each : scope.all("proxy_cache_valid")) {
            Set<String> codes = new LinkedHashSet<>(CachePlan.otherCodes(each));
            if (CachePlan.isFor200(each)) {
                codes.add("200");
            }
            codes.removeIf(code -> !decided.add(code));
            if (!codes.isEmpty() && Values.time(each.lastArg()) != null) {
                lifetimes.add(new StatusLifetime(each, codes));
            }
        }
        return lifetimes;
    }

    /** Returns the condition for responses with these statuses. */
    String condition() {
        return "status in (" + String.join(", ", statuses.stream().sorted().toList()) + ")";
    }

    /** Writes the lifetime to an element of {@code rules}, as a field that is stored but not sent to clients. */
    void write(DraftNode element) {
        element.put("set_stored_header.CDN-Cache-Control", "max-age=" + CachePlan.millis(line) / 1000);
        element.putWords("remove_response_header", List.of("CDN-Cache-Control"));
    }
}
