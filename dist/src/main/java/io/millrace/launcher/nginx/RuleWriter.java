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
import io.millrace.launcher.nginx.request.ConditionText;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.request.RequestLimits;
import io.millrace.launcher.nginx.request.RequestRule;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The writer of remap rules for all servers, in the required order. Confined to one thread. */
final class RuleWriter {
    /** A rule to be written; rules with a lower rank are written first. */
    private record Planned(int rank, Consumer<DraftNode> content) {}

    /** Other directives of a location with an expression that have no effect on the rule which it shares. */
    private static final Set<String> CHANGING = Set.of(
            "proxy_set_header",
            "proxy_bind",
            "more_set_headers",
            "more_clear_headers",
            "rewrite",
            "gzip",
            "brotli",
            "zstd");

    private static final String UNREACHED = "no request reaches the server: other servers have its names and ports";

    private final Workspace workspace;
    private final Upstreams upstreams;
    private final Headers headers;
    private final OriginRules origins;
    private final CacheConditions conditions;
    private final String inactive;
    private final RuleSettings settings = new RuleSettings();
    private final List<Planned> planned = new ArrayList<>();
    /** Scopes whose requests are sent to an origin. */
    private final List<Scope> proxied = new ArrayList<>();

    /**
     * Blocks without a cache in nginx that contain a location with a cache. Their rules use the cache only for that
     * location.
     */
    private final Set<Directive> cacheForExpressionOnly = new HashSet<>();

    /** Hosts for which some paths are redirected. */
    private final Set<UrlBase> redirecting = new HashSet<>();

    /** Writers of elements of {@code rules}, by the first URL of the remap rule that maps their requests. */
    private final Map<String, List<Consumer<DraftNode>>> requestRules = new HashMap<>();

    /** First URLs of the remap rules without filters, whose restrictions are elements of {@code rules}. */
    private final Set<String> separated = new HashSet<>();

    private final RequestLimits limits;

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
        limits = new RequestLimits(http);
        origins = new OriginRules(workspace);
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
            base(server, base, locations);
        }
        if (server.bases().isEmpty()) {
            server.scope().own("return").forEach(each -> each.note(UNREACHED));
        }
    }

    /** Plans the rules of a server for one scheme, host and port. */
    private void base(Server server, UrlBase base, List<Location> locations) {
        Scope scope = server.scope();
        Redirect whole = Redirects.whole(server, base);
        if (whole != null) {
            redirect(server, base, "/", whole, scope.block());
            return;
        }
        Directive refusal = AccessPlan.refusal(scope);
        Directive answer = AnswerRule.of(scope);
        if (refusal != null && base.isForAllHosts()) {
            refusal.note("requests without a rule are answered with 404");
            return;
        }
        if (refusal != null && AccessPlan.isDenial(refusal)) {
            deny(base, "/", refusal, "requests are answered with 403");
            return;
        }
        if (answer != null) {
            answer(base, "/", scope, answer);
            return;
        }
        Restrictions restrictions =
                new Restrictions(workspace, server, base, locations, (location, rule) -> addRule(base, location, rule));
        if (server.isLocal()) {
            restrictions.planLocal();
        }
        for (Directive each : scope.own("rewrite", "if")) {
            if (each.name().equals("if")) {
                conditionalAnswer(server, base, scope, each, "", locations);
            } else {
                serverRewrite(server, base, each, locations);
            }
        }
        restrictions.plan((location, host) -> {
            String more = " && path == " + RuleTexts.literal(UrlBase.encoded(location.path()));
            for (Directive each : location.scope().own("if")) {
                conditionalAnswer(server, base, location.scope(), each, more, List.of(host));
            }
        });
        restrictions.separated().forEach(each -> separated.add(base.verb() + base.url(each.path())));
        // Answers by expression precede the rules of other locations.
        List<Location> others = new ArrayList<>(locations);
        others.removeIf(restrictions::isAnswered);
        others.removeIf(each ->
                each.kind() == Kind.EXPRESSION && answerExpression(server, base, each, locations, restrictions));
        Set<String> paths = new HashSet<>();
        for (Location location : others) {
            location(server, base, location, locations, paths, restrictions);
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
                    addRule(base, each, rule::write);
                }
            }
        }
    }

    private void addRule(UrlBase base, Location within, Consumer<DraftNode> rule) {
        requestRules
                .computeIfAbsent(base.verb() + base.url(within.path()), key -> new ArrayList<>())
                .add(rule);
    }

    private void writeRequestRules(UrlBase base, String path, DraftNode node) {
        requestRules.getOrDefault(base.verb() + base.url(path), List.of()).forEach(each -> each.accept(node));
    }

    /**
     * Plans the answer or redirection of an {@code if} directive in a block for some of its locations.
     *
     * @param more condition to append
     */
    private void conditionalAnswer(
            Server server, UrlBase base, Scope scope, Directive block, String more, List<Location> locations) {
        boolean only = !block.isHandled()
                && block.children().size() == 1
                && block.children().get(0).name().equals("return")
                && Conditions.permittedMethods(block) == null;
        String when = only ? ConditionText.of(block) : null;
        boolean replaced = !scope.all("set_real_ip_from").isEmpty()
                && !scope.value("real_ip_header", "X-Real-IP").equals("proxy_protocol");
        if (when == null || (replaced && when.startsWith("client "))) {
            return;
        }
        Consumer<DraftNode> rule = answerOrRedirection(server, base, scope, block, when + more);
        for (Location location : locations) {
            if (rule != null && location.hasRule(locations) && server.isAnswered(location)) {
                addRule(base, location, rule);
            }
        }
    }

    /** Plans the answers and redirections of {@code if} directives in a location. */
    private void conditionalAnswers(
            Server server, UrlBase base, Location location, List<Location> locations, String exclusion) {
        for (Directive each : location.scope().own("if")) {
            String more = ExpressionOrder.unlessMatched(location, locations, each);
            if (more != null) {
                conditionalAnswer(server, base, location.scope(), each, more + exclusion, List.of(location));
            }
        }
    }

    /** Returns the writer of an answer or redirection under a condition. Returns null if there is none. */
    private static @Nullable Consumer<DraftNode> answerOrRedirection(
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

    private void answer(UrlBase base, String path, Scope scope, Directive source) {
        source.markHandled();
        planned.add(new Planned(base.rank(), node -> {
            node.put(base.verb(), base.url(path));
            writeRequestRules(base, path, node);
            AnswerRule.write(node, scope, source);
            headers.translateAnswerFields(scope, base, node);
        }));
    }

    /** Plans a rule that denies paths without a location. For such paths, nginx would serve files. */
    private void denyOtherPaths(UrlBase base, Set<String> paths) {
        // The rule is planned only for a host without redirections, because Millrace would try it before them.
        if (!redirecting.contains(base) && !base.isForAllHosts() && !paths.isEmpty()) {
            planned.add(new Planned(base.rank(), node -> {
                node.put(base.verb(), base.url("/"));
                node.put("to", DraftNode.DENIED_TARGET);
                node.element("filters").put("action", "deny");
                node.remark("No location of the server leads to an origin for these paths; nginx answers 404.");
            }));
        }
    }

    private void redirect(Server server, UrlBase base, String path, Redirect redirect, Directive around) {
        if (base.isForAllUrls()) {
            Set<String> schemes = new HashSet<>();
            server.listens().forEach(each -> schemes.add(each.scheme()));
            for (String scheme : schemes.stream().sorted().toList()) {
                redirect(server, UrlBase.any(scheme, 0), path, redirect, around);
            }
            return;
        }
        String url = Redirects.url(redirect, base, server.firstName(), path);
        if (url == null) {
            redirect.source().notMapped("the target has variables that a redirection cannot have");
            return;
        }
        if (url.equals(base.url(path)) || url.equals(base.url("/") + path.substring(1))) {
            redirect.source().notMapped("the redirection leads to itself");
            return;
        }
        redirecting.add(base);
        int status = redirect.status() == 303 ? 302 : redirect.status();
        if (redirect.status() == 303) {
            redirect.source().notMapped("written with 302 instead of 303");
        }
        if (!redirect.rest() && !redirect.exact()) {
            redirect.source().entry().note("the rest of the path and the query are appended to the target");
        }
        planned.add(new Planned(base.rank(), node -> {
            node.put(Redirects.verb(status, base), base.url(path));
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
            RedirectRule rule = maps ? below(server, base, path, redirect, locations, ownLocation) : null;
            if (rule != null) {
                addRule(base, each, rule::write);
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
        redirect(
                server,
                base,
                path,
                redirect,
                ownLocation == null ? server.scope().block() : ownLocation.source());
    }

    /**
     * Returns the redirection of paths below a mapped location. Returns null if it has no equivalent, or if another
     * location has some of its paths.
     */
    private static @Nullable RedirectRule below(
            Server server,
            UrlBase base,
            String path,
            Redirect redirect,
            List<Location> locations,
            @Nullable Location own) {
        String name = server.firstName();
        Directive source = redirect.source();
        if (source.name().equals("rewrite")) {
            return RedirectRule.ofRewrite(source, base, name);
        }
        boolean exact = own != null && own.kind() == Kind.EXACT;
        boolean shared = !exact
                && locations.stream()
                        .anyMatch(each -> !each.equals(own)
                                && each.isPath()
                                && each.path().length() > path.length()
                                && each.path().startsWith(path));
        return shared ? null : RedirectRule.ofReturn(source, base, name, path, exact);
    }

    private void location(
            Server server,
            UrlBase base,
            Location location,
            List<Location> locations,
            Set<String> paths,
            Restrictions restrictions) {
        if (location.kind() == Kind.EXPRESSION) {
            expression(server, base, location, locations, restrictions);
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
        boolean partly = redirect != null && server.isMapping(location) && redirect.isPartOf(location.path());
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
            internal.markHandled().note("all clients are refused with 403, in nginx with 404");
        }
        Directive answer = AnswerRule.of(location.scope());
        if (refusal != null && AccessPlan.isDenial(refusal)) {
            deny(base, location.path(), refusal, "answered with 403");
        } else if (answer != null) {
            answer(base, location.path(), location.scope(), answer);
        }
        if (answer != null || refusal != null) {
            location.source().markHandled().recordKey("remap");
            noteLongerPaths(location);
            return;
        }
        for (Directive each : location.scope().own("rewrite")) {
            RedirectRule rule = RedirectRule.ofRewrite(each, base, server.firstName());
            if (rule != null) {
                addRule(base, location, rule::write);
            }
        }
        conditionalAnswers(server, base, location, locations, restrictions.exclusion(location));
        proxy(server, base, location, closed, restrictions);
    }

    private static void noteLongerPaths(Location location) {
        if (location.kind() == Kind.EXACT) {
            location.source().entry().note("the rule also matches paths that continue after " + location.path());
        }
    }

    private void deny(UrlBase base, String path, Directive why, String note) {
        why.markHandled().note(note);
        planned.add(new Planned(base.rank(), node -> {
            node.put(base.verb(), base.url(path));
            node.put("to", DraftNode.DENIED_TARGET);
            node.element("filters").put("action", "deny").from(why.entry());
        }));
    }

    private void proxy(Server server, UrlBase base, Location location, boolean denies, Restrictions restrictions) {
        Scope scope = server.handler(location.scope());
        if (scope != location.scope()) {
            for (Directive each : location.scope().own("try_files", "error_page")) {
                each.notMapped("files are not looked for; every request goes to the origin of " + each.lastArg());
            }
            scope.block().markHandled().note("written where try_files or error_page leads to it");
        }
        Target target = Target.of(scope);
        AuthRequest authorization = authorization(server, base, location, denies);
        boolean authenticates = authorization == null && AccessPlan.requiresAuthentication(location.scope());
        if (denies || authenticates || (authorization == null && AccessPlan.requiresAuthentication(scope))) {
            for (Directive each : scope.all("allow", "deny")) {
                each.markHandled();
            }
            planned.add(new Planned(base.rank(), node -> {
                node.put(base.verb(), base.url(location.path()));
                node.put("to", DraftNode.DENIED_TARGET);
                node.element("filters").put("action", "deny");
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
     * Returns the authorisation server of a location. Returns null if there is none, and if the location has
     * restrictions that hold for a part of its paths.
     */
    private @Nullable AuthRequest authorization(Server server, UrlBase base, Location location, boolean denies) {
        boolean simple = !denies
                && location.kind() != Kind.EXACT
                && server.handler(location.scope()) == location.scope()
                && !separated.contains(base.verb() + base.url(location.path()));
        return simple ? AuthRequest.of(server.scope(), location.scope()) : null;
    }

    private void write(Server server, UrlBase base, String path, Scope scope, Target target, DraftNode node) {
        proxied.add(scope);
        node.put(base.verb(), base.url(path));
        String defaultPath = target.path() == null ? path : target.path();
        String stripped = OriginRules.stripped(scope, path);
        String to = target.path() == null && stripped != null ? stripped : defaultPath;
        if (target.path() != null && path.endsWith("/") && !defaultPath.endsWith("/")) {
            target.source().entry().note("a slash is inserted between " + defaultPath + " and the rest of the path");
        }
        Directive host = Headers.host(scope);
        String authority = target.authority();
        boolean upstream = target.socket() == null && upstreams.has(authority);
        boolean pristine = host != null && Headers.isClientHost(host.arg(1));
        boolean literal = host != null && host.arg(1).matches("[A-Za-z0-9.-]+(:\\d+)?");
        String named = literal && host != null
                ? host.arg(1)
                : upstream && authority.contains("_") ? authority.replace('_', '-') : authority;
        if (upstream && authority.contains("_") && !literal && !pristine) {
            target.source().entry().note("the origin's Host field is " + named + ", since '_' is not allowed there");
        }
        node.put("to", target.scheme() + "://" + named + to)
                .from(target.source().markHandled());
        if (target.socket() != null) {
            node.put("unix_socket", target.socket());
        } else if (upstream) {
            node.put("origins", upstreams.group(authority, target.scheme(), scope));
        } else if (literal && !named.equals(authority)) {
            node.put("origins", upstreams.single(target.scheme(), authority, target));
        }
        RuleSettings.Rule rule = settings.add(node);
        if (host != null) {
            OriginRules.host(host, rule, pristine, literal);
        }
        writeRequestRules(base, path, node);
        limits.add(node, scope);
        headers.translateRequestFields(scope, base, node);
        headers.translateResponseFields(scope, base, node, workspace.draft());
        if (target.grpc()) {
            rule.put("origin.http2", "prior_knowledge", target.source().entry());
        }
        if (separated.contains(base.verb() + base.url(path))) {
            AccessPlan.recordRules(scope);
        } else {
            AccessPlan.write(scope, node);
        }
        boolean obeysClients = !conditions.translateBypasses(scope, rule, List.of(base), path);
        if (cacheForExpressionOnly.contains(scope.block())) {
            rule.putDefault("cache.enabled", "true", "responses are stored by cache_rules only");
            rule.putDefault("cache.ignore_client_no_cache", "true", "nginx ignores Cache-Control of requests");
            rule.putDefault("cache.ignore_client_max_age", "true", "nginx ignores Cache-Control of requests");
        } else {
            CachePlan.fill(scope, rule, !obeysClients, inactive);
        }
        if (scope.value("proxy_request_buffering", "on").equals("off")) {
            scope.all("proxy_request_buffering")
                    .forEach(each -> rule.put("origin.request_buffer", "0", each.markHandled()));
        }
        origins.planReverseMap(server, base, path, scope, target, named + to, pristine);
        origins.translateTls(scope, rule, target);
        OriginRules.localAddress(server.scope(), scope, rule);
        CompressionPlan.fill(scope, rule);
    }

    /**
     * Translates a location with an expression for the path. In Millrace, it can select cache settings, but no origin.
     */
    private void expression(
            Server server, UrlBase base, Location location, List<Location> locations, Restrictions restrictions) {
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
                (block, more, wider) -> conditionalAnswer(server, base, location.scope(), block, more, List.of(wider)));
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
        if (wider == null || !target.isSameOrigin(outer)) {
            source.notMapped("rules match paths by their beginning only, so that an expression cannot select an"
                    + " origin" + (wider == null ? "" : "; its requests use the rule for " + wider.path()));
            return;
        }
        target.source().note("the same origin as for " + wider.path());
        for (Directive each : scope.own("add_header", "proxy_hide_header", "expires")) {
            if (!each.arg(0).equalsIgnoreCase("Set-Cookie")
                    && !expressionField(server, base, location, each, locations)) {
                each.notMapped("the location shares the rule for " + wider.path()
                        + "; write an element of rules with when: path =~ and the expression of the location");
            }
        }
        shared(location, wider);
        for (Location each : locations) {
            if (!each.equals(wider)
                    && ExpressionOrder.isCompared(location, each)
                    && each.kind() != Kind.EXACT
                    && server.isMapping(each)
                    && !target.isSameOrigin(Target.of(server.handler(each.scope())))) {
                source.notMapped("requests below " + each.path() + " use the rule for that path and its origin");
            }
        }
        cacheOnly(base, location, scope, server.handler(wider.scope()), wider);
    }

    /** Reports the directives of a location with an expression that its shared rule does not have. */
    private void shared(Location location, Location wider) {
        for (Directive each : location.source().children()) {
            if (CHANGING.contains(each.name()) && !isSame(each, wider)) {
                each.notMapped("the location shares the rule for " + wider.path());
            }
        }
    }

    private static boolean isSame(Directive directive, Location wider) {
        boolean same = wider.scope().all(directive.name()).stream()
                .anyMatch(one -> one.text().equals(directive.text()));
        if (same) {
            directive.note("the same as for " + wider.path());
        }
        return same;
    }

    /**
     * Plans the answer or redirection of a location with an expression, in the rules of all locations whose requests
     * nginx compares with it. Returns false if there is none, or none with an equivalent.
     */
    private boolean answerExpression(
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
            Consumer<DraftNode> rule = answerOrRedirection(server, base, location.scope(), location.source(), whole);
            if (rule != null) {
                addRule(base, each, rule);
                isPlanned = true;
            }
        }
        return isPlanned;
    }

    /**
     * Plans a changed field of a location with an expression, in the rules of all locations whose requests nginx
     * compares with it. Returns false if one of them changes fields too, which the location with the expression does
     * not inherit.
     */
    private boolean expressionField(
            Server server, UrlBase base, Location location, Directive field, List<Location> locations) {
        String when = ExpressionOrder.whenMatched(location, locations);
        List<Location> compared = locations.stream()
                .filter(each ->
                        each.hasRule(locations) && server.isMapping(each) && ExpressionOrder.isCompared(location, each))
                .toList();
        boolean alone = compared.stream()
                .allMatch(each -> each.scope().all(field.name()).isEmpty());
        if (when == null || !alone || compared.isEmpty() || field.name().equals("proxy_hide_header")) {
            return false;
        }
        field.markHandled();
        for (Location each : compared) {
            String whole = when + ExpressionOrder.unlessExact(location, each);
            addRule(base, each, node -> headers.matched(location.scope(), base, node, field, whole));
        }
        return true;
    }

    /** Writes the cache settings of a location with an expression. The rule for {@code wider} maps its requests. */
    private void cacheOnly(UrlBase base, Location location, Scope scope, Scope outer, Location wider) {
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
        boolean fixed = CachePlan.ignored(scope).contains("cache-control");
        boolean off = !CachePlan.isOn(outer);
        scope.own("proxy_cache").forEach(each -> each.markHandled().recordKey("cache_rules"));
        scope.all("proxy_ignore_headers").forEach(each -> each.markHandled().recordKey("cache_rules"));
        if (off) {
            // The cache of the outer rule is enabled, but its requests bypass the cache unless the expression matches.
            conditions.add(bases, wider.path(), null, "action", "never_cache", source.markHandled());
            cacheForExpressionOnly.add(outer.block());
        }
        String key = fixed || off ? "ttl_in_cache" : "revalidate";
        conditions.add(bases, wider.path(), expression, key, time, source.markHandled(), valid.markHandled());
        valid.entry().note("the lifetime holds for all responses, in nginx for those without a lifetime of their own");
    }

    /**
     * Writes all planned rules.
     *
     * @param common blocks whose directives all requests inherit
     */
    void finish(List<Directive> common) {
        planned.sort(Comparator.comparingInt(Planned::rank));
        for (Planned each : planned) {
            each.content().accept(workspace.draft().root().element("remap"));
        }
        // These rules were planned while the rules above were written.
        origins.writeReverseRules();
        headers.writeRules(workspace.draft(), common);
        limits.write(workspace);
        settings.write(workspace.draft());
    }

    /** The scopes whose requests are sent to an origin, once for every rule. */
    List<Scope> proxied() {
        return proxied;
    }
}
