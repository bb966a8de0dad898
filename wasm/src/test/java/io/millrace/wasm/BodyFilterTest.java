package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import io.millrace.proxy.extension.Hook;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
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

/**
 * Tests callbacks for contents of responses. The first directory of the path is the mode of the module, the second one
 * chooses the response of the origin.
 */
class BodyFilterTest {
    private static final String CONTENT = "content";

    @TempDir
    Path directory;

    /** Responses with several pieces send the second one after this. */
    private final CountDownLatch second = new CountDownLatch(1);

    private final ExecutorService clients = Executors.newCachedThreadPool();

    @BeforeEach
    void copyModule() throws Exception {
        WasmProxy.copy("body.wasm", directory.resolve("filter.wasm"));
    }

    @AfterEach
    void stop() {
        second.countDown();
        clients.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String[] path = exchange.getRequestURI().getPath().split("/", -1);
        exchange.getResponseHeaders().set("X-Mode", path[1]);
        exchange.getResponseHeaders().set("ETag", "\"e\"");
        exchange.getResponseHeaders().set("Cache-Control", "max-age=600");
        assertEquals(List.of("identity"), exchange.getRequestHeaders().get("Accept-Encoding"));
        assertEquals(null, exchange.getRequestHeaders().get("Range"));
        switch (path[2]) {
            case "pieces" -> {
                exchange.sendResponseHeaders(200, 0);
                OutputStream out = exchange.getResponseBody();
                out.write("first,".getBytes(UTF_8));
                out.flush();
                await(second);
                out.write("second,".getBytes(UTF_8));
                out.flush();
                out.write("third".getBytes(UTF_8));
            }
            case "long" -> send(exchange, 200, CONTENT.repeat(30_000));
            case "empty" -> exchange.sendResponseHeaders(200, -1);
            case "encoded" -> {
                exchange.getResponseHeaders().set("Content-Encoding", "br");
                send(exchange, 200, CONTENT);
            }
            case "error" -> send(exchange, 404, CONTENT);
            case "validated" -> {
                exchange.getResponseHeaders().set("Cache-Control", "no-cache");
                String condition = exchange.getRequestHeaders().getFirst("If-None-Match");
                if (condition == null) {
                    send(exchange, 200, CONTENT);
                } else {
                    exchange.sendResponseHeaders(304, -1);
                }
            }
            default -> send(exchange, 200, CONTENT);
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, isHead ? -1 : text.length());
        if (!isHead) {
            exchange.getResponseBody().write(text.getBytes(UTF_8));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Starts a proxy with deadlines that a busy machine does not exceed. */
    private WasmProxy proxy(String entry, String keys) throws Exception {
        return WasmProxy.start(
                directory,
                ProxyWasmBodyExtension.class,
                ", deadline: 1m" + entry,
                "{module: filter.wasm, instances: 1, deadline: 5s" + keys + "}",
                this::answer);
    }

    private CompletableFuture<HttpResponse<String>> later(WasmProxy proxy, String path) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return proxy.get(path);
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                clients);
    }

    /** Waits until the proxy has stored a response, which then answers without the origin. */
    private static HttpResponse<String> stored(WasmProxy proxy, String path) throws Exception {
        Awaitility.await()
                .until(() ->
                        proxy.get(path).headers().firstValue("content-length").isPresent());
        return proxy.get(path);
    }

    private static String field(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "interpreter | r/whole | replaced",
                "compiler | r/whole | replaced",
                "interpreter | e/whole | contentcontent",
                "compiler | e/whole | contentcontent",
                "interpreter | h/whole | content",
                "interpreter | p/whole | <content<",
                "interpreter | a/whole | content>",
                "interpreter | m/whole | c[..]ntent",
                "interpreter | d/whole | ''",
                "interpreter | s/whole | contentkept",
                "interpreter | f/whole | contentf",
                "interpreter | g/whole | J",
                "interpreter | z/whole | content",
                "interpreter | a/empty | ''",
            })
    void changedContentIsStored(String engine, String path, String expected) throws Exception {
        try (WasmProxy proxy = proxy("", ", engine: " + engine)) {
            HttpResponse<String> miss = proxy.get("/" + path);
            assertEquals(expected, miss.body());
            assertEquals("W/\"e\"", field(miss, "etag"));
            assertEquals("kept", field(miss, "x-fields"));
            HttpResponse<String> hit = stored(proxy, "/" + path);
            assertEquals(expected, hit.body());
            assertEquals("W/\"e\"", field(hit, "etag"));
            assertEquals(String.valueOf(expected.length()), field(hit, "content-length"));
            if (expected.length() > 4) {
                HttpResponse<String> part = proxy.get("/" + path, "Range", "bytes=1-3");
                assertEquals(206, part.statusCode());
                assertEquals(expected.substring(1, 4), part.body());
            }
            assertEquals(304, proxy.get("/" + path, "If-None-Match", "W/\"e\"").statusCode());
            assertEquals(List.of("/" + path), proxy.asked);
            assertEquals(0, proxy.failures("body_transform", "exception"));
        }
    }

    @ParameterizedTest
    @CsvSource({"r, replaced", "e, 'first,second,thirdfirst,second,third'", "a, 'first,second,third>'"})
    void contentInPiecesIsChanged(String mode, String expected) throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            CompletableFuture<HttpResponse<String>> response = later(proxy, "/" + mode + "/pieces");
            Awaitility.await().until(() -> proxy.counter("pieces") == 1);
            second.countDown();
            assertEquals(expected, response.join().body());
            assertEquals(expected, stored(proxy, "/" + mode + "/pieces").body());
            assertEquals(1, proxy.asked.size());
            // One for the fields, on an event loop, and one for the content.
            Awaitility.await().until(() -> proxy.counter("ended") == 2);
        }
    }

    @Test
    void longContentIsHeldBack() throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            assertEquals(
                    CONTENT.repeat(60_000),
                    proxy.get("/e/long", "Range", "bytes=0-1000000").body());
            assertEquals(CONTENT.repeat(60_000), proxy.get("/e/long").body());
        }
    }

    @Test
    void responsesWithoutContentForTheModuleStayAsTheyAre() throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            HttpResponse<String> encoded = proxy.get("/a/encoded");
            assertEquals(CONTENT, encoded.body());
            assertEquals("\"e\"", field(encoded, "etag"));
            assertEquals("kept", field(encoded, "x-fields"));
            HttpResponse<String> head = proxy.head("/a/whole");
            assertEquals(200, head.statusCode());
            assertEquals("W/\"e\"", field(head, "etag"));
            assertEquals(0, Math.max(0, proxy.counter("pieces")));
            assertEquals("content>", proxy.get("/a/error").body(), "as other statuses");
        }
    }

    @Test
    void validatedContentStaysChanged() throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            assertEquals("content>", proxy.get("/a/validated").body());
            Awaitility.await().until(() -> proxy.counter("ended") == 2);
            long pieces = proxy.counter("pieces");
            HttpResponse<String> validated = proxy.get("/a/validated");
            assertEquals("content>", validated.body());
            assertEquals("W/\"e\"", field(validated, "etag"));
            assertEquals(2, proxy.asked.size());
            assertEquals(pieces, proxy.counter("pieces"), "a 304 has no content");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "t, '', exception",
        "l, ', deadline: 50ms', exception",
        "n, '', exception",
    })
    void aFailureWithinTheContentStoresNothing(String mode, String keys, String reason) throws Exception {
        try (WasmProxy proxy = WasmProxy.start(
                directory,
                ProxyWasmBodyExtension.class,
                "",
                "{module: filter.wasm, instances: 1" + keys + "}",
                this::answer)) {
            for (int i = 1; i <= 2; i++) {
                assertThrows(IOException.class, () -> proxy.get("/" + mode + "/long"));
                assertEquals(i, proxy.asked.size());
            }
            assertEquals(2, proxy.failures("body_transform", reason));
            assertEquals("content>", proxy.get("/a/whole").body(), "a new instance");
        }
    }

    @Test
    void contentBeyondTheLimitIsPassedOnAndNotStored() throws Exception {
        try (WasmProxy proxy = proxy("", ", body_limit: 1KiB")) {
            for (int i = 1; i <= 2; i++) {
                assertEquals(CONTENT.repeat(30_000), proxy.get("/h/long").body());
                assertEquals(i, proxy.asked.size());
            }
            assertEquals(2, proxy.failures("body_transform", "limit"));
            assertEquals("<" + CONTENT, proxy.get("/p/whole").body().substring(0, 8), "within the limit");
            // Fields of three responses, and two contents that were given up.
            Awaitility.await().until(() -> proxy.counter("ended") == 6);
        }
    }

    @Test
    void contentWithinTheLimitForPiecesThatAreNotHeldBack() throws Exception {
        try (WasmProxy proxy = proxy("", ", body_limit: 1")) {
            assertEquals(CONTENT.repeat(30_000) + ">", proxy.get("/a/long").body());
            assertEquals(CONTENT.repeat(30_000) + ">", proxy.get("/a/long").body());
            assertEquals(1, proxy.asked.size());
        }
    }

    @ParameterizedTest
    @CsvSource({"h, ', on_error: closed', limit", "x, ', on_error: open', exception"})
    void contentBeyondTheLimitEndsTheResponse(String mode, String entry, String reason) throws Exception {
        try (WasmProxy proxy = proxy(entry, ", body_limit: 1")) {
            CompletableFuture<HttpResponse<String>> response = later(proxy, "/" + mode + "/pieces");
            Awaitility.await().until(() -> proxy.counter("pieces") == 1);
            second.countDown();
            assertThrows(CompletionException.class, response::join);
            assertEquals(1, proxy.failures("body_transform", reason));
        }
    }

    @Test
    void theEndOfTheContentMayWaitForACall() throws Exception {
        try (CalloutServer server = new CalloutServer();
                WasmProxy proxy = proxy("", ", " + server.key())) {
            assertEquals("contentcalled", proxy.get("/c/whole").body());
            assertEquals("contentcalled", stored(proxy, "/c/whole").body());
            assertEquals(1, server.requests.size());
        }
    }

    @Test
    void aCallMayReleaseContentBetweenPieces() throws Exception {
        try (CalloutServer server = new CalloutServer();
                WasmProxy proxy = proxy("", ", " + server.key())) {
            CompletableFuture<HttpResponse<String>> response = later(proxy, "/q/pieces");
            Awaitility.await().until(() -> proxy.counter("answered") == 1);
            second.countDown();
            assertEquals("first,calledsecond,third", response.join().body());
        }
    }

    @Test
    void theContextEndsWithTheClient() throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                client.getOutputStream()
                        .write("GET /h/pieces HTTP/1.1\r\nHost: a\r\nCache-Control: no-store\r\n\r\n".getBytes(UTF_8));
                Awaitility.await().until(() -> proxy.counter("pieces") == 1);
                assertEquals(1, proxy.counter("ended"), "that of the fields");
                client.setSoLinger(true, 0);
            }
            Awaitility.await().until(() -> proxy.counter("ended") == 2);
        }
    }

    @Test
    void aFailureOfTheInstanceFailsItsOpenContents() throws Exception {
        try (WasmProxy proxy = proxy("", "")) {
            List<CompletableFuture<HttpResponse<String>>> open = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                open.add(later(proxy, "/h/pieces/" + i));
            }
            Awaitility.await().until(() -> proxy.counter("pieces") == 3);
            assertThrows(IOException.class, () -> proxy.get("/t/whole"));
            second.countDown();
            for (CompletableFuture<HttpResponse<String>> each : open) {
                assertThrows(CompletionException.class, each::join);
            }
            assertEquals(4, proxy.failures("body_transform", "exception"));
        }
    }

    /** The names that {@code millctl extension list} prints. */
    @Test
    void theHooksAreNamed() {
        assertEquals(
                List.of("origin_request", "origin_response", "body_transform"),
                Hook.of(new ProxyWasmBodyExtension()).stream().map(Hook::label).toList());
        assertEquals(
                List.of("origin_request", "origin_response"),
                Hook.of(new ProxyWasmOriginExtension()).stream()
                        .map(Hook::label)
                        .toList());
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith("millrace-wasm-filter"))
                .count();
    }

    @Test
    void openContentsContinueInTheOldModule() throws Exception {
        try (WasmProxy proxy = proxy("", ", reload_interval: 50ms")) {
            CompletableFuture<HttpResponse<String>> response = later(proxy, "/r/pieces");
            Awaitility.await().until(() -> proxy.counter("pieces") == 1);
            ByteArrayOutputStream changed = new ByteArrayOutputStream();
            changed.write(WasmProxy.bytes("body.wasm"));
            // An empty custom section.
            changed.write(new byte[] {0, 2, 1, 'x'});
            Files.write(directory.resolve("filter.wasm"), changed.toByteArray());
            Awaitility.await().until(() -> threads() == 2);
            second.countDown();
            assertEquals("replaced", response.join().body());
            Awaitility.await().until(() -> threads() == 1);
        }
        Awaitility.await().until(() -> threads() == 0);
    }

    @ParameterizedTest
    @ValueSource(classes = {ProxyWasmExtension.class, ProxyWasmOriginExtension.class})
    void otherClassesLeaveTheContent(Class<?> extension) throws Exception {
        try (WasmProxy proxy = WasmProxy.start(
                directory, extension, "", "{module: filter.wasm}", exchange -> send(exchange, 200, CONTENT))) {
            assertEquals(CONTENT, proxy.get("/a").body());
            assertTrue(proxy.counter("pieces") <= 0);
        }
    }
}
