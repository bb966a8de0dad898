package io.millrace.proxy.remap;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All remap rules of a configuration. A lookup hashes the host and reads the path once for each group of rules that there is; the
 * number of rules does not matter. Precedence is Traffic Server's: rules by the port that the request arrived on, then {@code
 * map} and {@code regex_map}, then redirections, then those by expression. Those for WebSocket are apart, and are looked at for requests that ask for it
 * before all others. Within a group a rule with a host goes before every
 * rule without, and among rules for the same scheme, host and port the first one listed whose path begins the request's path wins, so
 * that {@code /} before {@code /stuff/} hides it. A rule that names no port matches every port that no rule for the host and path
 * names.
 *
 * <p>The answer depends on the URL and the port that the request arrived on, and treats paths that share a cache key alike. Otherwise
 * a response from one rule's origin could be served under another's. Where the port decides, keys have it.
 *
 * <p>Immutable but for what it remembers of expressions.
 */
public final class RemapTable {
    /** Stands for the port that a request arrived on where that is not known: no rule that goes by it matches. */
    public static final int NO_PORT = -1;

    private final List<RemapRule> rules;
    private final @Nullable HostIndex byReceivedPort;
    private final @Nullable HostIndex webSockets;
    private final HostIndex forward;
    private final @Nullable HostIndex redirects;
    private final @Nullable HostIndex regexRedirects;
    private final int[] receivedPorts;
    private final ForwardedHosts forwardedHosts;
    private final boolean forwards;

    private RemapTable(List<RemapRuleConfig> configs, RemapRuleConfig forwardRule, boolean forwards) {
        forwardedHosts = new ForwardedHosts(forwardRule);
        this.forwards = forwards;
        rules = configs.stream().map(RemapRule::new).toList();
        byReceivedPort = index(RemapVerb.Group.RECEIVED_PORT);
        webSockets = index(RemapVerb.Group.WEBSOCKET);
        forward = new HostIndex(of(RemapVerb.Group.FORWARD));
        redirects = index(RemapVerb.Group.REDIRECT);
        regexRedirects = index(RemapVerb.Group.REGEX_REDIRECT);
        Set<Integer> ports = new TreeSet<>();
        of(RemapVerb.Group.RECEIVED_PORT)
                .forEach(rule -> ports.add(rule.config().from().port()));
        receivedPorts = ports.stream().mapToInt(Integer::intValue).toArray();
    }

    private List<RemapRule> of(RemapVerb.Group group) {
        return rules.stream().filter(rule -> rule.config().group() == group).toList();
    }

    private @Nullable HostIndex index(RemapVerb.Group group) {
        List<RemapRule> members = of(group);
        return members.isEmpty() ? null : new HostIndex(members);
    }

    /** The table of a configuration. */
    public static RemapTable of(ProxyConfig config) {
        return new RemapTable(
                config.remap(), config.forwardRule(), config.forwardProxy().enabled());
    }

    /** In the order of the configuration. */
    public List<RemapRule> rules() {
        return rules;
    }

    /** What the rules say about a URL, whatever port a request for it arrives on: those that go by that are left out. */
    public RemapResult match(TargetUri target) {
        return match(target, NO_PORT);
    }

    /**
     * What the rules say about a request; one in asterisk form, which has no path, goes where the host's root goes. Allocates
     * nothing, unless there are expressions and the host was not asked for lately.
     *
     * @param receivedPort the local port that the request arrived on, or {@link #NO_PORT}
     */
    public RemapResult match(TargetUri target, int receivedPort) {
        if (byReceivedPort != null && receivedPort > 0) {
            RemapResult found = byReceivedPort.match(target, receivedPort);
            if (found != NotMapped.NO_RULE) {
                return found;
            }
        }
        RemapResult found = forward.match(target, target.port());
        return found == NotMapped.NO_RULE ? redirected(target) : found;
    }

    /** What the rules for WebSocket say about a request that asks for it; {@link NotMapped} leaves it to all others. */
    public RemapResult matchWebSocket(TargetUri target) {
        return webSockets == null ? NotMapped.NO_RULE : webSockets.match(target, target.port());
    }

    /** What a request in absolute form gets that no rule maps, from a client that may be forwarded: its own host. */
    public RemapResult forwarded(TargetUri target) {
        return forwards && hasHost(target) ? forwardedHosts.of(target) : NotMapped.NO_RULE;
    }

    private static boolean hasHost(TargetUri target) {
        return target.hostBytes().length > 0;
    }

    private RemapResult redirected(TargetUri target) {
        RemapResult found = NotMapped.NO_RULE;
        if (target.form() == TargetUri.Form.ASTERISK) {
            return found;
        }
        if (redirects != null) {
            found = redirects.match(target, target.port());
        }
        if (regexRedirects != null && found == NotMapped.NO_RULE) {
            found = regexRedirects.match(target, target.port());
        }
        return found;
    }

    /** Everything that may map a URL: what its rule maps it to, and what that for each port on which requests for it may arrive does. */
    public List<Mapped> matches(TargetUri target) {
        List<Mapped> found = new ArrayList<>(1);
        if (match(target) instanceof Mapped mapped) {
            found.add(mapped);
        }
        if (byReceivedPort != null) {
            for (int port : receivedPorts) {
                if (byReceivedPort.match(target, port) instanceof Mapped mapped) {
                    found.add(mapped);
                }
            }
        }
        return found;
    }

    /**
     * The primary keys that a client's URL may have, as its rules make them; that of the URL itself where no rule maps it. That of what was forwarded is
     * among them where no rule maps it: it may be stored though nothing is forwarded now, and would be found again when that is allowed again.
     */
    public List<CacheKey> keys(TargetUri target) {
        List<Mapped> found = matches(target);
        if (!found.isEmpty()) {
            return found.stream().map(mapped -> mapped.key(target)).toList();
        }
        CacheKey own = CacheKey.of(target);
        return hasHost(target) ? List.of(own, forwardedHosts.of(target).key(target)) : List.of(own);
    }

    /** The URL that a client's URL is stored for; the URL itself where no rule maps it. */
    public TargetUri keyUrl(TargetUri target) {
        List<Mapped> found = matches(target);
        if (found.isEmpty() && forwarded(target) instanceof Mapped own) {
            return own.keyUrl(target);
        }
        return found.isEmpty() ? target : found.get(0).keyUrl(target);
    }

    /**
     * The rules that may map URLs of a URL's host, in either scheme: those that name it or whose expression matches it, and those
     * without a host unless rules for the host leave nothing to them.
     */
    public List<RemapRule> rulesUnder(TargetUri url) {
        boolean leftOver = isLeftToOthers(url) || isLeftToOthers(url.inOtherScheme());
        List<RemapRule> found = new ArrayList<>();
        for (RemapRule rule : rules) {
            if (rule.isForHost(url.host(), leftOver)) {
                found.add(rule);
            }
        }
        return found;
    }

    /** The rules of which anything is invalidated with all of a URL's host: those under it, and those that share a key's host. */
    public Set<RemapRule> rulesConcernedBy(TargetUri url) {
        Set<RemapRule> concerned = new LinkedHashSet<>(rulesUnder(url));
        Set<String> hosts = new HashSet<>();
        hosts.add(url.host());
        for (RemapRule rule : List.copyOf(concerned)) {
            TargetUri key = rule.keyUrl(url);
            if (hosts.add(key.host())) {
                concerned.addAll(rulesUnder(key));
            }
        }
        for (RemapRule rule : rules) {
            String keyHost = rule.config().cache().settings().key().host();
            if (keyHost != null && hosts.contains(keyHost)) {
                concerned.add(rule);
            }
        }
        return concerned;
    }

    /** The rules whose responses' tags are of one of these sites. */
    public List<RemapRule> rulesOfSites(Set<String> sites) {
        List<RemapRule> found = new ArrayList<>();
        for (RemapRule rule : rules) {
            String site = rule.config().site();
            if (site != null && sites.contains(site)) {
                found.add(rule);
            }
        }
        return found;
    }

    private boolean isLeftToOthers(TargetUri url) {
        return !(forward.matchRoot(url) instanceof Mapped mapped)
                || mapped.rule().config().from().host() == null;
    }
}
