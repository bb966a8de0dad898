package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.ConfigKey.Apply;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ConfigChangeTest {
    private static final ProxyConfig START = ProxyConfig.builder()
            .listen(":8080")
            .map("/", "http://o")
            .set(ConfigKeys.TIMEOUTS_DRAIN, Duration.ofSeconds(5))
            .build();

    @Test
    void namesEveryChangedSettingAndHowItIsApplied() {
        ProxyConfig after = START.toBuilder()
                .listen(":8081")
                .set(ConfigKeys.TIMEOUTS_DRAIN, Duration.ofSeconds(30))
                .set(ConfigKeys.CACHE_RAM_SIZE, 64L << 20)
                .set("log.access.path", "/var/log/access.log")
                .set("worker.event_loops", "3")
                .build();
        List<ConfigChange> changes = ConfigChange.between(START, after);
        assertEquals(
                List.of("listen", "cache.ram_size", "log.access.path", "timeouts.drain", "worker.event_loops"),
                changes.stream().map(ConfigChange::key).toList());
        assertEquals(new ConfigChange("timeouts.drain", Apply.LIVE, "5s", "30s"), changes.get(3));
        assertEquals(new ConfigChange("log.access.path", Apply.ROLLING, null, "/var/log/access.log"), changes.get(2));
        assertEquals(new ConfigChange("listen", Apply.ROLLING, "1 entry", "2 entries"), changes.get(0));
        assertEquals(Apply.RELAUNCH, ConfigChange.strongest(changes));
        assertEquals(Apply.ROLLING, ConfigChange.strongest(changes.subList(0, 4)));
    }

    @Test
    void seesAChangeWithinARule() {
        ProxyConfig other = ProxyConfig.builder()
                .listen(":8080")
                .map(
                        "/",
                        "http://o",
                        ConfigValues.builder()
                                .set(ConfigKeys.CACHE_ENABLED, false)
                                .build())
                .set(ConfigKeys.TIMEOUTS_DRAIN, Duration.ofSeconds(5))
                .build();
        List<ConfigChange> changes = ConfigChange.between(START, other);
        assertEquals(List.of(new ConfigChange("remap", Apply.LIVE, "1 entry", "1 entry")), changes);
    }

    @Test
    void rollsTheWorkerForAnotherCertificateOnTheSameSocket() {
        ProxyConfig before =
                ProxyConfig.builder().listen(":1", Path.of("a"), Path.of("k")).build();
        ProxyConfig after =
                ProxyConfig.builder().listen(":1", Path.of("b"), Path.of("k")).build();
        assertEquals(Apply.ROLLING, ConfigChange.strongest(ConfigChange.between(before, after)));
    }

    @Test
    void takesADefaultThatIsWrittenDownForNoChange() {
        ProxyConfig other = START.toBuilder().set("cache.enabled", "true").build();
        assertEquals(List.of(), ConfigChange.between(START, other));
        assertEquals(Apply.LIVE, ConfigChange.strongest(List.of()));
    }

    @Test
    void takesAMovedRuleForNoChange() {
        String rules = "remap: [{map: /, to: 'http://o'}]\n";
        ProxyConfig above =
                ConfigLoader.parse(rules + "listen: :1\n", "a.yaml", Map.of()).config();
        ProxyConfig below =
                ConfigLoader.parse("listen: :1\n" + rules, "b.yaml", Map.of()).config();
        assertEquals(List.of(), ConfigChange.between(above, below));
        assertEquals(above, below);
    }
}
