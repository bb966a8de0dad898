package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.access.AccessPlan;
import io.millrace.launcher.nginx.access.RefusedRequests;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.request.RequestRule;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The planner of answers and restrictions for some paths of a remap rule. A remap rule matches a path and all longer
 * paths that begin with it. An exact location of nginx and the location for the longer paths therefore share a remap
 * rule. Elements of {@code rules} in the remap rule distinguish their requests. Confined to one thread.
 */
final class Restrictions {
    /** Plans the conditional answer of a block in the rule of another location. */
    @FunctionalInterface
    interface ConditionalAnswers {
        /** @param more text to append to the condition; it begins with {@code &&} */
        void plan(Directive block, String more, Location ruleLocation);
    }

    private final Workspace workspace;
    private final Server server;
    private final UrlBase base;
    private final List<Location> locations;
    /** Adds an element of {@code rules} to the remap rule of a location. */
    private final BiConsumer<Location, Consumer<DraftNode>> rules;
    /** Exact locations whose answers were added to the rule of another location. */
    private final Set<Location> answered = new HashSet<>();
    /** Locations whose restrictions are elements of {@code rules} instead of filters. */
    private final Set<Location> separated = new HashSet<>();

    Restrictions(
            Workspace workspace,
            Server server,
            UrlBase base,
            List<Location> locations,
            BiConsumer<Location, Consumer<DraftNode>> rules) {
        this.workspace = workspace;
        this.server = server;
        this.base = base;
        this.locations = locations;
        this.rules = rules;
    }

    /**
     * Plans the elements of {@code rules} for all locations.
     *
     * @param conditional plans the conditional answers of an exact location in the rule of another location
     */
    void plan(BiConsumer<Location, Location> conditional) {
        for (Location each : locations) {
            Location ruleLocation = locationWithRule(each);
            if (ruleLocation != null) {
                conditional.accept(each, ruleLocation);
                planAnswer(each, ruleLocation);
            }
        }
        locations.forEach(this::restrictOtherCases);
        for (Location each : locations) {
            boolean hasOwnRule =
                    each.isPath() && each.hasRule(locations) && locationWithRule(each) == null && canHaveRules(each);
            if (hasOwnRule && each.kind() == Kind.EXACT) {
                refuseLongerPaths(each);
            }
            if (hasOwnRule) {
                planRestrictions(each);
            }
        }
    }

    /** Returns true if the answer of an exact location is part of the rule for another location. */
    boolean isAnswered(Location location) {
        return answered.contains(location);
    }

    /** The locations whose rules must have no filters. */
    Set<Location> separated() {
        return separated;
    }

    /** Returns text to append to a condition. The text excludes the exact locations that share the rule. */
    String exclusion(Location location) {
        StringBuilder text = new StringBuilder();
        for (Location each : locations) {
            if (location.equals(locationWithRule(each)) && !answered.contains(each)) {
                text.append(" && path != ").append(literal(each));
            }
        }
        return text.toString();
    }

    /**
     * Returns a condition that matches a refused path. Clients can percent-encode its dots and slashes, and an origin
     * may decode them. The condition therefore matches the encoded forms too.
     */
    private static String refusedPath(Location exact) {
        boolean encodable = exact.path().lastIndexOf('/') > 0 || exact.path().contains(".");
        String when = encodable ? ConditionText.path("^" + RuleTexts.quoted(exact.path()) + "$") : null;
        return when == null ? "path == " + literal(exact) : when;
    }

    private static String literal(Location exact) {
        return RuleTexts.literal(UrlBase.encoded(exact.path()));
    }

    /** Returns the location whose rule handles the requests of an exact location; null if there is none. */
    private @Nullable Location locationWithRule(Location exact) {
        if (exact.kind() != Kind.EXACT) {
            return null;
        }
        boolean answers = !canHaveRules(exact) || AnswerRule.of(exact.scope()) != null;
        if (!answers && !(exact.isPrefixToo(locations) && server.isMapping(exact))) {
            return null;
        }
        for (Location each : locations) {
            if (each.kind() != Kind.EXACT
                    && each.isPath()
                    && exact.path().startsWith(each.path())
                    && each.hasRule(locations)) {
                return canHaveRules(each) && server.isAnswered(each) ? each : null;
            }
        }
        return null;
    }

    /** Returns true if the rule of a location can contain elements of {@code rules}. */
    private boolean canHaveRules(Location location) {
        Scope scope = location.scope();
        Directive refusal = AccessPlan.refusal(scope);
        Redirects.Redirect redirect = Redirects.of(scope);
        boolean partly = redirect != null && server.isMapping(location) && redirect.coversOnlyPartOf(location.path());
        boolean redirects = redirect != null && !partly;
        if (redirects || (refusal != null && AccessPlan.isDenial(refusal))) {
            return false;
        }
        return AnswerRule.of(scope) != null
                || !(AccessPlan.onlyDenies(scope)
                        || RefusedRequests.isClosed(scope)
                        || RefusedRequests.isClosed(server.handler(scope)));
    }

    /** Plans the answer or redirection of an exact location in the rule of another location. */
    private void planAnswer(Location exact, Location ruleLocation) {
        String when = "path == " + literal(exact);
        Directive returned = AnswerRule.of(exact.scope());
        boolean passes = returned != null && returned.arg(0).startsWith("2");
        RequestRule answer = RequestRule.of(exact.scope(), passes ? when : refusedPath(exact));
        if (answer != null) {
            rules.accept(ruleLocation, answer::write);
            answered.add(exact);
            return;
        }
        for (Directive each : exact.scope().own("return")) {
            RedirectRule redirection = RedirectRule.ofReturn(each, base, server.firstName(), when);
            if (redirection != null) {
                rules.accept(ruleLocation, redirection::write);
                exact.source().markHandled().note("its requests use the rule for " + ruleLocation.path());
                answered.add(exact);
            }
            return;
        }
        if (RefusedRequests.isClosed(exact.scope()) || RefusedRequests.isClosed(server.handler(exact.scope()))) {
            AccessPlan.requiresAuthentication(server.handler(exact.scope()));
            planRefusal(ruleLocation, refusedPath(exact), exact);
            answered.add(exact);
        }
    }

    /** Plans the restrictions of a location and of the exact locations that share its rule. */
    private void planRestrictions(Location location) {
        String ownRefusal = refusalCondition(location);
        List<Location> other = new ArrayList<>();
        for (Location each : locations) {
            if (location.equals(locationWithRule(each)) && !hasSameRefusal(each, location, ownRefusal)) {
                other.add(each);
            }
        }
        Location around = location.kind() == Kind.EXACT && server.isMapping(location) ? locationAround(location) : null;
        if (around != null) {
            restrictLongerPaths(location, ownRefusal, around);
        }
        for (Location each : other) {
            String refused = answered.contains(each) ? RefusedRequests.NONE : refusalCondition(each);
            String when = refusedPath(each);
            if (refused == null) {
                each.source().notMapped("its clients cannot be compared in rules, so that all are refused");
                planRefusal(location, when, each);
            } else if (!refused.isEmpty()) {
                planRefusal(location, joinByAnd(when, refused), each);
            }
            if (ownRefusal == null) {
                each.source().notMapped("the filters of the rule for " + location.path() + " apply to it too");
            }
        }
        if (ownRefusal != null && !ownRefusal.isEmpty() && !other.isEmpty()) {
            StringBuilder when = new StringBuilder(ownRefusal);
            other.forEach(each -> when.append(" && path != ").append(literal(each)));
            planRefusal(location, when.toString(), location);
            separated.add(location);
        }
    }

    private boolean hasSameRefusal(Location exact, Location ruleLocation, @Nullable String refused) {
        if (answered.contains(exact)) {
            return RefusedRequests.NONE.equals(refused);
        }
        String ownRefusal = refusalCondition(exact);
        return (ownRefusal != null && refused != null)
                ? ownRefusal.equals(refused)
                : RefusedRequests.isSame(server.handler(exact.scope()), server.handler(ruleLocation.scope()));
    }

    /** Plans the restrictions of the longer paths that begin with the path of an exact location with a rule. */
    private void restrictLongerPaths(Location exact, @Nullable String ownRefusal, Location around) {
        String path = literal(exact);
        boolean closed = !canHaveRules(around) || !server.isMapping(around);
        String refused = closed ? RefusedRequests.ALL : refusalCondition(around);
        if (hasSameRefusal(exact, around, refused) && !closed) {
            return;
        }
        if (refused == null) {
            exact.source().notMapped("clients cannot be compared in rules, so that longer paths are refused");
            planRefusal(exact, "path != " + path, around);
        } else if (!refused.isEmpty()) {
            planRefusal(exact, joinByAnd("path != " + path, refused), around);
        }
        if (ownRefusal != null && !ownRefusal.isEmpty()) {
            planRefusal(exact, joinByAnd("path == " + path, ownRefusal), exact);
            separated.add(exact);
        } else if (ownRefusal != null) {
            separated.add(exact);
        } else {
            exact.source().entry().note("its filters apply to longer paths too");
        }
    }

    /** Plans the refusal of longer paths, unless another location and its rule can handle them. */
    private void refuseLongerPaths(Location exact) {
        boolean around = locationAround(exact) != null;
        if (around && server.isMapping(exact)) {
            return;
        }
        rules.accept(exact, node -> {
            DraftNode rule = node.addElement("rules");
            rule.from(exact.source().markHandled());
            rule.put("when", "path != " + literal(exact));
            rule.put("answer.status", around ? "403" : "404");
        });
    }

    /**
     * Returns the location that nginx uses for the longer paths that begin with an exact one; null if there is none.
     */
    private @Nullable Location locationAround(Location exact) {
        return locations.stream()
                .filter(each -> each.kind() != Kind.EXACT
                        && each.isPath()
                        && exact.path().startsWith(each.path()))
                .findFirst()
                .orElse(null);
    }

    private @Nullable String refusalCondition(Location location) {
        return server.isMapping(location)
                ? RefusedRequests.of(location.scope(), server.handler(location.scope()))
                : RefusedRequests.NONE;
    }

    private static String joinByAnd(String condition, String refused) {
        return refused.equals(RefusedRequests.ALL) ? condition : condition + " && " + refused;
    }

    private void planRefusal(Location ruleLocation, String when, Location source) {
        Scope scope = server.handler(source.scope());
        rules.accept(ruleLocation, node -> {
            RefusedRequests.write(node, when, source.source(), scope);
            AccessPlan.recordRules(source.scope());
        });
    }

    /** Plans the refusal of clients of other machines. In nginx, these cannot reach a server at a loopback address. */
    void refuseRemoteClients() {
        for (Location each : locations) {
            if (each.hasRule(locations) && server.isAnswered(each)) {
                rules.accept(each, node -> {
                    DraftNode rule =
                            node.addElement("rules").remark("nginx listens at a loopback address for this server");
                    rule.put("when", "!(client in (\"127.0.0.0/8\", \"::1\"))");
                    rule.put("answer.status", "403");
                });
            }
        }
    }

    /** Plans the restrictions of a location whose try_files or error_page leads to a named location. */
    void planNamed(Location location) {
        Scope scope = location.scope();
        Scope named = server.handler(scope);
        boolean same = separated.contains(location) || RefusedRequests.isSame(scope, named);
        String refused = same ? RefusedRequests.NONE : RefusedRequests.of(scope);
        if (refused == null) {
            location.source().notMapped("its clients cannot be compared in rules, so that all are refused");
        }
        if (!RefusedRequests.NONE.equals(refused)) {
            String when = refused == null ? RefusedRequests.ALL : refused;
            rules.accept(location, node -> RefusedRequests.write(node, when, location.source(), scope));
        }
        reportUnrestricted(location, scope.own("limit_req", "limit_conn"));
    }

    /**
     * Plans the restrictions of a location with an expression, in the rules of all locations whose requests nginx
     * compares with it. Reports restrictions without an equivalent, unless all these locations have the same
     * restrictions.
     */
    void planExpression(Location location, ConditionalAnswers answers) {
        Scope scope = server.handler(location.scope());
        String refused = RefusedRequests.of(location.scope(), scope);
        String when = ExpressionOrder.whenMatched(location, locations);
        for (Location each : locations) {
            if (!each.hasRule(locations) || !server.isAnswered(each) || !ExpressionOrder.isCompared(location, each)) {
                continue;
            }
            String matched = when == null ? "" : when + ExpressionOrder.unlessExact(location, each) + exclusion(each);
            for (Directive block : location.scope().own("if")) {
                if (when != null && Conditions.refuses(block)) {
                    answers.plan(block, " && " + matched, each);
                }
            }
            boolean same = RefusedRequests.isSame(scope, server.handler(each.scope()));
            if (!same && refused != null && when != null && !refused.isEmpty()) {
                String condition = refused.equals(RefusedRequests.ALL) ? matched : matched + " && " + refused;
                rules.accept(each, node -> RefusedRequests.write(node, condition, location.source(), scope));
            } else if (!same && !RefusedRequests.NONE.equals(refused)) {
                reportUnrestricted(location, RefusedRequests.directives(scope));
            }
            for (String name : new String[] {"limit_req", "limit_conn"}) {
                List<Directive> limits = scope.all(name);
                List<String> others =
                        each.scope().all(name).stream().map(Directive::text).toList();
                reportUnrestricted(
                        location,
                        limits.stream()
                                .filter(one -> !others.contains(one.text()))
                                .toList());
            }
        }
    }

    /**
     * Plans the restrictions of an expression that ignores case. Its own rules cover only paths
     * in the case of the expression; the rules of other locations restrict the same paths in another case.
     */
    private void restrictOtherCases(Location location) {
        Scope scope = location.scope();
        boolean ignoresCase =
                location.kind() == Kind.PATHS && location.expression().startsWith("(?i)");
        String refused = ignoresCase ? RefusedRequests.of(scope, server.handler(scope)) : RefusedRequests.NONE;
        if (RefusedRequests.NONE.equals(refused) || !location.hasRule(locations)) {
            return;
        }
        String when = ConditionText.path(location.expression());
        if (when == null || refused == null) {
            reportUnrestricted(location.asExpression(), RefusedRequests.directives(scope));
            return;
        }
        String whole = refused.equals(RefusedRequests.ALL) ? when : when + " && " + refused;
        for (Location each : locations) {
            boolean other = each.source() != location.source() && each.hasRule(locations);
            if (other && server.isAnswered(each) && ExpressionOrder.isCompared(location, each)) {
                rules.accept(each, node -> RefusedRequests.write(node, whole, location.source(), scope));
            }
        }
    }

    private void reportUnrestricted(Location location, List<Directive> restricting) {
        String paths = location.isPath() ? "below " + location.path() : "for paths that match " + location.expression();
        for (Directive each : restricting) {
            boolean isOwn = location.source().children().contains(each);
            (isOwn ? each : location.source()).notMapped("the location shares the rules for other paths");
            workspace.warn("requests " + paths + " are not restricted: see "
                    + (isOwn ? each : location.source()).entry().place());
        }
    }
}
