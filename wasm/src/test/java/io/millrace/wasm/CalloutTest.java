package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests HTTP calls of modules, and requests that are paused for them. */
class CalloutTest {
    @TempDir
    Path directory;

    private CalloutServer server;
    private final ExecutorService clients = Executors.newCachedThreadPool();

    @BeforeEach
    void start() throws Exception {
        WasmProxy.copy("callout.wasm", directory.resolve("filter.wasm"));
        server = new CalloutServer();
    }

    @AfterEach
    void stop() {
        server.close();
        clients.shutdownNow();
    }

    private WasmProxy proxy(String keys) throws Exception {
        // Deadlines that a busy machine does not exceed.
        String config = "{module: filter.wasm, deadline: 2s, " + server.key() + keys + "}";
        return WasmProxy.start(directory, ProxyWasmExtension.class, ", deadline: 1m", config);
    }

    private CompletableFuture<HttpResponse<String>> later(WasmProxy proxy, String path) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return proxy.get(path);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                clients);
    }

    private void awaitCalls(int count) {
        Awaitility.await().until(() -> server.requests.size() == count);
    }

    private static long threads(String name) {
        return alive(name).size();
    }

    private static List<Thread> alive(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith(name))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"interpreter", "compiler"})
    void aPausedRequestContinuesWithTheResult(String engine) throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, engine: " + engine)) {
            assertEquals(
                    "wasm=ok/a?b=1 status=200 remove=null", proxy.get("/a?b=1").body());
            assertEquals("wasm=ok/a status=200 remove=null", proxy.get("/a").body());
            assertEquals(List.of("POST /a?b=1 ask secret null", "POST /a ask secret null"), server.requests);
            assertEquals(2, proxy.counter("callouts"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/a-403 | 403 | denied by the service",
                "/a-401 | 403 | denied by the service",
                "/a-302 | 200 | wasm=ok/a-302 status=302 remove=null",
                "/a-close | 502 | the service has failed",
                "/a-cut | 502 | the service has failed",
                "/a-long | 502 | the service has failed",
                "/w-hang | 502 | the service has failed",
                "/s-several | 200 | wasm=ok/s-several status=200 remove=null",
                "/o-hang | 403 | denied by the service",
                "/f-hang | 200 | wasm=null status=null remove=null",
                "/unknown | 200 | wasm=null status=2 remove=null",
                "/missing | 200 | wasm=null status=2 remove=null",
            })
    void eachResultLeadsToADecision(String path, int status, String body) throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1")) {
            HttpResponse<String> response = proxy.get(path);
            assertEquals(status, response.statusCode());
            assertEquals(body, response.body());
            assertEquals("wasm=ok/a status=200 remove=null", proxy.get("/a").body(), "the next request");
            assertEquals(0, proxy.failures("request_received", "exception"));
        }
    }

    @Test
    void aRefusedConnectionIsAFailedCall() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        String config = "{module: filter.wasm, deadline: 2s, callouts: {auth: 'http://127.0.0.1:" + port + "/'}}";
        try (WasmProxy proxy = WasmProxy.start(directory, config)) {
            assertEquals(502, proxy.get("/a").statusCode());
            assertEquals(1, proxy.counter("callouts_failed"));
        }
    }

    @Test
    void aCallEndsAtTheLimitOfTheConfiguration() throws Exception {
        try (WasmProxy proxy = proxy(", callout_timeout: 100ms")) {
            assertEquals("the service has failed", proxy.get("/a-hang").body());
            assertEquals(1, proxy.counter("callouts_failed"));
        }
    }

    @Test
    void contentBeyondTheLimitIsAFailedCall() throws Exception {
        try (WasmProxy proxy = proxy(", callout_body: 3")) {
            assertEquals("the service has failed", proxy.get("/a").body());
        }
        try (WasmProxy proxy = proxy(", callout_body: 2")) {
            assertEquals("wasm=null status=2 remove=null", proxy.get("/a").body(), "content of the call");
        }
    }

    /** The module waits for twenty calls, four of which are refused. All have a result. */
    @Test
    void callsBeyondTheLimitOfARequestAreRefused() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1")) {
            CompletableFuture<HttpResponse<String>> response = later(proxy, "/n-hang");
            awaitCalls(16);
            Awaitility.await().until(() -> proxy.counter("answered") == 4);
            server.release();
            assertEquals(
                    "wasm=ok/n-hang status=200 remove=null", response.join().body());
            assertEquals(20, proxy.counter("answered"));
            assertEquals(20, proxy.counter("callouts"));
            assertEquals(4, proxy.counter("callouts_failed"));
            assertEquals(16, server.requests.size());
        }
    }

    /** One instance has the contexts of all requests. The limit of open calls refuses those beyond it. */
    @Test
    void manyRequestsArePausedInOneInstance() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, callout_timeout: 1m")) {
            List<CompletableFuture<HttpResponse<String>>> paused = new ArrayList<>();
            for (int i = 0; i < 256; i++) {
                paused.add(later(proxy, "/a-hang-" + i));
            }
            awaitCalls(256);
            assertEquals(502, proxy.get("/a-more").statusCode());
            assertEquals("wasm=null status=2 remove=null", proxy.get("/unknown").body(), "the instance is not blocked");
            server.release();
            for (int i = 0; i < paused.size(); i++) {
                assertEquals(
                        "wasm=ok/a-hang-" + i + " status=200 remove=null",
                        paused.get(i).join().body());
            }
            assertEquals("wasm=ok/a status=200 remove=null", proxy.get("/a").body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/x", "/t", "/l"})
    void aFailureOfTheInstanceFailsItsPausedRequests(String path) throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1")) {
            List<CompletableFuture<HttpResponse<String>>> paused = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                paused.add(later(proxy, "/a-hang"));
            }
            awaitCalls(5);
            assertEquals(503, proxy.get(path).statusCode());
            for (CompletableFuture<HttpResponse<String>> each : paused) {
                assertEquals(503, each.join().statusCode());
            }
            assertEquals(6, proxy.failures("request_received", "exception"));
            assertEquals("wasm=ok/a status=200 remove=null", proxy.get("/a").body());
        }
    }

    @Test
    void aRequestThatIsNeverResumedFails() throws Exception {
        try (WasmProxy proxy = proxy(", callout_timeout: 50ms")) {
            assertEquals(503, proxy.get("/pause").statusCode());
            assertEquals(1, proxy.failures("request_received", "exception"));
            assertEquals("wasm=null status=2 remove=null", proxy.get("/unknown").body(), "the instance stays");
        }
    }

    @Test
    void theContextOfAClientThatLeavesEnds() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, callout_timeout: 1m")) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                client.getOutputStream().write("GET /a-hang HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
                awaitCalls(1);
                assertEquals(0, proxy.counter("ended"));
                // A reset: the end of the requests alone is not the end of the connection.
                client.setSoLinger(true, 0);
            }
            Awaitility.await().until(() -> proxy.counter("ended") == 1);
            assertEquals(0, proxy.failures("request_received", "exception"));
        }
    }

    @Test
    void theEndOfARequestMayResumeAnother() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, callout_timeout: 1m")) {
            CompletableFuture<HttpResponse<String>> paused = later(proxy, "/a-hang");
            awaitCalls(1);
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                client.getOutputStream().write("GET /z HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
                Awaitility.await().until(() -> proxy.counter("ticked") == 1);
                client.setSoLinger(true, 0);
            }
            assertEquals("wasm=null status=null remove=null", paused.join().body());
        }
    }

    /** Otherwise clients that leave use up the open calls of the extension. */
    @Test
    void theCallsOfAClientThatLeavesEnd() throws Exception {
        try (ServerSocket service = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String config =
                    "{module: filter.wasm, deadline: 2s, instances: 1, callout_timeout: 1m, callouts: {auth: 'http://127.0.0.1:"
                            + service.getLocalPort() + "'}}";
            try (WasmProxy proxy = WasmProxy.start(directory, ProxyWasmExtension.class, ", deadline: 1m", config)) {
                Socket call;
                try (Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                    client.getOutputStream().write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
                    service.setSoTimeout(20_000);
                    call = service.accept();
                    call.setSoTimeout(20_000);
                    assertTrue(call.getInputStream().read() > 0, "the call has begun");
                    client.setSoLinger(true, 0);
                }
                try (call) {
                    // The call ends with its connection: otherwise this is a timeout.
                    assertTrue(call.getInputStream().readAllBytes().length > 0);
                }
                Awaitility.await().until(() -> proxy.counter("answered") == 1);
                assertEquals(1, proxy.counter("callouts_failed"));
            }
        }
    }

    @Test
    void pausedRequestsSurviveAReload() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, reload_interval: 50ms, callout_timeout: 1m")) {
            CompletableFuture<HttpResponse<String>> paused = later(proxy, "/a-hang");
            awaitCalls(1);
            WasmProxy.copy("later.wasm", directory.resolve("filter.wasm"));
            Awaitility.await().until(() -> proxy.get("/unknown").body().startsWith("wasm=later"));
            server.release();
            assertEquals("wasm=ok/a-hang status=200 remove=null", paused.join().body());
            Awaitility.await().until(() -> threads("millrace-wasm-filter") == 1);
        }
    }

    @Test
    void timersSendCalls() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, configuration: timer")) {
            Awaitility.await().until(() -> proxy.counter("answered") >= 2);
            assertTrue(server.requests.contains("POST /k ask secret null"), server.requests::toString);
        }
    }

    /** The service never answers, so that a call of the old module stays open. */
    @Test
    void aReplacedModuleWithATimerWaitsForItsCalls() throws Exception {
        try (ServerSocket service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String config = "{module: filter.wasm, deadline: 2s, instances: 1, configuration: timer, "
                    + "reload_interval: 50ms, "
                    + "callout_timeout: 1m, callouts: {auth: 'http://127.0.0.1:" + service.getLocalPort() + "'}}";
            try (WasmProxy proxy = WasmProxy.start(directory, config)) {
                Thread old = alive("millrace-wasm-filter").get(0);
                Awaitility.await().until(() -> proxy.counter("callouts") > 0);
                // The same module with an empty custom section.
                ByteArrayOutputStream changed = new ByteArrayOutputStream();
                changed.write(WasmProxy.bytes("callout.wasm"));
                changed.write(new byte[] {0, 2, 1, 'x'});
                Files.write(directory.resolve("filter.wasm"), changed.toByteArray());
                Awaitility.await().until(() -> threads("millrace-wasm-filter") == 2);
                // Both have the same period: the time of the next tick of the old module has passed.
                long before = proxy.counter("ticked");
                Awaitility.await().until(() -> proxy.counter("ticked") >= before + 5);
                Awaitility.await().until(() -> old.getState() == Thread.State.TIMED_WAITING);
                assertEquals(2, threads("millrace-wasm-filter"));
            }
        }
    }

    @Test
    void timersContinueAfterAFailure() throws Exception {
        try (WasmProxy proxy = proxy(", instances: 1, configuration: timer")) {
            assertEquals(503, proxy.get("/x").statusCode());
            long before = proxy.counter("ticked");
            Awaitility.await().until(() -> proxy.counter("ticked") > before);
        }
    }

    @Test
    void theClassForOriginsWaitsToo() throws Exception {
        String config = "{module: filter.wasm, deadline: 2s, " + server.key() + "}";
        try (WasmProxy proxy = WasmProxy.start(directory, ProxyWasmOriginExtension.class, "", config)) {
            assertEquals(
                    "wasm=ok/cached status=200 remove=null",
                    proxy.get("/cached").body());
            assertEquals(
                    "wasm=ok/cached status=200 remove=null",
                    proxy.get("/cached").body());
            assertEquals(List.of("POST /cached ask secret null"), server.requests, "not for hits");
        }
    }

    /** A paused request fails, and no thread stays. */
    @Test
    void threadsEndWithTheProxy() throws Exception {
        CompletableFuture<HttpResponse<String>> paused;
        try (WasmProxy proxy = proxy(", callout_timeout: 1m")) {
            paused = later(proxy, "/a-hang");
            awaitCalls(1);
        }
        paused.handle((response, fault) -> null).join();
        Awaitility.await().until(() -> threads("millrace-wasm-") == 0);
    }
}
