package io.millrace.proxy.config.check;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * An index of the hosts and paths that the rules of {@code remap} map. The cost of a lookup does not grow with the
 * number of rules that name a host. Host expressions are tried one by one, at most {@link #TRIES_MAX} times in all.
 * Paths are normalized. Confined to one thread.
 */
final class MappedUrls {
    /** Limit of host expressions matched in all lookups together; beyond it every host counts as mapped. */
    static final int TRIES_MAX = 1_000_000;

    private record Expression(Pattern host, String path) {}

    private final NavigableSet<String> allPaths = new TreeSet<>();
    private final NavigableSet<String> withoutHost = new TreeSet<>();
    private final Map<String, NavigableSet<String>> byHost = new HashMap<>();
    private final Map<String, NavigableSet<String>> byDomain = new HashMap<>();
    private final List<Expression> expressions = new ArrayList<>();
    private final NavigableSet<String> pathsOfExpressions = new TreeSet<>();
    private long tries;

    /** @param domains the domains that lookups will pass, without a leading dot */
    MappedUrls(List<RemapRuleConfig> rules, Set<String> domains) {
        for (RemapRuleConfig rule : rules) {
            if (rule.verb().isForward()) {
                add(rule, normal(rule.from().path()), domains);
            }
        }
    }

    private void add(RemapRuleConfig rule, String path, Set<String> domains) {
        String host = rule.from().host();
        allPaths.add(path);
        if (rule.verb().isRegex()) {
            expressions.add(new Expression(rule.hostPattern(), path));
            pathsOfExpressions.add(path);
        } else if (host == null) {
            withoutHost.add(path);
        } else {
            byHost.computeIfAbsent(host, name -> new TreeSet<>()).add(path);
            for (int at = 0; at >= 0 && !domains.isEmpty(); at = host.indexOf('.', at + 1)) {
                String domain = host.substring(at == 0 ? 0 : at + 1);
                if (domains.contains(domain)) {
                    byDomain.computeIfAbsent(domain, name -> new TreeSet<>()).add(path);
                }
            }
        }
    }

    /**
     * Returns true if a rule may map a host. For a domain, every host expression counts as a match.
     *
     * @param host null for any
     * @param domain domain of the host; null or {@code .} for any
     */
    boolean isMapped(@Nullable String host, @Nullable String domain) {
        return isMapped(host, domain, null);
    }

    /** Like {@link #isMapped(String, String)}, for paths that begin with {@code prefix}; null for any path. */
    boolean isMapped(@Nullable String host, @Nullable String domain, @Nullable String prefix) {
        if (host != null) {
            return overlaps(byHost.get(host), prefix) || overlaps(withoutHost, prefix) || isMatched(host, prefix);
        }
        if (domain == null || domain.equals(".")) {
            return overlaps(allPaths, prefix);
        }
        return overlaps(byDomain.get(domain), prefix)
                || overlaps(withoutHost, prefix)
                || overlaps(pathsOfExpressions, prefix);
    }

    /**
     * Returns true if a rule with a host expression may map the host. After {@link #TRIES_MAX} matches of expressions,
     * always returns true.
     */
    private boolean isMatched(String host, @Nullable String prefix) {
        for (Expression expression : expressions) {
            if (++tries > TRIES_MAX) {
                return true;
            }
            if (overlaps(expression.path, prefix)
                    && expression.host.matcher(host).matches()) {
                return true;
            }
        }
        return false;
    }

    /** The number of host expressions matched so far. */
    long tries() {
        return tries;
    }

    private static boolean overlaps(String path, @Nullable String prefix) {
        return prefix == null || path.startsWith(prefix) || prefix.startsWith(path);
    }

    /** Returns true if one of the paths begins with the prefix, or the prefix begins with one of the paths. */
    private static boolean overlaps(@Nullable NavigableSet<String> paths, @Nullable String prefix) {
        if (paths == null || paths.isEmpty()) {
            return false;
        }
        if (prefix == null) {
            return true;
        }
        String next = paths.ceiling(prefix);
        if (next != null && next.startsWith(prefix)) {
            return true;
        }
        // A path that is the beginning of the prefix cannot be longer than the common part of the prefix and the next
        // lower path. So the search skips down to that length.
        String before = paths.lower(prefix);
        while (before != null && !prefix.startsWith(before)) {
            int commonLength = commonLength(before, prefix);
            before = commonLength == 0 ? null : paths.floor(prefix.substring(0, commonLength));
        }
        return before != null;
    }

    private static int commonLength(String one, String other) {
        int length = 0;
        while (length < one.length() && length < other.length() && one.charAt(length) == other.charAt(length)) {
            length++;
        }
        return length;
    }

    /** Normalizes a path as rule matching and cache keys do. */
    static String normal(String path) {
        byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
        byte[] normal = new byte[bytes.length];
        int length = UriBytes.normalizePath(bytes, 0, bytes.length, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }
}
