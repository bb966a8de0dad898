package io.millrace.proxy.config;

import io.millrace.proxy.config.ConfigProblems.Place;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Warns of rules that no request can reach. Among rules for the same scheme, host and port the first one listed whose
 * path begins the request's path wins, so a rule is lost when an earlier one's path begins its own. A rule with a host
 * is tried before every rule without, and one that names a port before one that does not, so those never hide each
 * other.
 */
final class RuleReachability {
    /** Rules that compete with each other. */
    private record Group(@Nullable String scheme, @Nullable String host, int port) {}

    private final ConfigProblems problems;
    private final Place whole;

    RuleReachability(ConfigProblems problems, Place whole) {
        this.problems = problems;
        this.whole = whole;
    }

    void check(ProxyConfig config) {
        if (config.remap().isEmpty()) {
            problems.warning(
                    problems.placeOf("remap", whole), "remap", "no rule, so every request is answered with 404");
        }
        Set<String> schemes = new HashSet<>();
        config.listeners().forEach(listener -> schemes.add(listener.scheme()));
        Map<Group, Map<String, RemapRuleConfig>> groups = new HashMap<>();
        for (RemapRuleConfig rule : config.remap()) {
            RuleUrl from = rule.map();
            Map<String, RemapRuleConfig> earlier =
                    groups.computeIfAbsent(new Group(from.scheme(), from.host(), from.port()), g -> new HashMap<>());
            String path = normal(from.path());
            RemapRuleConfig hiding = hiding(earlier, path);
            if (hiding != null) {
                warn(
                        rule,
                        "can never match, because remap[" + hiding.index() + "] (" + hiding.map()
                                + ") stands before it and takes its requests");
            } else {
                earlier.put(path, rule);
                if (from.scheme() != null && !schemes.contains(from.scheme())) {
                    warn(
                            rule,
                            from.scheme().equals("https")
                                    ? "can hardly match, because no address in listen has tls"
                                    : "can hardly match, because every address in listen has tls");
                }
            }
        }
    }

    /** As rules are matched: the path in the normal form of cache keys. */
    private static String normal(String path) {
        byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
        byte[] normal = new byte[bytes.length];
        int length = UriBytes.normalizePath(bytes, 0, bytes.length, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static @Nullable RemapRuleConfig hiding(Map<String, RemapRuleConfig> earlier, String path) {
        for (int length = 1; length <= path.length(); length++) {
            RemapRuleConfig rule = earlier.get(path.substring(0, length));
            if (rule != null) {
                return rule;
            }
        }
        return null;
    }

    private void warn(RemapRuleConfig rule, String message) {
        String path = "remap[" + rule.index() + "].map";
        problems.warning(problems.placeOf(path, whole), path, message);
    }
}
