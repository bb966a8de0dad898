package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import org.jspecify.annotations.Nullable;

/** Translates {@code return CODE [TEXT]} to a remap rule whose {@code rules} answer all requests. Stateless. */
final class AnswerRule {
    private AnswerRule() {}

    /** Returns the {@code return} directive with which a scope answers all requests; null if there is none. */
    static @Nullable Directive of(Scope scope) {
        for (Directive each : scope.own("return")) {
            if (each.arg(0).matches("[245]\\d\\d") && !each.arg(0).equals("444")) {
                return each;
            }
        }
        return null;
    }

    /** Writes the answer into a remap rule. */
    static void write(DraftNode node, Scope scope, Directive source) {
        node.put("to", DraftNode.DENIED_TARGET);
        DraftNode rule = node.addElement("rules");
        rule.put("answer.status", source.arg(0)).from(source.markHandled());
        String text = scope.expand(source.arg(1));
        if (text.contains("$")) {
            source.notMapped("the text of an answer has no variables; write answer.body");
            return;
        }
        if (text.isEmpty()) {
            return;
        }
        rule.put("answer.body", text).removableIfInvalid().from(source.entry());
        Directive type = scope.last("default_type");
        for (Directive each : scope.all("add_header")) {
            type = isType(each) ? each : type;
        }
        if (type != null) {
            rule.put("answer.content_type", type.arg(isType(type) ? 1 : 0))
                    .removableIfInvalid()
                    .from(type.markHandled());
        }
    }

    /** Returns true if a directive adds Content-Type. */
    static boolean isType(Directive directive) {
        return directive.name().equals("add_header") && directive.arg(0).equalsIgnoreCase("Content-Type");
    }
}
