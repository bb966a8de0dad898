package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests callbacks for responses, properties, metrics, shared data and timers. */
class ResponseFilterTest {
    @TempDir
    Path directory;

    @BeforeEach
    void copyModule() throws Exception {
        WasmProxy.copy("response.wasm", directory.resolve("filter.wasm"));
    }

    private static String field(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Test
    void deliveredResponsesGetFieldsOfTheModule() throws Exception {
        try (WasmProxy proxy = WasmProxy.start(directory, "{module: filter.wasm, configuration: blue}")) {
            HttpResponse<String> miss = proxy.get("/cached?a=1");
            assertEquals("blue", field(miss, "x-config"));
            assertEquals("/cached?a=1", field(miss, "x-path"));
            assertEquals("kept", field(miss, "x-note"), "a property of the request's callback");
            assertEquals("uri-miss", field(miss, "x-result"));
            assertEquals("hit", field(proxy.get("/cached?a=1"), "x-result"));
            assertEquals(List.of("/cached"), proxy.asked);
        }
    }

    @Test
    void metricsAndTicksAreCounted() throws Exception {
        try (WasmProxy proxy = WasmProxy.start(directory, "{module: filter.wasm, instances: 1, configuration: x}")) {
            for (int i = 0; i < 3; i++) {
                assertEquals(200, proxy.get("/x").statusCode());
            }
            assertEquals(3, proxy.counter("served"));
            assertEquals(3, proxy.counter("sizes_count"));
            assertEquals(120, proxy.counter("sizes_sum"));
            Awaitility.await().until(() -> proxy.counter("ticks") >= 2);
        }
    }

    @Test
    void anEndlessLoopEndsAtTheLimitOfInstructions() throws Exception {
        try (WasmProxy proxy = WasmProxy.start(directory, "{module: filter.wasm, configuration: x}")) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> cut = proxy.get("/loop");
                assertEquals(200, cut.statusCode());
                assertEquals("", field(cut, "x-config"), "the head is sent without changes");
                assertEquals("x", field(proxy.get("/x"), "x-config"));
            }
            assertEquals(3, proxy.failures("deliver", "exception"));
        }
    }

    @Test
    void responsesOfTheOriginAreStoredWithTheChanges() throws Exception {
        try (WasmProxy proxy = WasmProxy.start(
                directory, ProxyWasmOriginExtension.class, "", "{module: filter.wasm, configuration: stored}")) {
            HttpResponse<String> miss = proxy.get("/cached");
            assertEquals("stored", field(miss, "x-config"));
            assertEquals("", field(miss, "x-path"), "no client's request");
            assertTrue(field(miss, "x-url").endsWith("/cached"), field(miss, "x-url"));
            assertEquals("stored", field(proxy.get("/cached"), "x-config"));
            assertEquals(List.of("/cached"), proxy.asked);
            assertEquals(1, proxy.counter("served"), "the module does not see hits");
        }
    }

    @Test
    void requestsToTheOriginGetFields() throws Exception {
        WasmProxy.copy("request.wasm", directory.resolve("filter.wasm"));
        try (WasmProxy proxy =
                WasmProxy.start(directory, ProxyWasmOriginExtension.class, "", "{module: filter.wasm}")) {
            assertEquals(
                    "wasm=hello status=null remove=null",
                    proxy.get("/x", "X-Remove", "secret").body());
            assertEquals("wasm=null status=null remove=null", proxy.get("/deny").body(), "an answer is not possible");
            assertEquals("wasm=null status=null remove=null", proxy.get("/loop").body(), "open by default");
        }
    }
}
