package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Tests that hits allocate nothing for CORS, canary splits, mirrored requests and ESI of other rules,
 * for CORS, or for responses without ESI in a rule with it.
 */
class EdgeAllocationTest {
    private static final String OTHERS = """
              - map: http://other.example/
                to: "@origin"
                cors: {origins: "https://a.example"}
                split: [{to: "http://127.0.0.1:1", weight: 5}]
                mirror: {to: "http://127.0.0.1:1"}
                esi: {when: always}
            """;

    @Test
    void rulesWithoutTheSettingsAllocateNothingMore() throws Exception {
        HitAllocation.assertNothingMore(bytesPerHits("", ""), bytesPerHits(OTHERS, ""));
    }

    @Test
    void corsOfListedOriginsAllocatesNothingMore() throws Exception {
        String cors = "cors: {origins: ['https://b.example', 'https://a.example'], expose: [ETag]}\n";
        HitAllocation.assertNothingMore(bytesPerHits("", ""), bytesPerHits("", cors));
    }

    @Test
    void esiAllocatesNothingMoreForOtherResponses() throws Exception {
        HitAllocation.assertNothingMore(bytesPerHits("", ""), bytesPerHits("", "esi: {when: always}\n"));
    }

    private static long bytesPerHits(String rules, String settings) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]))) {
            ConfigResult result = ConfigLoader.parse(
                    (settings + "remap:\n" + rules + "  - {map: /, to: '@origin'}\n").replace("@origin", origin.url()),
                    "m.yaml",
                    Map.of(
                            "listen", "['127.0.0.1:0']",
                            "log.access.enabled", "false",
                            "cache.ram_size", "32MiB",
                            "worker.event_loops", "1"));
            assertNotNull(result.config(), result::text);
            try (ProxyServer server =
                    ProxyServer.builder().config(result.config()).start()) {
                return HitAllocation.bytes(server, "Origin: https://a.example\r\n");
            }
        }
    }
}
