package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.access.RefusedRequests;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.request.RequestRule;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The elements of {@code rules} that the remap rules of all servers get: answers and redirections of single requests.
 * Confined to one thread.
 */
final class RequestRules {
    /** Writers of elements of {@code rules}, by key ({@code map} or similar) and URL pattern of their remap rule. */
    private final Map<String, List<Consumer<DraftNode>>> planned = new HashMap<>();

    /** Plans an element for the remap rule of a location. */
    void add(UrlBase base, Location within, Consumer<DraftNode> rule) {
        planned.computeIfAbsent(base.verb() + base.pattern(within.path()), key -> new ArrayList<>())
                .add(rule);
    }

    /** Writes the elements planned for a remap rule. */
    void write(UrlBase base, String path, DraftNode node) {
        planned.getOrDefault(base.verb() + base.pattern(path), List.of()).forEach(each -> each.accept(node));
    }

    /**
     * Plans the answer or redirection of an {@code if} directive, as an element of the rules of some locations.
     *
     * @param more text to append to the condition, such as {@code  && path == "/x"}; may be empty
     */
    void planConditionalAnswer(
            Server server, UrlBase base, Scope scope, Directive block, String more, List<Location> locations) {
        boolean isSingleReturn = !block.isHandled()
                && block.children().size() == 1
                && block.children().get(0).name().equals("return")
                && Conditions.permittedMethods(block) == null;
        String when = isSingleReturn ? ConditionText.of(block) : null;
        if (when == null || (RefusedRequests.replacesClients(scope) && when.startsWith("client "))) {
            return;
        }
        Consumer<DraftNode> rule = answerOrRedirection(server, base, scope, block, when + more);
        for (Location location : locations) {
            if (rule != null && location.hasRule(locations) && server.isAnswered(location)) {
                add(base, location, rule);
            }
        }
    }

    /** Plans the answers and redirections of {@code if} directives in a location. */
    void planConditionalAnswers(
            Server server, UrlBase base, Location location, List<Location> locations, String exclusion) {
        for (Directive each : location.scope().own("if")) {
            String more = ExpressionOrder.unlessMatched(location, locations, each);
            if (more != null) {
                planConditionalAnswer(server, base, location.scope(), each, more + exclusion, List.of(location));
            }
        }
    }

    /** Returns the writer of an answer or redirection under a condition. Returns null if there is none. */
    static @Nullable Consumer<DraftNode> answerOrRedirection(
            Server server, UrlBase base, Scope around, Directive block, String when) {
        boolean isOverruled = block.children().stream()
                .anyMatch(each -> List.of("if", "rewrite", "break").contains(each.name()));
        if (isOverruled) {
            return null;
        }
        RequestRule answer = RequestRule.of(new Scope(around, block), when);
        if (answer != null) {
            return answer::write;
        }
        for (Directive each : block.children("return")) {
            RedirectRule redirection = RedirectRule.ofReturn(each, base, server.firstName(), when);
            if (redirection != null) {
                return node -> {
                    redirection.write(node);
                    block.markHandled().recordKey("rules");
                };
            }
        }
        return null;
    }
}
