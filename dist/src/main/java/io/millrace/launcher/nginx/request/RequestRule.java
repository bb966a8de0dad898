package io.millrace.launcher.nginx.request;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An answer to the requests of a remap rule that meet a condition, as an element of its {@code rules}. Immutable.
 *
 * @param sources the directives that become the rule
 * @param body content; empty for the default content, one line that states the status
 * @param type media type of the content; empty for the default
 */
public record RequestRule(List<Directive> sources, String when, String status, String body, String type) {
    /**
     * Returns the rule for a block that answers all requests by {@code return}, {@code deny all} or {@code internal}.
     * Returns null if there is no such directive, its text has variables, its status is not 2xx, 4xx or 5xx, or
     * {@code error_page} replaces the status.
     *
     * @param when condition
     */
    @Nullable
    public static RequestRule of(Scope scope, String when) {
        for (Directive each : scope.own("internal")) {
            return isReplaced(scope, "404") ? null : new RequestRule(List.of(scope.block(), each), when, "404", "", "");
        }
        for (Directive each : scope.own("return")) {
            String text = scope.expand(each.arg(1));
            if (each.arg(0).matches("[245]\\d\\d") && !text.contains("$")) {
                // In nginx, 444 closes the connection without a response. The rule answers with 403 instead.
                String status = each.arg(0).equals("444") ? "403" : each.arg(0);
                return isReplaced(scope, each.arg(0))
                        ? null
                        : new RequestRule(
                                List.of(scope.block(), each), when, status, text, scope.value("default_type", ""));
            }
            return null;
        }
        List<Directive> lines = scope.own("allow", "deny");
        boolean denies = !lines.isEmpty()
                && lines.get(0).name().equals("deny")
                && lines.get(0).arg(0).equals("all");
        return denies && !isReplaced(scope, "403")
                ? new RequestRule(List.of(scope.block(), lines.get(0)), when, "403", "", "")
                : null;
    }

    /** Returns true if error_page replaces this status, or redirects it to a named location (`@name`). */
    private static boolean isReplaced(Scope scope, String status) {
        return scope.all("error_page").stream()
                .anyMatch(each -> each.args().contains(status)
                        && (each.lastArg().startsWith("@")
                                || each.args().stream().anyMatch(word -> word.startsWith("="))));
    }

    /** Writes the rule into a remap rule. */
    public void write(DraftNode node) {
        DraftNode rule = node.addElement("rules").removableIfInvalid();
        for (Directive each : sources) {
            Entry entry = each.markHandled();
            rule.from(entry);
            if (each.name().equals("return") && each.arg(0).equals("444")) {
                entry.note("Millrace answers with 403; nginx closes the connection without a response");
            }
        }
        rule.put("when", when);
        rule.put("answer.status", status);
        if (!body.isEmpty()) {
            rule.put("answer.body", body);
            if (!type.isEmpty()) {
                rule.put("answer.content_type", type).removableIfInvalid();
            }
        }
    }
}
