package io.millrace.proxy.remap;

import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The remap rules of one group ({@link RemapVerb.Group}) by host, in an open-addressing hash table. Immutable,
 * except for the cache in {@link ExpressionHosts}.
 */
final class HostIndex {
    private static final byte[] ROOT = {'/'};

    /** The slots. Their number is a power of two, and at most half of them are used. */
    private final @Nullable HostRules[] hosts;

    private final HostRules otherHosts;
    private final @Nullable ExpressionHosts expressions;

    /**
     * @param rules in the order of the configuration
     */
    HostIndex(List<RemapRule> rules) {
        PathTrie withoutHost = new PathTrie();
        otherHosts = new HostRules(new byte[0], withoutHost);
        hosts = new HostRules[Math.max(2, Integer.highestOneBit(Math.max(1, rules.size())) * 4)];
        for (RemapRule rule : rules) {
            String named = rule.config().from().host();
            if (named == null) {
                withoutHost.add(rule.fromPath(), rule);
            } else if (!rule.config().verb().isRegex()) {
                byte[] host = named.getBytes(StandardCharsets.ISO_8859_1);
                int slot = slotOf(host, 0, host.length);
                HostRules hostRules = hosts[slot];
                if (hostRules == null) {
                    hostRules = new HostRules(host, withoutHost);
                    hosts[slot] = hostRules;
                }
                hostRules.add(rule);
            }
        }
        List<RemapRule> byExpression =
                rules.stream().filter(rule -> rule.config().verb().isRegex()).toList();
        expressions = byExpression.isEmpty() ? null : new ExpressionHosts(byExpression, named(rules), withoutHost);
    }

    private static Map<String, List<RemapRule>> named(List<RemapRule> rules) {
        Map<String, List<RemapRule>> named = new HashMap<>();
        for (RemapRule rule : rules) {
            String host = rule.config().from().host();
            if (host != null && !rule.config().verb().isRegex()) {
                named.computeIfAbsent(host, h -> new ArrayList<>(1)).add(rule);
            }
        }
        return named;
    }

    /**
     * Returns the result for a URL. A target in asterisk form ({@code *}) has no path, and is matched as the path
     * {@code /}.
     *
     * @param port the port that rules with a port must have
     */
    RemapResult match(TargetUri target, int port) {
        byte[] host = target.hostBytes();
        HostRules found = host(host, 0, host.length);
        return target.form() == TargetUri.Form.ASTERISK
                ? found.match(target.isSecure(), port, ROOT, 0, ROOT.length)
                : found.match(target.isSecure(), port, target.targetBytes(), target.pathStart(), target.pathEnd());
    }

    /** Returns the result for the path {@code /} of a URL's host. */
    RemapResult matchRoot(TargetUri target) {
        byte[] host = target.hostBytes();
        return host(host, 0, host.length).match(target.isSecure(), target.port(), ROOT, 0, ROOT.length);
    }

    /**
     * Returns the rules that may match requests for a host in any letter case. Allocates only if there are expressions
     * and the host was not requested recently.
     *
     * @param bytes contains the host without port, an IPv6 address in brackets; borrowed
     */
    HostRules host(byte[] bytes, int from, int to) {
        HostRules named = hosts[slotOf(bytes, from, to)];
        if (expressions != null && from < to) {
            return expressions.of(named, bytes, from, to);
        }
        return named == null ? otherHosts : named;
    }

    /** Returns the slot of the host, or the empty slot for it. */
    private int slotOf(byte[] bytes, int from, int to) {
        int mask = hosts.length - 1;
        int slot = hash(bytes, from, to) & mask;
        while (true) {
            HostRules candidate = hosts[slot];
            if (candidate == null || candidate.isFor(bytes, from, to)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    static int hash(byte[] bytes, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + HostRules.lower(bytes[i]);
        }
        return hash ^ hash >>> 15;
    }
}
