package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code request_limits} in the file. */
class ConfigRequestLimitsTest {
    private static ConfigResult read(String text) {
        return ConfigLoader.parse(
                "listen: [':1']\n" + (text.contains("remap:") ? "" : "remap: [{map: /, to: 'http://o/'}]\n") + text,
                "m.yaml",
                Map.of());
    }

    @Test
    void readsEveryKey() {
        ConfigResult result = read("""
            remap:
              - map: /
                to: http://o/
                request_limits:
                  - {name: own, rate: 5/s}
            request_limits:
              - name: api
                when: path =~ "^/api/"
                key: [client, 'request_header["X-Api-Key"]', 'cookie["s"]', 'param["k"]', host]
                rate: 90/m
                burst: 10
                dry_run: true
            """);
        assertNotNull(result.config(), result::text);
        RequestLimitConfig api = result.config().requestLimits().general().get(0);
        assertEquals("api at m.yaml:8:5", api.toString());
        assertEquals(
                List.of("client", "request_header[\"X-Api-Key\"]", "cookie[\"s\"]", "param[\"k\"]", "host"),
                api.key().stream().map(Object::toString).toList());
        assertEquals(60_000_000_000L / 90, api.intervalNanos());
        assertEquals(10, api.burst());
        assertTrue(api.dryRun());
        RequestLimitConfig own =
                result.config().requestLimits().byRemap().get(0).get(0);
        assertEquals(5, own.burst());
        assertEquals("[client]", own.key().toString());
    }

    /** Each case: the list; the position and the beginning of the message. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "[{rate: 1/s}] # 3:18 # request_limits[0]: has no name",
                "[{name: a}] # 3:18 # request_limits[0]: has no rate, such as rate: 100/s",
                "[{name: a b, rate: 1/s}] # 3:19 # request_limits[0].name: 'a b' is not a name of 1 to 64 letters",
                "[{name: a, rate: 1/x}] # 3:28 # request_limits[0].rate: '1/x' is not a number of 1 to 1000000 and",
                "[{name: a, rate: 0/s}] # 3:28 # request_limits[0].rate: '0/s' is not",
                "[{name: a, rate: 1/d, burst: 367}] # 3:39 # request_limits[0].burst: 367 is refilled only after",
                "[{name: a, rate: 1/s, key: user}] # 3:39 # request_limits[0].key: 'user' is none of client, host",
                "[{name: a, rate: 1/s, key: [all, host]}] # 3:39 # request_limits[0].key: all has no effect beside",
                "[{name: a, rate: 1/s, key: [host, host]}] # 3:39 # request_limits[0].key: has host twice",
                "[{name: a, rate: 1/s, when: 'status == 1'}] # 3:39 # request_limits[0].when: reads status, which is",
                "[{name: a, rate: 1/s, when: 'x == 1'}] # 3:39 # request_limits[0].when: 1:1: unknown field 'x'",
                "[{name: a, rate: 1/s}, {name: a, rate: 2/s}] # 3:41 # request_limits[1].name: a is already the name of",
            })
    void faultsHaveTheirPlace(String limits, String place, String message) {
        ConfigResult result = read("request_limits: " + limits);
        assertNull(result.config());
        assertTrue(result.text().startsWith("m.yaml:" + place + ": " + message), result::text);
    }

    @Test
    void theNumberOfLimitsIsLimited() {
        StringBuilder limits = new StringBuilder("request_limits:\n");
        for (int i = 0; i < 21; i++) {
            limits.append("  - {name: n").append(i).append(", rate: 1/s}\n");
        }
        ConfigResult result = read(limits.toString());
        assertNull(result.config());
        assertTrue(result.text().contains("with this limit 21 limits apply to one request, limit=20"), result::text);
    }
}
