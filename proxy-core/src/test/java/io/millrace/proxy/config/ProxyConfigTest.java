package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

final class ProxyConfigTest {
    @Test
    void isBuiltInCode() {
        ProxyConfig config = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .listen(":443", Path.of("chain.pem"), Path.of("key.pem"))
                .map(
                        "http://a/x/",
                        "https://b:8443/y/",
                        ConfigValues.builder()
                                .set(ConfigKeys.CACHE_ENABLED, false)
                                .build())
                .map("/", "http://o")
                .storage(Path.of("/tmp/v"), 1L << 30)
                .set(ConfigKeys.TIMEOUTS_ORIGIN_CONNECT, Duration.ofMillis(200))
                .set("cache.ram_size", "64MiB")
                .build();
        assertEquals(200_000_000L, config.timeouts().originConnectNanos());
        assertEquals(64L << 20, config.cache().ramBytes());
        assertEquals("https", config.listeners().get(1).scheme());
        assertFalse(config.remap().get(0).cache().settings().enabled());
        assertEquals(8443, config.remap().get(0).to().effectivePort());
        assertEquals(
                List.of(0, 1),
                config.remap().stream().map(RemapRuleConfig::index).toList());
        assertEquals(config, config.toBuilder().build());
        assertEquals(config.hashCode(), config.toBuilder().build().hashCode());
    }

    @Test
    void mapsEveryHostToOneOrigin() {
        ProxyConfig config = ProxyConfig.forOrigin(":8080", "http://127.0.0.1:9000");
        assertEquals("map / http://127.0.0.1:9000/", config.remap().get(0).toString());
    }

    @Test
    void holdsCodeToTheSameBoundsAsAFile() {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        assertProblem(
                "cache.ram_size: 1B is below the limit of 1MiB", () -> builder.set(ConfigKeys.CACHE_RAM_SIZE, 1L));
        assertProblem("cache.ram_szie: unknown key", () -> builder.set("cache.ram_szie", "1GiB"));
        assertProblem("limits.connections: 'x' is not a whole number", () -> builder.set("limits.connections", "x"));
        assertProblem("remap[].to: '/' is not a URL such as http://host/path", () -> builder.map("/", "/"));
        assertProblem(
                "remap: set through listen, map, storage, volume, cacheRule or filter",
                () -> builder.set(ConfigKeys.REMAP, List.of()));
        ConfigValues general =
                ConfigValues.builder().set(ConfigKeys.CACHE_RAM_SIZE, 1L << 30).build();
        assertProblem("cache.ram_size: cannot be set for one rule", () -> builder.map("/", "http://o", general));
    }

    private static void assertProblem(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }
}
