package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.access.AccessPlan;
import io.millrace.launcher.nginx.access.RefusedRequests;
import io.millrace.launcher.nginx.request.ConditionText;
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
 * The planner of answers and restrictions for single paths. A remap rule matches all longer paths too. An exact location
 * and the paths around it therefore share rules, and the elements of {@code rules} separate them. Confined to one
 * thread.
 */
final class ExactLocations {
    private final Server server;
    private final UrlBase base;
    private final List<Location> locations;
    /** Adds an element of {@code rules} to the remap rule of a location. */
    private final BiConsumer<Location, Consumer<DraftNode>> rules;
    /** Exact locations whose answers were added to the rule of another location. */
    private final Set<Location> answered = new HashSet<>();
    /** Locations whose restrictions are elements of {@code rules} instead of filters. */
    private final Set<Location> separated = new HashSet<>();

    ExactLocations(
            Server server, UrlBase base, List<Location> locations, BiConsumer<Location, Consumer<DraftNode>> rules) {
        this.server = server;
        this.base = base;
        this.locations = locations;
        this.rules = rules;
    }

    /**
     * Plans the elements of {@code rules} for all locations.
     *
     * @param conditional plans the conditional answers of an exact location in the rule of another one
     */
    void plan(BiConsumer<Location, Location> conditional) {
        for (Location each : locations) {
            Location host = host(each);
            if (host != null) {
                conditional.accept(each, host);
                answer(each, host);
            }
        }
        for (Location each : locations) {
            boolean alone = each.isPath() && each.hasRule(locations) && host(each) == null && isOpen(each);
            if (alone && each.kind() == Kind.EXACT) {
                closeLonger(each);
            }
            if (alone) {
                restrict(each);
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

    /** Returns what a condition in the rule of a location excludes: the exact locations that share the rule. */
    String exclusion(Location location) {
        StringBuilder text = new StringBuilder();
        for (Location each : locations) {
            if (location.equals(host(each)) && !answered.contains(each)) {
                text.append(" && path != ").append(literal(each));
            }
        }
        return text.toString();
    }

    /**
     * Returns the condition for a refused path. Clients can encode its dots and slashes, which an origin may decode.
     */
    private static String refusedPath(Location exact) {
        boolean encodable = exact.path().lastIndexOf('/') > 0 || exact.path().contains(".");
        String when = encodable ? ConditionText.path("^" + RuleTexts.quoted(exact.path()) + "$") : null;
        return when == null ? "path == " + literal(exact) : when;
    }

    private static String literal(Location exact) {
        return RuleTexts.literal(UrlBase.encoded(exact.path()));
    }

    /** Returns the location whose rule has the requests of an exact location. Returns null if it has a rule itself. */
    private @Nullable Location host(Location exact) {
        if (exact.kind() != Kind.EXACT) {
            return null;
        }
        boolean answers = !isOpen(exact) || AnswerRule.of(exact.scope()) != null;
        if (!answers && !(exact.isPrefixToo(locations) && server.isMapping(exact))) {
            return null;
        }
        for (Location each : locations) {
            if (each.kind() != Kind.EXACT
                    && each.isPath()
                    && exact.path().startsWith(each.path())
                    && each.hasRule(locations)) {
                return isOpen(each) && server.isAnswered(each) ? each : null;
            }
        }
        return null;
    }

    /** Returns true if the rule of a location has the {@code rules} that are planned for it. */
    private boolean isOpen(Location location) {
        Scope scope = location.scope();
        Directive refusal = AccessPlan.refusal(scope);
        Redirects.Redirect redirect = Redirects.of(scope);
        boolean redirects = redirect != null && !(server.isMapping(location) && redirect.isPartOf(location.path()));
        if (redirects || (refusal != null && AccessPlan.isDenial(refusal))) {
            return false;
        }
        return AnswerRule.of(scope) != null
                || !(AccessPlan.onlyDenies(scope) || RefusedRequests.isClosed(server.handler(scope)));
    }

    /** Plans the answer or redirection of an exact location in the rule of another one. */
    private void answer(Location exact, Location host) {
        String when = "path == " + literal(exact);
        Directive returned = AnswerRule.of(exact.scope());
        boolean passes = returned != null && returned.arg(0).startsWith("2");
        RequestRule answer = RequestRule.of(exact.scope(), passes ? when : refusedPath(exact));
        if (answer != null) {
            rules.accept(host, answer::write);
            answered.add(exact);
            return;
        }
        for (Directive each : exact.scope().own("return")) {
            RedirectRule redirection = RedirectRule.ofReturn(each, base, server.firstName(), when);
            if (redirection != null) {
                rules.accept(host, redirection::write);
                exact.source().markHandled().note("its requests use the rule for " + host.path());
                answered.add(exact);
            }
            return;
        }
        if (RefusedRequests.isClosed(server.handler(exact.scope()))) {
            AccessPlan.requiresAuthentication(server.handler(exact.scope()));
            refuse(host, refusedPath(exact), exact);
            answered.add(exact);
        }
    }

    /** Plans the restrictions of a location and of the exact locations that share its rule. */
    private void restrict(Location location) {
        String own = refused(location);
        List<Location> other = new ArrayList<>();
        for (Location each : locations) {
            if (location.equals(host(each)) && !isSame(each, location, own)) {
                other.add(each);
            }
        }
        Location around = location.kind() == Kind.EXACT && server.isMapping(location) ? around(location) : null;
        if (around != null) {
            longer(location, own, around);
        }
        for (Location each : other) {
            String refused = answered.contains(each) ? RefusedRequests.NONE : refused(each);
            String when = refusedPath(each);
            if (refused == null) {
                each.source().notMapped("its clients cannot be compared in rules, so that all are refused");
                refuse(location, when, each);
            } else if (!refused.isEmpty()) {
                refuse(location, and(when, refused), each);
            }
            if (own == null) {
                each.source().notMapped("the filters of the rule for " + location.path() + " hold for it too");
            }
        }
        if (own != null && !own.isEmpty() && !other.isEmpty()) {
            StringBuilder when = new StringBuilder(own);
            other.forEach(each -> when.append(" && path != ").append(literal(each)));
            refuse(location, when.toString(), location);
            separated.add(location);
        }
    }

    private boolean isSame(Location exact, Location host, @Nullable String refused) {
        if (answered.contains(exact)) {
            return RefusedRequests.NONE.equals(refused);
        }
        String own = refused(exact);
        return own != null && refused != null
                ? own.equals(refused)
                : RefusedRequests.isSame(server.handler(exact.scope()), server.handler(host.scope()));
    }

    /** Plans the restrictions of the paths that continue after the path of an exact location with a rule. */
    private void longer(Location exact, @Nullable String own, Location around) {
        String path = literal(exact);
        boolean closed = !isOpen(around) || !server.isMapping(around);
        String refused = closed ? RefusedRequests.ALL : refused(around);
        if (isSame(exact, around, refused) && !closed) {
            return;
        }
        if (refused == null) {
            exact.source().notMapped("clients cannot be compared in rules, so that longer paths are refused");
            refuse(exact, "path != " + path, around);
        } else if (!refused.isEmpty()) {
            refuse(exact, and("path != " + path, refused), around);
        }
        if (own != null && !own.isEmpty()) {
            refuse(exact, and("path == " + path, own), exact);
            separated.add(exact);
        } else if (own != null) {
            separated.add(exact);
        } else {
            exact.source().entry().note("its filters hold for longer paths too");
        }
    }

    /** Plans the refusal of longer paths that no location has, or one whose rule cannot have them. */
    private void closeLonger(Location exact) {
        boolean around = around(exact) != null;
        if (around && server.isMapping(exact)) {
            return;
        }
        rules.accept(exact, node -> {
            DraftNode rule = node.element("rules");
            rule.from(exact.source().markHandled());
            rule.put("when", "path != " + literal(exact));
            rule.put("answer.status", around ? "403" : "404");
        });
    }

    /** Returns the location that has the longer paths of an exact one in nginx. Returns null if there is none. */
    private @Nullable Location around(Location exact) {
        return locations.stream()
                .filter(each -> each.kind() != Kind.EXACT
                        && each.isPath()
                        && exact.path().startsWith(each.path()))
                .findFirst()
                .orElse(null);
    }

    private @Nullable String refused(Location location) {
        return server.isMapping(location) ? RefusedRequests.of(server.handler(location.scope())) : RefusedRequests.NONE;
    }

    private static String and(String condition, String refused) {
        return refused.equals(RefusedRequests.ALL) ? condition : condition + " && " + refused;
    }

    private void refuse(Location host, String when, Location source) {
        Scope scope = server.handler(source.scope());
        rules.accept(host, node -> RefusedRequests.write(node, when, source.source(), scope));
    }
}
