package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import io.millrace.launcher.varnish.syntax.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The translator of {@code vcl_recv}. Confined to one thread. */
final class VclRecv extends Walker {
    /**
     * A remap rule that selects a backend.
     *
     * @param verb key of the URL pattern, such as {@code map} or {@code regex_map}
     * @param map the URL pattern of the rule, or only its path
     * @param chain number of the innermost {@code if} around the statement; its {@code elsif} and {@code else} have the
     *     same number. {@link Integer#MAX_VALUE} for a refusal, whose rule is written first
     */
    record Route(String verb, String map, String backend, Entry source, int chain) {}

    /** Placeholder in place of a backend's name, for refused requests. */
    static final String DENIED = "\u0000denied";

    private static final String UNKNOWN = "'%s': conditions can be about URL, host, method, cookies and client address";

    private final VclImportState state;
    private final Backends backends;
    private final SynthRules synthRules;
    private final List<Route> routes = new ArrayList<>();
    /** True if vcl_recv removes the cookies of some requests. */
    private boolean dropsCookies;

    /** Patterns of the query parameters that vcl_recv removes from URLs. */
    private final List<String> excluded = new ArrayList<>();

    private @Nullable String defaultBackend;
    private @Nullable Entry defaultBackendSource;
    private boolean upgrades;
    private @Nullable Entry upgradeSource;

    VclRecv(VclImportState state, Backends backends) {
        super(state.vcl());
        this.state = state;
        this.backends = backends;
        synthRules = new SynthRules(state);
        defaultBackend = backends.defaultBackend();
    }

    /**
     * Rules for single hosts and paths. Later lines of the file are first, because in VCL the last assignment counts.
     */
    List<Route> routes() {
        List<Route> sorted = new ArrayList<>(routes);
        // Rules with a host precede rules without one, so a refusal for all hosts is repeated for each host.
        for (Route denied : routes) {
            for (Route each : routes) {
                // The first slash after "http://" or "https://". It is used only if the pattern has a scheme.
                int end = each.map().indexOf('/', 8);
                if (denied.backend().equals(DENIED)
                        && denied.map().startsWith("/")
                        && each.map().startsWith("http")) {
                    String map = each.map().substring(0, end) + denied.map();
                    sorted.add(new Route(each.verb(), map, DENIED, denied.source(), Integer.MAX_VALUE));
                }
            }
        }
        sorted.sort(Comparator.comparingInt(Route::chain).reversed());
        return sorted;
    }

    /** The backend of all requests that no route matches; null for none. */
    @Nullable
    String defaultBackend() {
        return defaultBackend;
    }

    @Nullable
    Entry defaultBackendSource() {
        return defaultBackendSource;
    }

    /** Returns true if vcl_recv pipes requests that switch the protocol of their connection. */
    boolean upgrades() {
        return upgrades;
    }

    @Nullable
    Entry upgradeSource() {
        return upgradeSource;
    }

    @Override
    void statement(Statement each, List<Condition> around) {
        String target = each.target().toLowerCase(Locale.ROOT);
        switch (each.kind()) {
            case "return" -> translateAction(each, around);
            case "set" -> translateSet(each, target, around);
            case "unset" -> translateUnset(each, target, around);
            case "ban", "std.ban" ->
                each.note("use millctl purge --where, or BAN requests from clients in purge.allow");
            case "std.log", "std.syslog", "std.timestamp" -> each.note("the access log has the result of each request");
            case "std.collect" -> each.note("lines of a field are compared as one list");
            case "std.cache_req_body" -> each.note("origin.request_buffer buffers contents of requests");
            case "error" -> each.notMapped("VCL 4 has synth instead");
            case "C" -> each.notMapped("Millrace runs no code in C");
            default -> each.notMapped("the function has no equivalent");
        }
        state.fields().recordChange(each);
    }

    private void translateAction(Statement each, List<Condition> around) {
        if (each.target().equals("hash") || each.target().equals("lookup")) {
            if (around.isEmpty()) {
                state.useCacheWithCookies();
                each.note("the built-in VCL, which passes requests with Cookie, is not reached");
            } else {
                each.note("requests use the cache by default");
            }
            return;
        }
        List<Match> matches = Match.all(around);
        if (matches.isEmpty()) {
            each.notMapped("the condition has too many alternatives");
            return;
        }
        for (Match match : matches) {
            switch (each.target()) {
                case "pass" -> translatePass(each, match);
                case "pipe" -> translatePipe(each, match);
                case "purge" -> translatePurge(each, match);
                case "synth" -> translateSynth(each, match);
                default -> each.notMapped("the action '" + each.target() + "' has no equivalent");
            }
        }
    }

    private void translatePass(Statement each, Match match) {
        if (match.isUnsafe() && match.unknown().isEmpty()) {
            each.note("requests other than GET and HEAD do not use the cache");
        } else if (match.isCookie() && match.urls().isEmpty()) {
            boolean named =
                    match.cookies().stream().allMatch(test -> test.operator().equals("~"));
            if (!named || !synthRules.bypass(each, pathConditions())) {
                state.passCookies(each.markHandled());
            }
        } else if (match.isAuthorization()) {
            each.note("responses to requests with Authorization are stored only if they permit it");
        } else if (match.isUpgrade()) {
            each.note("connections that switch their protocol do not use the cache");
        } else if (match.isUrl() && state.rule(match, "action", "never_cache", each.markHandled())) {
            each.markHandled();
        } else if (match.urls().isEmpty()
                && match.hosts().isEmpty()
                && match.unknown().isEmpty()
                && match.clients().isEmpty()) {
            state.set("cache.enabled", "false", each.markHandled());
        } else if (!synthRules.bypass(each, pathConditions())) {
            each.notMapped(String.format(UNKNOWN, match.unknown().isEmpty() ? "the condition" : match.unknown()));
        }
    }

    private void translatePipe(Statement each, Match match) {
        if (match.isUpgrade()) {
            upgrades = true;
            upgradeSource = each.markHandled();
        } else if (match.isMethod()) {
            each.note("unknown methods are forwarded; their responses are not stored");
        } else {
            each.notMapped("only connections that switch their protocol become tunnels: upgrade");
        }
    }

    private void translatePurge(Statement each, Match match) {
        each.markHandled().recordKey("purge.allow");
        if (match.clients().isEmpty() && state.workspace().draft().root().find("purge.allow") == null) {
            each.note("purge.allow names the clients that may purge; its default allows only this machine");
        } else {
            match.clients().forEach(test -> allowPurges(each, test));
        }
    }

    private boolean allowPurges(Statement each, Test test) {
        List<String> addresses = state.addresses(test.right());
        if (addresses == null || addresses.isEmpty() || addresses.stream().anyMatch(one -> one.startsWith("~"))) {
            return false;
        }
        DraftNode node = state.workspace()
                .draft()
                .root()
                .putWords("purge.allow", addresses)
                .removableIfInvalid();
        node.from(each.markHandled());
        state.markAclUsed(test.right(), "purge.allow");
        return true;
    }

    private void translateSynth(Statement each, Match match) {
        String status = each.value().replaceAll("[^0-9].*", "");
        String method = match.method();
        if (("PURGE".equals(method) || "BAN".equals(method)) && !match.clients().isEmpty()) {
            Test test = match.clients().get(0);
            if (!test.operator().equals("!~") || !allowPurges(each, test)) {
                each.notMapped("purge.allow has only addresses and ranges; entries with ! have no equivalent");
            }
        } else if ("PURGE".equals(method) || "BAN".equals(method)) {
            each.note("Millrace answers purges itself");
        } else if (status.equals("400") || "PRI".equals(method)) {
            each.note("invalid requests are refused in any case");
        } else if (status.matches("3\\d\\d|[67]\\d\\d") || each.value().contains("http")) {
            synthRules.redirect(each, pathConditions(), status);
        } else if (!match.clients().isEmpty()
                && match.urls().isEmpty()
                && match.hosts().isEmpty()) {
            Test test = match.clients().get(0);
            if (!state.deny(test.right(), test.operator().equals("~"), each.markHandled())) {
                each.notMapped(
                        "no acl with addresses has this name, so no filter was written and these clients are not refused");
            } else if (!match.unknown().isEmpty()) {
                each.notMapped(String.format(UNKNOWN, match.unknown()) + "; all these clients are refused");
            }
        } else if (match.isMethod() && status.matches("4\\d\\d")) {
            translateMethods(each, match);
        } else if (status.startsWith("4") && match.isUrl() && addRoute(match, DENIED, each)) {
            each.note("requests are answered with 403");
        } else if (!synthRules.answer(each, pathConditions(), status) && status.startsWith("4")) {
            state.workspace().warn("requests that vcl_recv refuses reach the origin: see the lines of return (synth)");
        }
    }

    private void translateMethods(Statement each, Match match) {
        List<String> allowed = new ArrayList<>();
        for (Test test : match.methods()) {
            if (test.operator().equals("!=")) {
                allowed.add(test.right());
            } else if (test.operator().equals("!~") && test.right().matches("[\\^$()A-Z|]+")) {
                allowed.addAll(List.of(test.right().replaceAll("[\\^$()]", "").split("\\|", -1)));
            }
        }
        if (allowed.size() > 1) {
            state.workspace().draft().set("methods", allowed, each.markHandled());
            each.markHandled().note("other methods are answered with 405");
        } else {
            each.notMapped("the requests are not refused; write the permitted methods in the key methods");
        }
    }

    private void translateSet(Statement each, String target, List<Condition> around) {
        switch (target) {
            case "req.backend_hint", "req.backend" -> translateBackendHint(each, around);
            case "req.url" -> translateUrl(each, around);
            case "req.http.host" -> translateHost(each);
            case "req.http.x-forwarded-for" -> each.note("origins get X-Forwarded-For by default");
            case "req.http.accept-encoding" ->
                each.note("variants by Accept-Encoding are compared by meaning, without normalisation");
            case "req.http.cookie" ->
                each.notMapped("cookies of requests cannot be changed; cache.key.cookies selects"
                        + " variants by single cookies");
            case "req.grace" ->
                each.notMapped(
                        "the time for stale responses is the same for all requests:" + " cache.stale_while_revalidate");
            case "req.hash_always_miss", "req.hash_ignore_busy", "req.hash_ignore_vary" ->
                each.notMapped("the setting cannot be changed for single requests; see cache.when_to_revalidate and"
                        + " cache.collapse_wait");
            case "req.http.surrogate-capability", "req.esi" ->
                each.notMapped("the importer does not translate the statement; esi in a rule of remap turns ESI on, and"
                        + " sends Surrogate-Capability");
            case "req.http.x-forwarded-proto", "req.http.x-forwarded-host" ->
                each.note("origins get the field by default");
            default -> {
                if (target.startsWith("req.http.")) {
                    state.fields().write(each, pathConditions());
                } else {
                    each.notMapped("'" + each.target() + "' has no equivalent");
                }
            }
        }
    }

    private void translateUnset(Statement each, String target, List<Condition> around) {
        switch (target) {
            case "req.http.cookie" -> translateCookie(each, around);
            case "req.http.accept-encoding" ->
                each.note("variants by Accept-Encoding are compared by meaning, without normalisation");
            case "req.http.cache-control", "req.http.pragma" ->
                each.markHandled().recordKey("cache.ignore_client_no_cache");
            case "req.http.x-forwarded-for",
                    "req.http.forwarded",
                    "req.http.x-forwarded-proto",
                    "req.http.x-original-url",
                    "req.http.x-rewrite-url" ->
                each.note("such fields of clients are removed, except for access.trusted_proxies");
            case "req.http.range" -> state.set("cache.range.write", "true", each.markHandled());
            default -> state.fields().write(each, pathConditions());
        }
    }

    /** Translates the removal of Cookie, after which requests use the cache. */
    private void translateCookie(Statement each, List<Condition> around) {
        if (around.isEmpty()) {
            state.useCacheWithCookies();
            each.markHandled().matchesDefaultOf("cache.cache_responses_to_cookies");
            each.note("origins still get the cookies");
            dropsCookies = true;
            return;
        }
        for (Match match : Match.all(around)) {
            if (match.isUrl() && state.rule(match, "cache_responses_to_cookies", "all", each.markHandled())) {
                each.note("origins still get the cookies");
                dropsCookies = true;
            } else if (match.isCookie() && match.urls().isEmpty()) {
                each.note("a Cookie without content cannot be removed; such requests are rare");
            } else {
                each.notMapped(String.format(UNKNOWN, match.unknown().isEmpty() ? "the condition" : match.unknown()));
            }
        }
    }

    /** Returns true if vcl_recv removes the cookies of some requests. */
    boolean dropsCookies() {
        return dropsCookies;
    }

    private void translateBackendHint(Statement each, List<Condition> around) {
        String name = backends.named(each.value());
        if (name == null) {
            each.notMapped("no backend or director has this name");
            return;
        }
        if (around.isEmpty() || around.stream().allMatch(one -> one instanceof Condition.Not)) {
            defaultBackend = name;
            defaultBackendSource = each.markHandled();
            return;
        }
        for (Match match : Match.all(around)) {
            if (!addRoute(match, name, each)) {
                each.notMapped("rules select origins by host and by the beginning of the path");
            }
        }
    }

    private boolean addRoute(Match match, String name, Statement each) {
        if (!match.isUrl() || match.urls().size() > 1 || match.hosts().size() > 1) {
            return false;
        }
        // A refusal ends vcl_recv, so it takes precedence over later statements.
        int order = name.equals(DENIED) ? Integer.MAX_VALUE : chain();
        List<String> paths = new ArrayList<>(List.of("/"));
        if (!match.urls().isEmpty()) {
            Test test = match.urls().get(0);
            paths = test.operator().equals("~") ? prefixes(test.right()) : List.of();
            if (paths.isEmpty()) {
                return false;
            }
        }
        for (String path : paths) {
            if (match.hosts().isEmpty()) {
                routes.add(new Route("map", path, name, each.markHandled(), order));
                continue;
            }
            Test host = match.hosts().get(0);
            String text = host.right().replaceAll(":\\d+$", "");
            if (host.operator().equals("==")) {
                routes.add(new Route("map", "http://" + text + path, name, each.markHandled(), order));
            } else if (host.operator().equals("~")) {
                String withoutFlag = text.replaceAll("^\\(\\?i\\)", "");
                String begin = withoutFlag.startsWith("^") ? withoutFlag.substring(1) : ".*" + withoutFlag;
                String whole = begin.endsWith("$") ? begin.substring(0, begin.length() - 1) : begin + ".*";
                routes.add(new Route("regex_map", "http://" + whole + path, name, each.markHandled(), order));
            } else {
                return false;
            }
        }
        return true;
    }

    /** Returns the path prefixes that are equivalent to an expression. Returns an empty list if there are none. */
    static List<String> prefixes(String expression) {
        String text = expression.replaceAll("^\\(\\?i\\)", "");
        Matcher plain =
                Pattern.compile("\\^(/[A-Za-z0-9/_.~\\\\-]*)(?:\\.\\*)?").matcher(text);
        if (plain.matches() && !plain.group(1).replace("\\.", "").contains(".")) {
            return List.of(plain.group(1).replace("\\", ""));
        }
        Matcher group = Pattern.compile("\\^(/[A-Za-z0-9/_-]*)\\(([A-Za-z0-9/_|-]+)\\)(/?)(?:\\.\\*)?")
                .matcher(text);
        List<String> paths = new ArrayList<>();
        if (group.matches()) {
            for (String word : group.group(2).split("\\|", -1)) {
                paths.add(group.group(1) + word + group.group(3));
            }
        }
        return List.copyOf(paths);
    }

    private void translateHost(Statement each) {
        if (each.value().matches(".*regsub\\(.*\":.*")) {
            each.note("the port of a Host field is not part of the key, if it is the default");
        } else if (each.value().toLowerCase(Locale.ROOT).matches(".*(tolower|\\.lower\\().*")) {
            each.note("hosts are compared in lower case");
        } else {
            each.notMapped("the host of requests cannot be changed; cache.key.host lets hosts share responses");
        }
    }

    private void translateUrl(Statement each, List<Condition> around) {
        String value = each.value();
        if (value.startsWith("std.querysort(")) {
            state.set("cache.key.sorted_params", "true", each.markHandled());
            return;
        }
        Matcher call = Pattern.compile("regsub(?:all)?\\(\\s*req\\.url\\s*,\\s*\"(.*)\"\\s*,\\s*\"(.*)\"\\s*\\)")
                .matcher(value);
        if (!call.matches()) {
            each.notMapped("the importer does not translate the statement; rewrite.path and rewrite.query of rules"
                    + " change the URL that the origin gets");
            return;
        }
        String expression = call.group(1);
        Matcher names = Pattern.compile("\\(\\??:?([A-Za-z0-9_|.*+\\[\\]\\\\-]+)\\)\\s*=")
                .matcher(expression);
        Matcher single = Pattern.compile("([A-Za-z0-9_.-]+)=").matcher(expression);
        if (expression.matches("\\\\?\\?\\.\\*\\$?|\\[\\?\\]\\.\\*\\$?")) {
            translateQuery(each, around);
        } else if (names.find()) {
            excludeParameters(each, names.group(1).split("\\|", -1));
        } else if (single.find() && expression.contains("=")) {
            excludeParameters(each, single.group(1));
        } else if (expression.matches("[&?\\\\()|+\\[\\]$]+") || expression.contains("#")) {
            each.note("empty parameters and fragments are not part of keys");
        } else {
            each.notMapped("the importer does not translate the statement; rewrite.path of rules changes the path that"
                    + " the origin gets");
        }
    }

    private void translateQuery(Statement each, List<Condition> around) {
        if (around.isEmpty()) {
            state.set("cache.key.ignore_query", "true", each.markHandled());
        } else {
            each.notMapped("the condition is not translated; set cache.key.ignore_query in a rule of remap");
        }
    }

    private void excludeParameters(Statement each, String... words) {
        List<String> names = new ArrayList<>();
        names.addAll(excluded);
        for (String word : words) {
            String name = word.replaceAll("\\[[^\\]]*\\][+*]?|\\.[*+]|\\\\w[+*]?", "*")
                    .replace("\\", "");
            if (name.matches("[A-Za-z0-9_.-]+\\*?") && !names.contains(name)) {
                names.add(name);
            }
        }
        if (names.isEmpty()) {
            each.notMapped("the names of the parameters are not understood; write them in cache.key.excluded_params");
            return;
        }
        excluded.clear();
        excluded.addAll(names);
        state.workspace()
                .draft()
                .root()
                .putWords("cache.key.excluded_params", names)
                .removableIfInvalid()
                .from(each.markHandled());
        each.note("the parameters are left out of origin requests too");
    }
}
