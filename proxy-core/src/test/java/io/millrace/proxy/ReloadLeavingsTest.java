package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.origin.OriginHost;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests that requests, connections and tunnels, which may last long, do not keep settings that a reload has replaced. A
 * table of rules may be large.
 */
class ReloadLeavingsTest {
    private static final int RELOADS = 5;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch gate = new CountDownLatch(1);

    private ProxyConfig.Builder settings(ProxyConfig.Builder config, int generation) {
        return config.set("via.name", "generation" + generation)
                .set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set(
                        "forward_proxy.connect_ports",
                        String.valueOf(proxy.origin().port()))
                .set("forward_proxy.allow_destinations", "127.0.0.1");
    }

    @Test
    void replacedSettingsAreNotRetainedByCurrentWork() throws Exception {
        proxy.start(request -> {
            if (request.has("GET /slow")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
                gate.await();
                request.send("67890");
            } else {
                request.ok("Cache-Control: max-age=60\r\n", new byte[5]);
            }
        });
        List<WeakReference<Object>> replaced = new ArrayList<>();
        List<RawClient> slow = new ArrayList<>();
        for (int i = 0; i < RELOADS; i++) {
            int generation = i;
            proxy.reload(config -> settings(config, generation));
            replaced.add(new WeakReference<>(proxy.proxy().snapshot()));
            replaced.add(new WeakReference<>(proxy.proxy().settings()));
            replaced.add(new WeakReference<>(proxy.proxy().settings().remap()));
            slow.add(leave(generation));
        }
        proxy.reload(config -> settings(config, RELOADS));
        ProxyExtension.await("what was replaced is given back", () -> {
            System.gc();
            return replaced.stream().allMatch(each -> each.get() == null);
        });
        gate.countDown();
        for (RawClient client : slow) {
            assertEquals(10, client.in.read(10).length);
        }
    }

    /** Hosts are added and removed by reloads. */
    @Test
    void aHostThatIsConfiguredNoLongerIsForgottenWithItsSeries() throws Exception {
        proxy.start(request -> request.ok("Cache-Control: no-store\r\n", new byte[5]));
        List<WeakReference<Object>> left = new ArrayList<>();
        for (int i = 0; i < RELOADS; i++) {
            grouped(i);
            assertEquals(200, proxy.get("/").status());
            for (OriginHost host :
                    proxy.proxy().shared().groups().all().iterator().next().hosts()) {
                if (host.origin().port() != proxy.origin().port()) {
                    left.add(new WeakReference<>(host));
                }
            }
        }
        grouped(RELOADS);
        assertEquals(200, proxy.get("/").status());
        assertEquals(RELOADS, left.size());
        ProxyExtension.await("hosts of before are given back", () -> {
            System.gc();
            return left.stream().allMatch(each -> each.get() == null);
        });
    }

    private void grouped(int generation) throws IOException {
        ConfigResult result = ConfigLoader.parse(
                """
                listen: ['127.0.0.1:0']
                origins:
                  - name: g
                    policy: first_live
                    health_check: {path: /up, interval: 100ms}
                    hosts: ['%s', 'http://127.0.0.1:%d']
                remap: [{map: /, to: 'http://g.internal/', origins: g}]
                """.formatted(proxy.origin().url(), generation + 1),
                "millrace.yaml",
                Path.of("").toAbsolutePath(),
                Map.of());
        proxy.proxy().reload(Objects.requireNonNull(result.config(), result::text));
    }

    /** A tunnel, an idle connection in either lane, a stored response, and a request in progress. */
    private RawClient leave(int generation) throws Exception {
        String origin = "127.0.0.1:" + proxy.origin().port();
        RawClient tunnel = proxy.client().send("CONNECT " + origin + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n");
        assertEquals(200, tunnel.head().status());
        RawClient kept = proxy.client();
        for (String path : List.of("/stored" + generation, "/stored" + generation)) {
            assertEquals(200, kept.get(path).response().status());
        }
        RawClient slow = proxy.client().get("/slow" + generation);
        assertEquals(200, slow.head().status());
        return slow;
    }
}
