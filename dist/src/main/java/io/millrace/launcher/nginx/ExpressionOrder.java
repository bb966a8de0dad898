package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The order in which nginx compares paths with the expressions of locations. Stateless. */
final class ExpressionOrder {
    private ExpressionOrder() {}

    /** Returns true if a location has an expression too, and nginx compares paths with another one first. */
    static boolean isBefore(Server server, Location first, Location second) {
        List<Directive> all = server.scope().block().children();
        return second.source().arg(0).startsWith("~") && all.indexOf(first.source()) < all.indexOf(second.source());
    }

    /** Returns true if nginx compares paths of a location, or longer ones, with an expression. */
    static boolean isCompared(Server server, Location expression, Location found) {
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
                    case PATHS -> isBefore(server, expression, found);
                    default -> false;
                };
    }

    /** Returns the condition for the requests of a location with an expression; earlier expressions precede it. */
    static @Nullable String whenMatched(Location location, List<Location> locations) {
        Scope around = location.scope().parent();
        StringBuilder when = new StringBuilder();
        for (Location each : locations) {
            String matches = each.kind() == Kind.EXPRESSION ? ConditionText.path(each.expression()) : "";
            if (each.equals(location)) {
                return matches == null ? null : matches + when;
            }
            boolean precedes = each.kind() == Kind.EXPRESSION && isWithin(each, around);
            if (precedes && matches == null) {
                return null;
            }
            if (precedes) {
                when.append(" && !(").append(matches).append(')');
            }
        }
        return null;
    }

    private static boolean isWithin(Location location, @Nullable Scope around) {
        Scope parent = location.scope().parent();
        return parent != null && around != null && parent.block() == around.block();
    }

    /**
     * Returns what a condition for the requests of a plain location has to exclude: paths that match an expression, and
     * paths that are longer than an exact one. Returns null if an expression has no equivalent.
     */
    static @Nullable String unlessMatched(Server server, Location location, List<Location> locations) {
        if (location.kind() == Kind.EXACT) {
            return " && path == " + RuleTexts.literal(location.path());
        }
        StringBuilder text = new StringBuilder();
        for (Location each : locations) {
            if (each.kind() == Kind.EXPRESSION && isCompared(server, each, location)) {
                String matches = ConditionText.path(each.expression());
                if (matches == null) {
                    return null;
                }
                text.append(" && !(").append(matches).append(')');
            }
        }
        return text.toString();
    }
}
