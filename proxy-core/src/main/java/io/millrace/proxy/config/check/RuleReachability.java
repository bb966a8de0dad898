package io.millrace.proxy.config.check;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RemapVerb.Group;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Warns of rules that no request can reach.
 *
 * <p>The kind of a rule determines its {@link Group}, and groups are searched one after another. Among rules of one
 * group for the same scheme, host and port, the first rule with a matching path prefix is used. Therefore a rule is
 * unreachable if the path of an earlier rule is a prefix of its path. Rules with a host take precedence over rules
 * without a host, and rules with a port over rules without a port. Such rules never make each other unreachable. A
 * redirect is also unreachable if {@code map} rules match all of its requests, wherever they are in the file.
 */
public final class RuleReachability {
    /** Limit of pairs of an expression and a rule; above it no rule is compared with expressions. */
    private static final long PAIRS_MAX = 1_000_000;

    /**
     * The key of rules that compete with each other.
     *
     * @param host a regular expression, a name, or null for all hosts
     * @param client scheme and host for clients in a reverse-map rule, else null
     */
    private record Rivals(
            Group group,
            boolean regex,
            @Nullable String scheme,
            @Nullable String host,
            int port,
            @Nullable String client) {
        static Rivals of(RemapRuleConfig rule) {
            RuleUrl from = rule.from();
            if (rule.group() == Group.REVERSE) {
                // Reverse-map rules whose clients use different hosts do not compete.
                String client = rule.to().scheme() + "://" + rule.to().host();
                return new Rivals(Group.REVERSE, false, from.scheme(), from.host(), from.effectivePort(), client);
            }
            return new Rivals(rule.group(), rule.verb().isRegex(), from.scheme(), from.host(), from.port(), null);
        }

        Rivals inGroup(Group other) {
            return new Rivals(other, regex, scheme, host, port, null);
        }

        Rivals atPort(int other) {
            return new Rivals(group, regex, scheme, host, other, null);
        }

        Rivals withoutHost() {
            return new Rivals(group, false, null, null, -1, null);
        }
    }

    /** A reachable rule with a regular expression; its path is normalized. */
    private record Expression(RemapRuleConfig rule, Pattern host, String path) {}

    private final ConfigProblems problems;
    private final Place wholeFile;
    private final Map<Rivals, Map<String, RemapRuleConfig>> reachable = new HashMap<>();
    private final List<Expression> expressions = new ArrayList<>();
    private long pairs;

    public RuleReachability(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    public void check(ProxyConfig config) {
        if (config.remap().isEmpty() && !config.forwardProxy().enabled()) {
            problems.warning(
                    problems.placeOf("remap", wholeFile), "remap", "no rule, so every request is answered with 404");
        }
        Set<String> schemes = new HashSet<>();
        config.listeners().forEach(listener -> schemes.add(listener.scheme()));
        List<RemapRuleConfig> remaining = new ArrayList<>();
        for (RemapRuleConfig rule : config.remap()) {
            if (!warnIfHiddenInGroup(rule)) {
                remaining.add(rule);
            }
        }
        boolean comparesExpressions = (long) expressions.size() * remaining.size() <= PAIRS_MAX;
        for (RemapRuleConfig rule : remaining) {
            RemapRuleConfig hiding = comparesExpressions ? expressionBefore(rule) : null;
            hiding = hiding == null && rule.verb().isRedirect() ? mapRuleFor(rule) : hiding;
            String scheme = rule.from().scheme() == null ? null : rule.from().isSecure() ? "https" : "http";
            if (hiding != null) {
                String order = hiding.index() < rule.index() ? "precedes it" : "is of a kind that is tried first";
                warn(rule, hiddenMessage(hiding, order));
            } else if (scheme != null && !schemes.contains(scheme) && rule.verb() != RemapVerb.REVERSE_MAP) {
                warn(
                        rule,
                        scheme.equals("https")
                                ? "matches only requests for a whole URL, because no address in listen has tls"
                                : "matches only requests for a whole URL, because every address in listen has tls");
            }
        }
        warnOfPorts(config, remaining);
    }

    /** The number of pairs of a rule and an expression that were compared. */
    long pairs() {
        return pairs;
    }

    /** Warns of a rule that an earlier rule of its group hides, and returns true. Records other rules as reachable. */
    private boolean warnIfHiddenInGroup(RemapRuleConfig rule) {
        Rivals rivals = Rivals.of(rule);
        String path = MappedUrls.normal(rule.from().path());
        RemapRuleConfig hiding = find(rivals, path);
        if (hiding != null) {
            warn(rule, hiddenMessage(hiding, "precedes it"));
            return true;
        }
        reachable.computeIfAbsent(rivals, r -> new HashMap<>()).put(path, rule);
        if (rule.verb().isRegex()) {
            expressions.add(new Expression(rule, rule.hostPattern(), path));
        }
        return false;
    }

    private static String hiddenMessage(RemapRuleConfig hiding, String where) {
        return "can never match, because remap[" + hiding.index() + "] (" + hiding.from() + ") " + where
                + " and takes its requests";
    }

    /** Returns the {@code map} rule that matches all requests of a redirect. Returns null if there is none. */
    private @Nullable RemapRuleConfig mapRuleFor(RemapRuleConfig redirect) {
        Rivals own = Rivals.of(redirect);
        String path = MappedUrls.normal(redirect.from().path());
        Rivals forward = new Rivals(Group.FORWARD, false, own.scheme, own.host, own.port, null);
        RemapRuleConfig found = own.regex ? null : find(forward, path);
        found = found == null ? find(forward.withoutHost(), path) : found;
        if (found == null && !own.regex && own.port >= 0) {
            found = find(forward.atPort(-1), path);
        }
        if (found == null && own.regex) {
            found = find(own.inGroup(Group.REDIRECT).withoutHost(), path);
        }
        return found;
    }

    /** Returns a regex rule that matches all requests of a rule with a host name. Returns null if there is none. */
    private @Nullable RemapRuleConfig expressionBefore(RemapRuleConfig rule) {
        RuleUrl from = rule.from();
        if (from.host() == null || rule.verb().isRegex() || expressions.isEmpty()) {
            return null;
        }
        String path = MappedUrls.normal(from.path());
        for (Expression expression : expressions) {
            RemapRuleConfig other = expression.rule;
            pairs++;
            if (isBefore(other, rule)
                    && String.valueOf(from.scheme()).equals(other.from().scheme())
                    && path.startsWith(expression.path)
                    && expression.host.matcher(from.host()).matches()) {
                return other;
            }
        }
        return null;
    }

    private static boolean isBefore(RemapRuleConfig other, RemapRuleConfig rule) {
        int port = other.from().port();
        if (other.group() == rule.group()) {
            return other.index() < rule.index() && port == rule.from().port();
        }
        return other.group() == Group.FORWARD
                && rule.verb().isRedirect()
                && (port < 0 || port == rule.from().port());
    }

    private void warnOfPorts(ProxyConfig config, List<RemapRuleConfig> remaining) {
        Set<Integer> ports = new HashSet<>();
        for (ListenerConfig listener : config.listeners()) {
            if (listener.address().socket() == null) {
                ports.add(listener.address().port());
            }
        }
        for (RemapRuleConfig rule : remaining) {
            if (rule.verb().group() == Group.RECEIVED_PORT
                    && !ports.contains(0)
                    && !ports.contains(rule.from().port())) {
                warn(
                        rule,
                        "can never match, because no address in listen has port "
                                + rule.from().port());
            }
        }
    }

    private @Nullable RemapRuleConfig find(Rivals rivals, String path) {
        Map<String, RemapRuleConfig> rules = reachable.get(rivals);
        for (int length = 1; rules != null && length <= path.length(); length++) {
            RemapRuleConfig rule = rules.get(path.substring(0, length));
            if (rule != null) {
                return rule;
            }
        }
        return null;
    }

    private void warn(RemapRuleConfig rule, String message) {
        String path = "remap[" + rule.index() + "]." + rule.verb().word();
        problems.warning(problems.placeOf(path, wholeFile), path, message);
    }
}
