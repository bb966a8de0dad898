package io.millrace.proxy.config;

import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.edge.SplitKeys;
import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.HostTemplate;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SocketPath;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks single rules of {@code remap} for errors, and warns of valid rules that are probably unintended. */
public final class RemapChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    public RemapChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /**
     * A reason why a rule is invalid.
     *
     * @param key the key with the error; empty for the rule as a whole
     */
    record Fault(String key, String message) {}

    /** Checks every rule and reports the errors. */
    public void check(ConfigValues values) {
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            String path = "remap[" + i + "]";
            // A misspelt or invalid key is reported once, not also as a missing key.
            if (!problems.isBroken(path) && !problems.isAnyBrokenBelow(path)) {
                Fault fault = faultOf(rules.get(i));
                if (fault != null) {
                    String full = fault.key.isEmpty() ? path : path + "." + fault.key;
                    problems.error(problems.placeOf(full, problems.placeOf(path, wholeFile)), full, fault.message);
                }
            }
        }
    }

    /** Checks one rule against the requirements of its kind. Returns the first fault; null if there is none. */
    static @Nullable Fault faultOf(ConfigValues rule) {
        List<RemapVerb> verbs = new ArrayList<>(1);
        for (RemapVerb verb : RemapVerb.all()) {
            if (rule.isSet(RemapKeys.of(verb))) {
                verbs.add(verb);
            }
        }
        if (verbs.isEmpty()) {
            return new Fault("", "has no kind; a rule needs one of " + RemapVerb.words());
        }
        RemapVerb verb = verbs.get(0);
        if (verbs.size() > 1) {
            return new Fault(verbs.get(1).word(), "a rule has only one kind, and this rule already has " + verb.word());
        }
        RuleUrl from = rule.get(RemapKeys.of(verb));
        RuleUrl to = rule.find(RemapKeys.TO);
        if (verb == RemapVerb.REVERSE_MAP && from.host() == null) {
            return new Fault(verb.word(), "must name the origin's host");
        }
        if (verb.group() == RemapVerb.Group.RECEIVED_PORT && from.port() < 0) {
            return new Fault(verb.word(), "must name the port that requests arrive on");
        }
        Fault fault = to == null ? null : schemes(verb, from, to);
        fault = fault == null && to != null ? substitutions(verb, from, to) : fault;
        fault = fault == null && to != null ? query(verb, to) : fault;
        fault = fault == null ? status(verb, rule.find(RemapKeys.STATUS)) : fault;
        fault = fault == null ? options(verb, rule) : fault;
        return fault == null && !verb.isForward() ? settings(verb, rule) : fault;
    }

    /** WebSocket URLs can only be mapped to WebSocket URLs, as in Traffic Server. */
    private static @Nullable Fault schemes(RemapVerb verb, RuleUrl from, RuleUrl to) {
        if (from.isWebSocket() && verb != RemapVerb.MAP && verb != RemapVerb.REGEX_MAP) {
            return new Fault(verb.word(), "must be http or https; ws and wss are for map and regex_map");
        }
        if (from.isWebSocket() != to.isWebSocket()) {
            return new Fault(
                    "to",
                    from.isWebSocket()
                            ? "'" + to + "' must be ws or wss, because the rule is for " + from.scheme()
                            : "'" + to + "' is only for rules that begin with ws or wss");
        }
        return null;
    }

    private static @Nullable Fault substitutions(RemapVerb verb, RuleUrl from, RuleUrl to) {
        if (!verb.isRegex()) {
            return HostTemplate.lastGroup(String.valueOf(to.host())) < 0
                    ? null
                    : new Fault("to", "'" + to + "' has a $ in its host, but " + verb.word() + " has no expression");
        }
        int groups = HostTemplate.compile(String.valueOf(from.host())).groupCount();
        int last = HostTemplate.lastGroup(to.host() + to.path() + to.query());
        return last <= groups
                ? null
                : new Fault(
                        "to", "$" + last + " is not a group of the expression, whose number of groups is " + groups);
    }

    private static @Nullable Fault query(RemapVerb verb, RuleUrl to) {
        return verb == RemapVerb.REVERSE_MAP && to.query() != null
                ? new Fault("to", "'" + to + "' has a query, but reverse_map matches the beginnings of URLs")
                : null;
    }

    private static @Nullable Fault status(RemapVerb verb, @Nullable Integer status) {
        if (status == null || verb.statuses().contains(status)) {
            return null;
        }
        return new Fault(
                "status",
                verb.isRedirect()
                        ? status + " is not a status of " + verb.word() + ", which has "
                                + verb.statuses().get(0) + " or "
                                + verb.statuses().get(1)
                        : "is only for redirections, and cannot be set for " + verb.word());
    }

    private static @Nullable Fault options(RemapVerb verb, ConfigValues rule) {
        for (ConfigKey<?> key : List.of(RemapKeys.REFERERS, RemapKeys.REFERER_REDIRECT)) {
            if (rule.isSet(key) && verb != RemapVerb.MAP_WITH_REFERER) {
                return new Fault(key.name(), "is only for map_with_referer, and cannot be set for " + verb.word());
            }
            if (!rule.isSet(key) && verb == RemapVerb.MAP_WITH_REFERER) {
                return new Fault(
                        key.name(),
                        "missing; map_with_referer needs "
                                + (key == RemapKeys.REFERERS
                                        ? "expressions that are matched against Referer"
                                        : "a URL to which refused requests are redirected"));
            }
        }
        if (rule.isSet(FilterKeys.RULE_FILTERS) && verb == RemapVerb.REVERSE_MAP) {
            return new Fault(FilterKeys.RULE_FILTERS.name(), "applies to requests, and cannot be set for reverse_map");
        }
        if (rule.isSet(RuleKeys.OF_REMAP) && !verb.isForward()) {
            return new Fault("rules", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        if (rule.isSet(ErrorPageKeys.OF_REMAP) && !verb.isForward()) {
            return new Fault(
                    "error_pages", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        if (rule.isSet(RequestLimitKeys.OF_REMAP) && verb == RemapVerb.REVERSE_MAP) {
            return new Fault("request_limits", "applies to requests, and cannot be set for reverse_map");
        }
        if (rule.isSet(ExtensionKeys.OF_REMAP) && !verb.isForward()) {
            return new Fault(
                    "extensions", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        if (rule.isSet(SplitKeys.SPLIT) && !verb.isForward()) {
            return new Fault("split", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        if (rule.isSet(RemapKeys.ORIGINS) && !verb.isForward()) {
            return new Fault("origins", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        Path socket = rule.find(RemapKeys.UNIX_SOCKET);
        if (socket != null && !verb.isForward()) {
            return new Fault(
                    "unix_socket", "cannot be set for " + verb.word() + ", which sends no requests to an origin");
        }
        if (socket != null && rule.isSet(RemapKeys.ORIGINS)) {
            return new Fault("unix_socket", "cannot be set with origins, whose hosts have their own unix_socket");
        }
        String unusable = SocketPath.problem(socket);
        if (unusable != null) {
            return new Fault("unix_socket", unusable);
        }
        return rule.isSet(RemapKeys.REWRITE_SET_COOKIE) && verb != RemapVerb.REVERSE_MAP
                ? new Fault(
                        RemapKeys.REWRITE_SET_COOKIE.name(),
                        "is only for reverse_map, and cannot be set for " + verb.word())
                : null;
    }

    private static @Nullable Fault settings(RemapVerb verb, ConfigValues rule) {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.isPerRule() && rule.isSet(key)) {
                return new Fault(
                        key.path(), "cannot be set for " + verb.word() + ", which sends no requests to an origin");
            }
        }
        return null;
    }

    /** Warns of rules that are valid but probably unintended. */
    public void warn(ProxyConfig config) {
        for (RemapRuleConfig rule : config.remap()) {
            String host = String.valueOf(rule.to().host());
            if (rule.verb().isForward() && rule.verb().isRegex() && endsWithClientText(host)) {
                warn(
                        rule,
                        "to",
                        "lets clients choose the origin, because its host name ends with text from the request");
            }
            if (rule.verb().isRedirect() && leadsToItself(rule)) {
                warn(rule, "to", "matches this rule again, so clients are redirected in a loop");
            }
        }
    }

    /** Returns true if the host name ends with text from the client's URL. Then clients can choose any domain. */
    private static boolean endsWithClientText(String host) {
        return host.length() >= 2 && HostTemplate.isSubstitution(host, host.length() - 2);
    }

    private static boolean leadsToItself(RemapRuleConfig rule) {
        RuleUrl from = rule.from();
        RuleUrl to = rule.to();
        if (rule.verb().isRegex() || from.host() == null) {
            return false;
        }
        return from.host().equals(to.host())
                && String.valueOf(from.scheme()).equals(to.scheme())
                && (from.port() < 0 || from.port() == to.effectivePort())
                && to.path().startsWith(from.path());
    }

    private void warn(RemapRuleConfig rule, String key, String message) {
        String path = "remap[" + rule.index() + "]." + key;
        problems.warning(problems.placeOf(path, wholeFile), path, message);
    }
}
