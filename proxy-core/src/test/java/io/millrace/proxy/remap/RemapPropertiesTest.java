package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests random tables and URLs with a small alphabet against a slow and simple implementation. */
final class RemapPropertiesTest {
    private static final String[] PIECES = {"/", "a", "b", "ab", "%61", "%2f", "%2F", ".", "~", "%7e", "/a/"};
    private static final String[] MALFORMED = {"%", "%6", "%zz"};
    private static final int URL_PIECES = 5;
    private static final String[] HOSTS = {"h", "g", "h.g"};
    private static final String[] PORTS = {"", "", ":80", ":8080", ":443"};

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @Test
    void agreesWithAPlainScanOfTheRules() {
        int mapped = 0;
        for (int round = 0; round < 400; round++) {
            ProxyConfig config = randomConfig();
            RemapTable table = RemapTable.of(config);
            for (int i = 0; i < 50; i++) {
                TargetUri uri = randomUri();
                RemapRuleConfig expected = scan(config.remap(), uri);
                RemapResult result = table.match(uri);
                RemapRuleConfig actual =
                        result instanceof Mapped found ? found.rule().config() : null;
                assertSame(expected, actual, () -> uri + " in " + config.remap() + ", seed " + seed);
                mapped += actual == null ? 0 : 1;
            }
        }
        assertTrue(mapped > 1000, "mapped=" + mapped + ", seed " + seed);
    }

    @Test
    void givesUrlsThatShareACacheKeyTheSameRule() {
        Map<CacheKey, RemapResult> results = new HashMap<>();
        ProxyConfig config = randomConfig();
        RemapTable table = RemapTable.of(config);
        int shared = 0;
        for (int i = 0; i < 20_000; i++) {
            TargetUri uri = randomUri();
            RemapResult result = table.match(uri);
            RemapResult earlier = results.putIfAbsent(CacheKey.of(uri), result);
            if (earlier != null) {
                assertSame(earlier, result, () -> uri + " in " + config.remap() + ", seed " + seed);
                shared++;
            }
        }
        assertTrue(shared > 1000, "shared=" + shared + ", seed " + seed);
    }

    @Test
    void warnsOfARuleOnlyIfNothingEverReachesIt() {
        int warned = 0;
        for (int round = 0; round < 200; round++) {
            ProxyConfig config = randomConfig();
            StringBuilder yaml = new StringBuilder("listen: [':80']\nremap:\n");
            config.remap()
                    .forEach(
                            rule -> yaml.append("- {map: '").append(rule.from()).append("', to: 'http://o'}\n"));
            ConfigResult result = ConfigLoader.parse(yaml.toString(), "t.yaml", Map.of());
            Set<Integer> lost = new HashSet<>();
            for (ConfigProblem problem : result.problems()) {
                if (problem.message().startsWith("can never match")) {
                    lost.add(problem.line() - 3);
                }
            }
            warned += lost.size();
            RemapTable table = RemapTable.of(Objects.requireNonNull(result.config(), result.text()));
            for (RemapRule rule : table.rules()) {
                // The rule's own URL reaches it most directly; a host without rules reaches the rules without a host.
                RuleUrl from = rule.config().from();
                String own = from.host() == null ? "http://nobody" + from.path() : from.toString();
                TargetUri uri = RemapTableTest.uri(from.host() != null && from.port() < 0 ? withOddPort(from) : own);
                boolean reached = table.match(uri) instanceof Mapped found && found.rule() == rule;
                assertEquals(!lost.contains(rule.index()), reached, () -> rule + " of\n" + yaml + "seed " + seed);
            }
        }
        assertTrue(warned > 50, "warned=" + warned + ", seed " + seed);
    }

    private static String withOddPort(RuleUrl from) {
        return from.scheme() + "://" + from.host() + ":9" + from.path();
    }

    private ProxyConfig randomConfig() {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        int rules = 1 + random.nextInt(12);
        for (int i = 0; i < rules; i++) {
            String path = randomPath(3);
            String host = HOSTS[random.nextInt(HOSTS.length)] + PORTS[random.nextInt(PORTS.length)];
            builder.map(random.nextInt(4) == 0 ? path : scheme() + "://" + host + path, "http://o" + i);
        }
        return builder.build();
    }

    private TargetUri randomUri() {
        String host = HOSTS[random.nextInt(HOSTS.length)] + PORTS[random.nextInt(PORTS.length)];
        return RemapTableTest.uri(scheme() + "://" + host + randomPath(URL_PIECES));
    }

    private String scheme() {
        return random.nextInt(3) == 0 ? "https" : "http";
    }

    private String randomPath(int pieces) {
        StringBuilder path = new StringBuilder("/");
        for (int i = random.nextInt(pieces + 1); i > 0; i--) {
            path.append(PIECES[random.nextInt(PIECES.length)]);
        }
        if (pieces == URL_PIECES && random.nextInt(5) == 0) {
            path.append(MALFORMED[random.nextInt(MALFORMED.length)]).append(PIECES[random.nextInt(PIECES.length)]);
        }
        // Two slashes at the start would be an authority.
        return path.toString().replaceFirst("^/+", "/");
    }

    private static RemapRuleConfig scan(List<RemapRuleConfig> rules, TargetUri uri) {
        String path = normal(uri.path());
        for (int pass = 0; pass < 3; pass++) {
            for (RemapRuleConfig rule : rules) {
                RuleUrl from = rule.from();
                boolean candidate = pass == 2
                        ? from.host() == null
                        : uri.host().equals(from.host())
                                && uri.scheme().equals(from.scheme())
                                && from.port() == (pass == 0 ? uri.port() : -1);
                if (candidate && path.startsWith(normal(from.path()))) {
                    return rule;
                }
            }
        }
        return null;
    }

    private static String normal(String path) {
        byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
        byte[] normal = new byte[bytes.length];
        int length = UriBytes.normalizePath(bytes, 0, bytes.length, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }
}
