package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests callbacks for requests in a proxy, interpreted and compiled. */
class RequestFilterTest {
    @TempDir
    Path directory;

    @BeforeEach
    void copyModule() throws Exception {
        WasmProxy.copy("request.wasm", directory.resolve("filter.wasm"));
    }

    private WasmProxy start(String engine) throws Exception {
        return WasmProxy.start(directory, "{module: filter.wasm, instances: 2, engine: " + engine + "}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void addsAndRemovesFieldsForTheOrigin(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            assertEquals(
                    "wasm=hello status=null remove=null",
                    proxy.get("/x", "X-Remove", "secret").body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void answersByPathWithoutTheOrigin(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            HttpResponse<String> denied = proxy.get("/deny");
            assertEquals(403, denied.statusCode());
            assertEquals("denied by the module", denied.body());
            assertEquals("path", denied.headers().firstValue("x-reason").orElse(""));
            assertEquals(200, proxy.get("/x").statusCode());
            assertEquals(List.of("/x"), proxy.asked);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void anEndlessLoopEndsAtTheDeadline(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> cut = proxy.get("/loop");
                assertEquals(503, cut.statusCode());
                assertTrue(
                        cut.headers().firstValue("cache-status").orElse("").contains("extension:filter"),
                        cut.headers()::toString);
                assertEquals(
                        "wasm=hello status=null remove=null", proxy.get("/x").body());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void loopsInAllInstancesDelayOtherRequestsOnly(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            List<CompletableFuture<Integer>> statuses = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                String path = i < 4 ? "/loop" : "/x";
                statuses.add(CompletableFuture.supplyAsync(() -> {
                    try {
                        return proxy.get(path).statusCode();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            assertEquals(
                    List.of(503, 503, 503, 503, 200, 200),
                    statuses.stream().map(CompletableFuture::join).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void theMemoryDoesNotGrowBeyondTheLimit(String engine) throws Exception {
        try (WasmProxy proxy = WasmProxy.start(
                directory, "{module: filter.wasm, instances: 1, memory: 3MiB, engine: " + engine + "}")) {
            // 1 page, then 32 more; another 32 are beyond the limit of 48.
            assertEquals("wasm=null status=0 remove=null", proxy.get("/grow").body());
            assertEquals("wasm=null status=1 remove=null", proxy.get("/grow").body());
        }
        try (WasmProxy proxy = WasmProxy.start(
                directory, "{module: filter.wasm, instances: 1, memory: 64KiB, engine: " + engine + "}")) {
            assertEquals("wasm=null status=1 remove=null", proxy.get("/grow").body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void trapsRefuseTheRequestOnly(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            for (String path : List.of("/trap", "/outside", "/stack", "/pause")) {
                assertEquals(503, proxy.get(path).statusCode(), path);
                assertEquals(200, proxy.get("/x").statusCode(), path);
            }
            assertEquals(4, proxy.failures("request_received", "exception"));
        }
    }

    @Test
    void theCircuitBreakerOpensAfterManyFailures() throws Exception {
        try (WasmProxy proxy = start("interpreter")) {
            for (int i = 0; i < 20; i++) {
                assertEquals(503, proxy.get("/trap").statusCode());
            }
            assertEquals(503, proxy.get("/x").statusCode());
            assertEquals(1, proxy.failures("request_received", "circuit_open"));
        }
    }

    @Test
    void onErrorOpenPassesTheRequest() throws Exception {
        try (WasmProxy proxy = WasmProxy.start(
                directory, ProxyWasmExtension.class, ", on_error: open", "{module: filter.wasm, deadline: 20ms}")) {
            assertEquals("wasm=null status=null remove=null", proxy.get("/trap").body());
            assertEquals("wasm=null status=null remove=null", proxy.get("/loop").body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void hostFunctionsReportTheirStatus(String engine) throws Exception {
        try (WasmProxy proxy = start(engine)) {
            assertEquals("wasm=null status=2 remove=null", proxy.get("/callout").body(), "no such upstream");
            assertEquals("wasm=null status=6 remove=null", proxy.get("/memory").body(), "an invalid address");
            assertEquals("wasm=null status=12 remove=null", proxy.get("/host").body(), "a pseudo field");
        }
    }

    @Test
    void aHitIsSeenByTheModule() throws Exception {
        WasmProxy.copy("response.wasm", directory.resolve("filter.wasm"));
        try (WasmProxy proxy = WasmProxy.start(directory, "{module: filter.wasm, configuration: x}")) {
            assertEquals(200, proxy.get("/cached").statusCode());
            assertEquals(200, proxy.get("/cached").statusCode());
            assertEquals(List.of("/cached"), proxy.asked);
            assertEquals(2, proxy.counter("served"));
        }
    }

    @Test
    void aChangedFileIsLoadedWithoutAGap() throws Exception {
        try (WasmProxy proxy =
                WasmProxy.start(directory, "{module: filter.wasm, instances: 2, reload_interval: 50ms}")) {
            assertEquals("wasm=hello status=null remove=null", proxy.get("/x").body());
            WasmProxy.copy("later.wasm", directory.resolve("filter.wasm"));
            Awaitility.await().until(() -> {
                HttpResponse<String> response = proxy.get("/x");
                assertEquals(200, response.statusCode());
                return response.body().startsWith("wasm=later");
            });
            // A file that is no module changes nothing; the next good one is loaded.
            Files.writeString(directory.resolve("filter.wasm"), "no module");
            for (int i = 0; i < 20; i++) {
                assertEquals(
                        "wasm=later status=null remove=null", proxy.get("/x").body());
            }
            WasmProxy.copy("request.wasm", directory.resolve("filter.wasm"));
            Awaitility.await().until(() -> proxy.get("/x").body().startsWith("wasm=hello"));
        }
    }

    @Test
    void threadsEndWithTheProxy() throws Exception {
        try (WasmProxy proxy = start("interpreter")) {
            assertEquals(200, proxy.get("/x").statusCode());
            assertTrue(threads() > 0);
        }
        Awaitility.await().until(() -> threads() == 0);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith("millrace-wasm-"))
                .count();
    }
}
