package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.access.AccessPlan;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The order in which nginx compares paths with the expressions of locations. Stateless. */
final class ExpressionOrder {
    private ExpressionOrder() {}

    /**
     * Returns true if nginx tests the expression of {@code first} before another expression: that of {@code second}, or
     * of a location that contains {@code second}. nginx tests the expressions in one block in the order of the file.
     * Returns false if there is no other expression.
     */
    static boolean isBefore(Location first, Location second) {
        Scope around = first.scope().parent();
        Scope at = second.scope();
        while (around != null && at.parent() != null && !isWithin(at, around)) {
            at = at.parent();
        }
        // nginx tests the locations inside a location without an expression before the expressions of the outer block.
        if (around == null || !isWithin(at, around) || !at.block().arg(0).startsWith("~")) {
            return false;
        }
        List<Directive> all = around.block().children();
        return all.indexOf(first.source()) < all.indexOf(at.block());
    }

    /**
     * Returns true if nginx compares the path of {@code found}, or paths that begin with it, with {@code expression}.
     */
    static boolean isCompared(Location expression, Location found) {
        Scope around = expression.scope().parent();
        boolean inside = false;
        for (Scope scope = found.scope(); scope != null && around != null; scope = scope.parent()) {
            inside |= scope.block() == around.block();
        }
        if (around != null && found.source() == around.block()) {
            return found.isPath();
        }
        return inside
                && switch (found.kind()) {
                    case PREFIX, EXACT -> true;
                    case PATHS -> isBefore(expression, found);
                    default -> false;
                };
    }

    /**
     * Returns the condition for the requests of a location with an expression. It excludes the paths that match an
     * earlier expression. Returns null if one of these expressions has no equivalent. If the location refuses requests,
     * an earlier expression without an equivalent is ignored instead: the refusal then also applies to its requests.
     */
    static @Nullable String whenMatched(Location location, List<Location> locations) {
        Scope scope = location.scope();
        boolean refuses =
                AccessPlan.onlyDenies(scope) || AccessPlan.refusal(scope) != null || AccessPlan.internal(scope) != null;
        Scope around = location.scope().parent();
        StringBuilder when = new StringBuilder();
        for (Location each : locations) {
            String matches = each.kind() == Kind.EXPRESSION ? ConditionText.path(each.expression()) : "";
            if (each.equals(location)) {
                return matches == null ? null : matches + when;
            }
            boolean precedes = each.kind() == Kind.EXPRESSION && around != null && isWithin(each.scope(), around);
            if (precedes && matches == null && !refuses) {
                return null;
            }
            if (precedes && matches == null) {
                noteWider(location.source(), each);
            } else if (precedes) {
                when.append(" && !(").append(matches).append(')');
            }
        }
        return null;
    }

    private static void noteWider(Directive refusal, Location expression) {
        refusal.entry()
                .note("the rule also refuses paths that match " + expression.expression()
                        + "; nginx compares this expression first");
    }

    private static boolean isWithin(Scope scope, Scope around) {
        Scope parent = scope.parent();
        return parent != null && parent.block() == around.block();
    }

    /**
     * Returns the part of a condition that limits an expression in the rule of another location. The rule of an exact
     * location also matches longer paths. nginx compares only those longer paths with the expression.
     */
    static String unlessExact(Location expression, Location found) {
        boolean longer = found.kind() == Kind.EXACT && !isBefore(expression, found);
        return longer ? " && path != " + RuleTexts.literal(UrlBase.encoded(found.path())) : "";
    }

    /**
     * Returns the part of a condition that limits the condition to the requests of a location without an expression. It
     * excludes paths that match an expression, and for an exact location all longer paths. Returns null if an
     * expression has no equivalent. If the block refuses requests, such an expression is ignored instead: the refusal
     * then also applies to its paths.
     *
     * @param block the block with the condition
     */
    static @Nullable String unlessMatched(Location location, List<Location> locations, Directive block) {
        if (location.kind() == Kind.EXACT) {
            return " && path == " + RuleTexts.literal(UrlBase.encoded(location.path()));
        }
        StringBuilder text = new StringBuilder();
        for (Location each : locations) {
            if (each.kind() == Kind.EXPRESSION && isCompared(each, location)) {
                String matches = ConditionText.path(each.expression());
                if (matches == null && !Conditions.refuses(block)) {
                    return null;
                }
                if (matches == null) {
                    noteWider(block, each);
                    continue;
                }
                text.append(" && !(").append(matches).append(')');
            }
        }
        return text.toString();
    }
}
