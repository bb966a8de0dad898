package io.millrace.proxy.remap;

import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The remap rules that may match requests for one host. First come rules for this host and the request's port, then
 * rules for this host without a port, then rules without a host. Immutable once built, except for a cache. A connection
 * may keep the object between requests for the same host, as long as it uses the same {@link RemapTable}.
 */
public final class HostRules {
    /** The rules for one scheme and one port; the port is -1 for rules without a port. */
    private record PortRules(boolean secure, int port, PathTrie paths) {}

    private final byte[] host;
    private final PathTrie withoutHost;
    private PortRules[] ports = {};

    /**
     * These rules, together with the rules whose host expressions match. Built at the first request for the host,
     * perhaps by several threads at the same time.
     */
    private volatile @Nullable HostRules merged;

    /**
     * @param host in lower case; empty for hosts that no rule names
     * @param withoutHost the rules without a host
     */
    HostRules(byte[] host, PathTrie withoutHost) {
        this.host = host;
        this.withoutHost = withoutHost;
    }

    @Nullable
    HostRules merged() {
        return merged;
    }

    void merged(HostRules withExpressions) {
        merged = withExpressions;
    }

    /** Returns true if the bytes in the range are this host. Ignores case. */
    boolean isFor(byte[] bytes, int from, int to) {
        if (host.length != to - from) {
            return false;
        }
        for (int i = 0; i < host.length; i++) {
            if (host[i] != lower(bytes[from + i])) {
                return false;
            }
        }
        return true;
    }

    static int lower(byte b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }

    void add(RemapRule rule) {
        RuleUrl from = rule.config().from();
        // A reverse rule always matches one port only, because a URL with another port belongs to another service.
        boolean reverse = rule.config().verb() == RemapVerb.REVERSE_MAP;
        add(from.isSecure(), reverse ? from.effectivePort() : from.port(), rule);
    }

    private void add(boolean secure, int port, RemapRule rule) {
        PathTrie paths = paths(secure, port);
        if (paths == null) {
            paths = new PathTrie();
            ports = Arrays.copyOf(ports, ports.length + 1);
            ports[ports.length - 1] = new PortRules(secure, port, paths);
        }
        paths.add(rule.fromPath(), rule);
    }

    /**
     * Finds the rule for one URL of this host. Allocates nothing.
     *
     * @param secure whether the scheme of the URL is https
     * @param port the URL's port, or the scheme's default
     * @param bytes contains the path as received from the client, from {@code pathStart} to {@code pathEnd}; borrowed
     */
    public RemapResult match(boolean secure, int port, byte[] bytes, int pathStart, int pathEnd) {
        if (pathStart >= pathEnd || bytes[pathStart] != '/') {
            return NotMapped.NO_PATH;
        }
        RemapRule rule = find(paths(secure, port), bytes, pathStart, pathEnd);
        if (rule == null) {
            rule = find(paths(secure, -1), bytes, pathStart, pathEnd);
        }
        if (rule == null) {
            rule = withoutHost.find(bytes, pathStart, pathEnd);
        }
        if (rule == null) {
            return NotMapped.NO_RULE;
        }
        return rule.leavesTarget(bytes, pathStart, pathEnd) ? NotMapped.LEAVES_RULE : rule.result();
    }

    private static @Nullable RemapRule find(@Nullable PathTrie paths, byte[] bytes, int from, int to) {
        return paths == null ? null : paths.find(bytes, from, to);
    }

    private @Nullable PathTrie paths(boolean secure, int port) {
        for (PortRules rules : ports) {
            if (rules.port == port && rules.secure == secure) {
                return rules.paths;
            }
        }
        return null;
    }
}
