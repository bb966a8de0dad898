package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.access.AccessPlan;
import io.millrace.launcher.nginx.cache.CacheConditions;
import io.millrace.launcher.nginx.cache.CachePlan;
import io.millrace.launcher.nginx.cache.MatchedLifetimes;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The translator of locations with a regular expression for the path. Remap rules match only prefixes of paths. Such a
 * location therefore becomes elements of {@code rules} and {@code cache_rules}. Confined to one thread.
 */
final class ExpressionLocations {
    /**
     * Directives of a location with an expression that are not imported, because the location shares the rule of
     * another location.
     */
    private static final Set<String> NOT_IMPORTED = Set.of(
            "proxy_set_header",
            "proxy_bind",
            "more_set_headers",
            "more_clear_headers",
            "rewrite",
            "gzip",
            "brotli",
            "zstd",
            "mirror",
            "mirror_request_body");

    private final Workspace workspace;
    private final Headers headers;
    private final CacheConditions conditions;
    private final RequestRules rules;
    /** Elements with lifetimes. They are written after the elements of the rule's own location, and override them. */
    private final RequestRules lifetimes = new RequestRules();
    /**
     * Conditions for cached requests, by the block of a location without a cache. A cached location with an expression
     * shares the remap rule of this block. All other requests of the rule bypass the cache.
     */
    private final Map<Directive, Set<String>> cachedRequests = new HashMap<>();

    ExpressionLocations(Workspace workspace, Headers headers, CacheConditions conditions, RequestRules rules) {
        this.workspace = workspace;
        this.headers = headers;
        this.conditions = conditions;
        this.rules = rules;
    }

    /** Returns true if the rule of a scope uses the cache only for a location with an expression. */
    boolean cachesOnlyMatched(Scope scope) {
        return cachedRequests.containsKey(scope.block());
    }

    /** Enables the cache in the rule of a scope for the requests of locations with an expression only. */
    void cacheMatched(Scope scope, RuleSettings.Rule rule) {
        rule.putDefault("cache.enabled", "true", "a location with an expression is cached");
        rule.putDefault(
                "cache.required_headers", "lifetime", "nginx stores no response without a lifetime; rules set one");
        rule.putDefault("cache.ignore_client_no_cache", "true", "nginx ignores Cache-Control of requests");
        rule.putDefault("cache.ignore_client_max_age", "true", "nginx ignores Cache-Control of requests");
        rule.putDefault("cache.leak_guard", "warn", CachePlan.LEAK_GUARD);
        Set<String> cached = cachedRequests.getOrDefault(scope.block(), Set.of());
        rule.bypass("!(" + String.join(") && !(", cached) + ")", scope.block().entry());
    }

    /** Writes the lifetimes of locations with an expression that share the remap rule of a location. */
    void writeLifetimes(UrlBase base, String path, DraftNode node) {
        lifetimes.write(base, path, node);
    }

    /**
     * Translates a location with an expression for the path. In Millrace, it can select cache settings, but no origin.
     */
    void add(Server server, UrlBase base, Location location, List<Location> locations, Restrictions restrictions) {
        Scope scope = server.handler(location.scope());
        Directive source = location.source();
        if (AccessPlan.onlyDenies(scope) || AccessPlan.refusal(scope) != null || AccessPlan.internal(scope) != null) {
            source.notMapped("rules match paths by their beginning only: requests whose path matches the expression are"
                    + " not refused");
            scope.own("deny", "return").forEach(each -> each.notMapped("see the location"));
            workspace.warn("requests for paths that match " + location.expression() + " are not refused: see "
                    + source.entry().place());
            return;
        }
        restrictions.planExpression(
                location,
                (block, more, wider) ->
                        rules.planConditionalAnswer(server, base, location.scope(), block, more, List.of(wider)));
        Target target = scope.own("proxy_pass").isEmpty() ? null : Target.of(scope);
        Location wider = null;
        for (Location each : locations) {
            if (each.isPath() && each.kind() != Kind.EXACT && location.within().startsWith(each.path())) {
                wider = wider == null ? each : wider;
            }
        }
        if (target == null) {
            source.notMapped("the location leads to no origin that Millrace can reach"
                    + (wider == null ? "" : "; its requests use the rule for " + wider.path()));
            return;
        }
        Target outer = wider == null ? null : Target.of(server.handler(wider.scope()));
        if (wider == null || !target.isSameChoice(outer)) {
            source.notMapped("rules match paths by their beginning only, so that an expression cannot select an"
                    + " origin" + (wider == null ? "" : "; its requests use the rule for " + wider.path()));
            return;
        }
        target.source().note("the origin is the same as for " + wider.path());
        for (Directive each : scope.own("add_header", "proxy_hide_header", "expires")) {
            if (!each.arg(0).equalsIgnoreCase("Set-Cookie")
                    && !addFieldChange(server, base, location, each, locations)) {
                each.notMapped("the location shares the rule for " + wider.path()
                        + "; write an element of rules with when: path =~ and the expression of the location");
            }
        }
        reportNotImported(location, wider);
        for (Location each : locations) {
            if (!each.equals(wider)
                    && ExpressionOrder.isCompared(location, each)
                    && each.kind() != Kind.EXACT
                    && server.isMapping(each)
                    && !target.isSameChoice(Target.of(server.handler(each.scope())))) {
                source.notMapped("requests below " + each.path() + " use the rule for that path and its origin");
            }
        }
        writeCacheSettings(server, base, location, locations, wider);
    }

    /** Reports the directives of a location with an expression that its shared rule does not have. */
    private void reportNotImported(Location location, Location wider) {
        for (Directive each : location.source().children()) {
            if (NOT_IMPORTED.contains(each.name()) && !noteIfSame(each, wider)) {
                each.notMapped("the location shares the rule for " + wider.path());
            }
        }
    }

    /** Returns true and adds a note to the directive if the wider location contains the same directive. */
    private static boolean noteIfSame(Directive directive, Location wider) {
        boolean same = wider.scope().all(directive.name()).stream()
                .anyMatch(one -> one.text().equals(directive.text()));
        if (same) {
            directive.note("the directive is the same as for " + wider.path());
        }
        return same;
    }

    /**
     * Plans the answer or redirection of a location with an expression, in the rules of all locations whose requests
     * nginx compares with it. Returns false if the location has no answer or redirection, or if Millrace has no
     * equivalent.
     */
    boolean addAnswer(
            Server server, UrlBase base, Location location, List<Location> locations, Restrictions restrictions) {
        String when = ExpressionOrder.whenMatched(location, locations);
        boolean isPlanned = false;
        for (Location each : locations) {
            if (when == null
                    || !each.hasRule(locations)
                    || !server.isAnswered(each)
                    || !ExpressionOrder.isCompared(location, each)) {
                continue;
            }
            String whole = when + ExpressionOrder.unlessExact(location, each) + restrictions.exclusion(each);
            Consumer<DraftNode> rule =
                    RequestRules.answerOrRedirection(server, base, location.scope(), location.source(), whole);
            if (rule != null) {
                rules.add(base, each, rule);
                isPlanned = true;
            }
        }
        return isPlanned;
    }

    /**
     * Plans a changed field of a location with an expression, in the rules of all locations whose requests nginx
     * compares with it. Returns false if the expression has no equivalent, or the directive is proxy_hide_header. Also
     * returns false if one of these locations has the same directive: nginx applies only the directives of the location
     * with the expression, but the shared rule would apply both.
     */
    private boolean addFieldChange(
            Server server, UrlBase base, Location location, Directive field, List<Location> locations) {
        String when = ExpressionOrder.whenMatched(location, locations);
        List<Location> compared = compared(server, location, locations);
        boolean noneHasField = compared.stream()
                .allMatch(each -> each.scope().all(field.name()).isEmpty());
        if (when == null || !noneHasField || compared.isEmpty() || field.name().equals("proxy_hide_header")) {
            return false;
        }
        field.markHandled();
        for (Location each : compared) {
            String whole = when + ExpressionOrder.unlessExact(location, each);
            rules.add(base, each, node -> headers.translateForExpression(location.scope(), base, node, field, whole));
        }
        return true;
    }

    /** Returns the locations that have a rule to an origin, if nginx compares their requests with the expression. */
    private static List<Location> compared(Server server, Location location, List<Location> locations) {
        return locations.stream()
                .filter(each ->
                        each.hasRule(locations) && server.isMapping(each) && ExpressionOrder.isCompared(location, each))
                .toList();
    }

    /** Writes the cache settings of a location with an expression. The rule for {@code wider} maps its requests. */
    private void writeCacheSettings(
            Server server, UrlBase base, Location location, List<Location> locations, Location wider) {
        Scope scope = server.handler(location.scope());
        Scope outer = server.handler(wider.scope());
        Directive source = location.source();
        String expression = ConditionText.urlOfPath(location.expression());
        if (expression == null) {
            source.notMapped("RE2 does not have a part of the expression; write cache_rules with url_regex");
            return;
        }
        List<UrlBase> bases = List.of(base);
        if (!CachePlan.isOn(scope)) {
            if (CachePlan.isOn(outer)) {
                conditions.add(bases, wider.path(), expression, "action", "never_cache", source.markHandled());
            }
            scope.all("proxy_cache").forEach(each -> each.markHandled().matchesDefaultOf("cache.enabled"));
            source.markHandled().matchesDefaultOf("remap");
            return;
        }
        Directive valid = CachePlan.lifetime(scope);
        String time = valid == null ? null : Values.time(valid.lastArg());
        if (valid == null || time == null) {
            if (CachePlan.isOn(outer)) {
                source.markHandled().matchesDefaultOf("cache.enabled");
            } else {
                source.notMapped("a rule for expressions that stores responses needs a time of proxy_cache_valid");
            }
            return;
        }
        if (!CachePlan.isOn(outer) || CachePlan.ignored(scope).contains("cache-control")) {
            planLifetimes(server, base, location, locations, wider);
            return;
        }
        scope.own("proxy_cache").forEach(each -> each.markHandled().recordKey("cache_rules"));
        scope.all("proxy_ignore_headers").forEach(each -> each.markHandled().recordKey("cache_rules"));
        conditions.add(bases, wider.path(), expression, "revalidate", time, source.markHandled(), valid.markHandled());
        valid.entry()
                .note("the lifetime holds for all responses; in nginx it holds only for those without a lifetime of"
                        + " their own");
    }

    /** Plans the lifetimes of a location with an expression for all rules that use the cache for its requests. */
    private void planLifetimes(
            Server server, UrlBase base, Location location, List<Location> locations, Location wider) {
        Directive source = location.source();
        Scope scope = server.handler(location.scope());
        String when = ExpressionOrder.whenMatched(location, locations);
        if (when == null) {
            source.notMapped("an expression that nginx compares before has no equivalent");
            return;
        }
        scope.own("proxy_cache").forEach(each -> each.markHandled().recordKey("rules"));
        Scope outer = server.handler(wider.scope());
        if (!CachePlan.isOn(outer)) {
            cachedRequests
                    .computeIfAbsent(outer.block(), key -> new LinkedHashSet<>())
                    .add(when);
        }
        List<Entry> sources = new ArrayList<>(List.of(source.markHandled()));
        scope.all("proxy_ignore_headers").forEach(each -> sources.add(each.markHandled()));
        List<Location> compared = compared(server, location, locations);
        for (Location each : locations) {
            if (each.equals(wider) || (compared.contains(each) && CachePlan.isOn(server.handler(each.scope())))) {
                String whole = when + ExpressionOrder.unlessExact(location, each);
                lifetimes.add(base, each, node -> MatchedLifetimes.write(scope, node, whole, sources));
            }
        }
        MatchedLifetimes.markLines(scope);
        source.note("statuses without proxy_cache_valid keep the lifetime of their fields");
    }
}
