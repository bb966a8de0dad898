package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.Location.Kind;
import io.millrace.launcher.nginx.Redirects.Redirect;
import io.millrace.launcher.nginx.access.AccessPlan;
import io.millrace.launcher.nginx.access.AuthRequest;
import io.millrace.launcher.nginx.cache.CacheConditions;
import io.millrace.launcher.nginx.cache.CachePlan;
import io.millrace.launcher.nginx.cache.CompressionPlan;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.RequestLimits;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The writer of remap rules for all servers, in the required order. Confined to one thread. */
final class RuleWriter {
    /** A rule to be written; rules with a lower rank are written first. */
    private record Planned(int rank, Consumer<DraftNode> content) {}

    private static final String UNREACHED = "no request reaches the server: other servers have its names and ports";

    private final Workspace workspace;
    private final Upstreams upstreams;
    private final Headers headers;
    private final OriginRules origins;
    private final CacheConditions conditions;
    private final String inactive;
    private final RequestRules requestRules = new RequestRules();
    private final ExpressionLocations expressions;
    private final RuleSettings settings = new RuleSettings();
    private final List<Planned> planned = new ArrayList<>();
    /** Scopes whose requests are sent to an origin. */
    private final List<Scope> proxied = new ArrayList<>();

    /** Hosts for which some paths are redirected. */
    private final Set<UrlBase> redirecting = new HashSet<>();

    /** Keys and URL patterns of the remap rules whose restrictions are elements of {@code rules}, not filters. */
    private final Set<String> separated = new HashSet<>();

    private final RequestLimits limits;
    private final SplitWriter splits;
    private final MirrorWriter mirrors;

    /**
     * Creates a writer.
     *
     * @param inactive time after which nginx removes a response without requests
     */
    RuleWriter(Workspace workspace, Scope http, Upstreams upstreams, Headers headers, String inactive) {
        this.workspace = workspace;
        this.upstreams = upstreams;
        this.headers = headers;
        this.inactive = inactive;
        conditions = new CacheConditions(workspace, http);
        expressions = new ExpressionLocations(workspace, headers, conditions, requestRules);
        limits = new RequestLimits(http);
        origins = new OriginRules(workspace);
        splits = new SplitWriter(upstreams);
        mirrors = new MirrorWriter(origins);
    }

    /** Plans the rules of a server; {@link #finish} writes them. */
    void add(Server server) {
        for (Directive each : server.scope().own("server_name")) {
            if (!server.names().isEmpty() && !server.bases().isEmpty()) {
                each.markHandled().recordKey("remap");
            } else if (server.bases().isEmpty() && !server.names().isEmpty()) {
                each.note(UNREACHED);
            } else {
                each.note("the name matches no host; the server is the default for its addresses");
            }
        }
        List<Location> locations = Location.ordered(server.scope());
        for (UrlBase base : server.bases()) {
            planBase(server, base, locations);
        }
        if (server.bases().isEmpty()) {
            server.scope().own("return").forEach(each -> each.note(UNREACHED));
        }
    }

    /** Plans the rules of a server for one scheme, host and port. */
    private void planBase(Server server, UrlBase base, List<Location> locations) {
        Scope scope = server.scope();
        Redirect whole = Redirects.whole(server, base);
        if (whole != null) {
            planRedirect(server, base, "/", whole, scope.block());
            return;
        }
        Directive refusal = AccessPlan.refusal(scope);
        Directive answer = AnswerRule.of(scope);
        if (refusal != null && base.isForAllHosts()) {
            refusal.note("requests without a rule are answered with 404");
            return;
        }
        if (refusal != null && AccessPlan.isDenial(refusal)) {
            planDenial(base, "/", refusal, "requests are answered with 403");
            return;
        }
        if (answer != null) {
            planAnswer(base, "/", scope, answer);
            return;
        }
        Restrictions restrictions = new Restrictions(
                workspace, server, base, locations, (location, rule) -> requestRules.add(base, location, rule));
        if (server.isLocal()) {
            restrictions.refuseRemoteClients();
        }
        for (Directive each : scope.own("rewrite", "if")) {
            if (each.name().equals("if")) {
                requestRules.planConditionalAnswer(server, base, scope, each, "", locations);
            } else {
                serverRewrite(server, base, each, locations);
            }
        }
        restrictions.plan((location, ruleLocation) -> {
            String more = " && path == " + RuleTexts.literal(UrlBase.encoded(location.path()));
            for (Directive each : location.scope().own("if")) {
                requestRules.planConditionalAnswer(server, base, location.scope(), each, more, List.of(ruleLocation));
            }
        });
        restrictions.separated().forEach(each -> separated.add(base.verb() + base.pattern(each.path())));
        // The answers of expression locations must precede the rules of other locations.
        List<Location> others = new ArrayList<>(locations);
        others.removeIf(restrictions::isAnswered);
        others.removeIf(each ->
                each.kind() == Kind.EXPRESSION && expressions.addAnswer(server, base, each, locations, restrictions));
        Set<String> paths = new HashSet<>();
        for (Location location : others) {
            planLocation(server, base, location, locations, paths, restrictions);
        }
        if (locations.stream().noneMatch(each -> each.path().equals("/"))) {
            denyOtherPaths(base, paths);
        }
    }

    /** Plans the redirections of a {@code rewrite} directive outside of locations. */
    private void serverRewrite(Server server, UrlBase base, Directive rewrite, List<Location> locations) {
        Redirect found = Redirects.of(rewrite);
        if (found != null && found.prefix() != null && !found.prefix().equals("/")) {
            redirectUnlessMapped(server, base, found.prefix(), found, locations, null);
            return;
        }
        RedirectRule rule = found == null ? RedirectRule.ofRewrite(rewrite, base, server.firstName()) : null;
        if (rule != null) {
            for (Location each : locations) {
                if (each.hasRule(locations) && server.isMapping(each)) {
                    requestRules.add(base, each, rule::write);
                }
            }
        }
    }

    private void planAnswer(UrlBase base, String path, Scope scope, Directive source) {
        source.markHandled();
        planned.add(new Planned(base.rank(), node -> {
            node.put(base.verb(), base.pattern(path));
            requestRules.write(base, path, node);
            AnswerRule.write(node, scope, source);
            headers.translateAnswerFields(scope, base, node);
        }));
    }

    /** Plans a rule that denies paths without a location. For such paths, nginx would serve files. */
    private void denyOtherPaths(UrlBase base, Set<String> paths) {
        // The rule is planned only for a host without redirections, because Millrace tries map rules before
        // redirections.
        if (!redirecting.contains(base) && !base.isForAllHosts() && !paths.isEmpty()) {
            planned.add(new Planned(base.rank(), node -> {
                node.put(base.verb(), base.pattern("/"));
                node.put("to", DraftNode.DENIED_TARGET);
                node.addElement("filters").put("action", "deny");
                node.remark("No location of the server leads to an origin for these paths; nginx answers 404.");
            }));
        }
    }

    private void planRedirect(Server server, UrlBase base, String path, Redirect redirect, Directive around) {
        if (base.isForAllUrls()) {
            Set<String> schemes = new HashSet<>();
            server.listens().forEach(each -> schemes.add(each.scheme()));
            for (String scheme : schemes.stream().sorted().toList()) {
                planRedirect(server, UrlBase.any(scheme, 0), path, redirect, around);
            }
            return;
        }
        String url = Redirects.url(redirect, base, server.firstName(), path);
        if (url == null) {
            redirect.source().notMapped("the target has variables that a redirection cannot have");
            return;
        }
        if (url.equals(base.pattern(path)) || url.equals(base.pattern("/") + path.substring(1))) {
            redirect.source().notMapped("the redirection leads to itself");
            return;
        }
        redirecting.add(base);
        int status = redirect.status() == 303 ? 302 : redirect.status();
        if (redirect.status() == 303) {
            redirect.source().notMapped("the rule redirects with 302 instead of 303");
        }
        if (!redirect.rest() && !redirect.exact()) {
            redirect.source().entry().note("the rest of the path and the query are appended to the target");
        }
        planned.add(new Planned(base.rank(), node -> {
            node.put(Redirects.verb(status, base), base.pattern(path));
            node.put("to", url).from(redirect.source().markHandled());
            if (status == 302 || status == 308) {
                node.put("status", Integer.toString(status));
            }
            if (around.name().equals("location")) {
                node.from(around.markHandled());
            }
        }));
    }

    /**
     * Plans a redirection, unless another rule maps its requests. Millrace tries map rules before redirections.
     */
    private void redirectUnlessMapped(
            Server server,
            UrlBase base,
            String path,
            Redirect redirect,
            List<Location> locations,
            @Nullable Location ownLocation) {
        for (Location each : locations) {
            boolean maps = !each.equals(ownLocation)
                    && each.isPath()
                    && path.startsWith(each.path())
                    && server.isMapping(each);
            RedirectRule rule = maps ? redirectRuleBelow(server, base, path, redirect, locations, ownLocation) : null;
            if (rule != null) {
                requestRules.add(base, each, rule::write);
                if (ownLocation != null) {
                    ownLocation.source().markHandled().note("its requests use the rule for " + each.path());
                }
                return;
            }
            if (maps) {
                redirect.source()
                        .notMapped("the rule for " + each.path() + " precedes redirections below it; redirect at the"
                                + " origin");
                if (ownLocation != null) {
                    ownLocation.source().notMapped("its requests use the rule for " + each.path());
                }
                return;
            }
        }
        planRedirect(
                server,
                base,
                path,
                redirect,
                ownLocation == null ? server.scope().block() : ownLocation.source());
    }

    /**
     * Returns the redirection of paths below a mapped location. Returns null if it has no equivalent, or if another
     * location handles some of its paths.
     */
    private static @Nullable RedirectRule redirectRuleBelow(
            Server server,
            UrlBase base,
            String path,
            Redirect redirect,
            List<Location> locations,
            @Nullable Location ownLocation) {
        String name = server.firstName();
        Directive source = redirect.source();
        if (source.name().equals("rewrite")) {
            return RedirectRule.ofRewrite(source, base, name);
        }
        boolean exact = ownLocation != null && ownLocation.kind() == Kind.EXACT;
        boolean shared = !exact
                && locations.stream()
                        .anyMatch(each -> !each.equals(ownLocation)
                                && each.isPath()
                                && each.path().length() > path.length()
                                && each.path().startsWith(path));
        return shared ? null : RedirectRule.ofReturn(source, base, name, path, exact);
    }

    private void planLocation(
            Server server,
            UrlBase base,
            Location location,
            List<Location> locations,
            Set<String> paths,
            Restrictions restrictions) {
        if (location.kind() == Kind.EXPRESSION) {
            expressions.add(server, base, location, locations, restrictions);
            return;
        }
        if (location.isPrefixToo(locations)) {
            location.source()
                    .notMapped("rules match all paths that begin with " + location.path()
                            + "; requests use the rule for this prefix");
            return;
        }
        if (!paths.add(location.path())) {
            location.source().markHandled().note("an earlier location has the same paths");
            return;
        }
        Redirect redirect = Redirects.of(location.scope());
        boolean partly = redirect != null && server.isMapping(location) && redirect.coversOnlyPartOf(location.path());
        if (redirect != null && !partly) {
            String prefix = redirect.prefix() == null || location.path().startsWith(redirect.prefix())
                    ? location.path()
                    : redirect.prefix();
            redirectUnlessMapped(server, base, prefix, redirect, locations, location);
            noteLongerPaths(location);
            return;
        }
        Directive refusal = AccessPlan.refusal(location.scope());
        Directive internal = AccessPlan.internal(location.scope());
        boolean closed = AccessPlan.onlyDenies(location.scope()) || internal != null;
        if (internal != null) {
            internal.markHandled().note("all clients are refused with 403; nginx answers 404");
        }
        Directive answer = AnswerRule.of(location.scope());
        if (refusal != null && AccessPlan.isDenial(refusal)) {
            planDenial(base, location.path(), refusal, "requests are answered with 403");
        } else if (answer != null) {
            planAnswer(base, location.path(), location.scope(), answer);
        }
        if (answer != null || refusal != null) {
            location.source().markHandled().recordKey("remap");
            noteLongerPaths(location);
            return;
        }
        for (Directive each : location.scope().own("rewrite")) {
            RedirectRule rule = RedirectRule.ofRewrite(each, base, server.firstName());
            if (rule != null) {
                requestRules.add(base, location, rule::write);
            }
        }
        requestRules.planConditionalAnswers(server, base, location, locations, restrictions.exclusion(location));
        planProxy(server, base, location, closed, restrictions);
    }

    private static void noteLongerPaths(Location location) {
        if (location.kind() == Kind.EXACT) {
            location.source().entry().note("the rule also matches paths that continue after " + location.path());
        }
    }

    private void planDenial(UrlBase base, String path, Directive why, String note) {
        why.markHandled().note(note);
        planned.add(new Planned(base.rank(), node -> {
            node.put(base.verb(), base.pattern(path));
            node.put("to", DraftNode.DENIED_TARGET);
            node.addElement("filters").put("action", "deny").from(why.entry());
        }));
    }

    private void planProxy(Server server, UrlBase base, Location location, boolean denies, Restrictions restrictions) {
        Scope scope = server.handler(location.scope());
        if (scope != location.scope()) {
            for (Directive each : location.scope().own("try_files", "error_page")) {
                each.notMapped("files are not looked for; every request goes to the origin of " + each.lastArg());
            }
            scope.block().markHandled().note("the location is written where try_files or error_page leads to it");
        }
        Target target = denies ? null : Target.of(scope);
        AuthRequest authorization = authorization(server, base, location, denies);
        boolean authenticates = authorization == null && AccessPlan.requiresAuthentication(location.scope());
        if (denies || authenticates || (authorization == null && AccessPlan.requiresAuthentication(scope))) {
            for (Directive each : scope.all("allow", "deny")) {
                each.markHandled();
            }
            planned.add(new Planned(base.rank(), node -> {
                node.put(base.verb(), base.pattern(location.path()));
                node.put("to", DraftNode.DENIED_TARGET);
                node.addElement("filters").put("action", "deny");
                node.from(location.source().markHandled());
                scope.all("allow", "deny").forEach(each -> node.from(each.entry()));
            }));
            return;
        }
        if (scope != location.scope() && target != null) {
            restrictions.planNamed(location);
        }
        if (target == null) {
            location.source()
                    .notMapped("the location leads to no origin that Millrace can reach; its requests use a rule for a"
                            + " shorter path, if there is one");
            return;
        }
        noteLongerPaths(location);
        String prefix = UrlBase.encoded(location.path());
        planned.add(new Planned(base.rank(), node -> {
            write(server, base, prefix, scope, target, node);
            if (authorization != null) {
                authorization.write(scope, node);
            }
            node.from(location.source().markHandled());
        }));
    }

    /**
     * Returns the authorisation server of a location. Returns null if there is none, or if the location has
     * restrictions that apply to only a part of its paths.
     */
    private @Nullable AuthRequest authorization(Server server, UrlBase base, Location location, boolean denies) {
        boolean simple = !denies
                && location.kind() != Kind.EXACT
                && server.handler(location.scope()) == location.scope()
                && !separated.contains(base.verb() + base.pattern(location.path()));
        return simple ? AuthRequest.of(server.scope(), location.scope()) : null;
    }

    private void write(Server server, UrlBase base, String path, Scope scope, Target target, DraftNode node) {
        proxied.add(scope);
        node.put(base.verb(), base.pattern(path));
        String defaultPath = target.path() == null ? path : target.appends() ? target.path() + path : target.path();
        String stripped = OriginRules.stripped(scope, path);
        String to = target.path() == null && stripped != null ? stripped : defaultPath;
        if (target.path() != null && path.endsWith("/") && !defaultPath.endsWith("/")) {
            target.source().entry().note("a slash is inserted between " + defaultPath + " and the rest of the path");
        }
        Directive host = Headers.host(scope);
        String authority = target.authority();
        boolean upstream = target.socket() == null && upstreams.has(authority);
        boolean pristine = host != null && Headers.isClientHost(host.arg(1));
        boolean literal = host != null && Headers.isFixed(host.arg(1));
        String targetHost = literal && host != null
                ? host.arg(1)
                : upstream && authority.contains("_") ? authority.replace('_', '-') : authority;
        if (upstream && authority.contains("_") && !literal && !pristine) {
            target.source()
                    .entry()
                    .note("the origin's Host field is " + targetHost + ", since '_' is not allowed there");
        }
        node.put("to", target.scheme() + "://" + targetHost + to)
                .from(target.source().markHandled());
        if (target.socket() != null) {
            node.put("unix_socket", target.socket());
        } else if (upstream) {
            node.put("origins", upstreams.group(authority, target.scheme(), scope));
        } else if (literal && !targetHost.equals(authority)) {
            node.put("origins", upstreams.single(target.scheme(), authority, target));
        }
        splits.write(scope, target, node);
        RuleSettings.Rule rule = settings.add(node);
        if (host != null) {
            OriginRules.host(host, rule, pristine, literal);
        }
        mirrors.write(server, scope, target, to.equals(path), rule);
        requestRules.write(base, path, node);
        limits.add(node, scope);
        headers.translateRequestFields(scope, base, node);
        headers.translateResponseFields(scope, base, node, workspace.draft());
        if (target.grpc()) {
            rule.put("origin.http2", "prior_knowledge", target.source().entry());
        }
        if (separated.contains(base.verb() + base.pattern(path))) {
            AccessPlan.recordRules(scope);
        } else {
            AccessPlan.write(scope, node);
        }
        boolean obeysClients = !conditions.translateBypasses(scope, rule, List.of(base), path);
        if (expressions.cachesOnlyMatched(scope)) {
            expressions.cacheMatched(scope, rule);
        } else {
            CachePlan.fill(scope, rule, !obeysClients, inactive);
        }
        expressions.writeLifetimes(base, path, node);
        if (scope.value("proxy_request_buffering", "on").equals("off")) {
            scope.all("proxy_request_buffering")
                    .forEach(each -> rule.put("origin.request_buffer", "0", each.markHandled()));
        }
        // With variables in proxy_pass, nginx changes Location only if proxy_redirect is set.
        if (!target.source().arg(0).contains("$") || scope.last("proxy_redirect") != null) {
            origins.planReverseMap(server, base, path, scope, target, targetHost + to, pristine);
        }
        origins.translateTls(scope, rule, target, "origin.tls.");
        OriginRules.localAddress(server.scope(), scope, rule);
        CompressionPlan.fill(scope, rule);
    }

    /**
     * Writes all planned rules.
     *
     * @param common blocks whose directives all requests inherit
     */
    void finish(List<Directive> common) {
        planned.sort(Comparator.comparingInt(Planned::rank));
        for (Planned each : planned) {
            each.content().accept(workspace.draft().root().addElement("remap"));
        }
        // These rules were planned while the rules above were written.
        origins.writeReverseRules();
        headers.writeRules(workspace.draft(), common);
        limits.write(workspace);
        settings.write(workspace.draft());
    }

    /** The scopes whose requests are sent to an origin. A scope occurs once for each of its rules. */
    List<Scope> proxied() {
        return proxied;
    }
}
