package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The admin server over real Unix domain sockets. */
class AdminServerTest {
    private static final AdminReply OK = AdminReply.json(json -> json.writeBooleanProperty("ok", true));

    @TempDir
    Path directory;

    private final List<AdminServer> servers = new ArrayList<>();
    private Path socket;

    static List<AdminTransport> transports() {
        return Epoll.isAvailable() ? List.of(AdminTransport.values()) : List.of(AdminTransport.NIO);
    }

    @BeforeEach
    void nameSocket() {
        socket = directory.resolve("admin.sock");
    }

    @AfterEach
    void closeServers() {
        servers.forEach(AdminServer::close);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void answersOnASocketOfItsOwnerAndGroup(AdminTransport transport) throws IOException {
        start(AdminServer.builder().transport(transport).unixSocket(socket).resource(get("/ok", OK)));

        Response response = HttpExchange.get(socket, "/ok?x=y");
        assertEquals(200, response.status());
        assertEquals("{\"ok\":true}", response.body());
        assertEquals("application/json", response.fields().get("content-type"));
        assertEquals("no-store", response.fields().get("cache-control"));
        assertEquals("rw-rw----", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
        assertEquals(List.of(socket), files());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void keepsAConnectionOpenAndAnswersPipelinedRequestsInOrder(AdminTransport transport) throws IOException {
        BlockingQueue<AdminResponder> waiting = new LinkedBlockingQueue<>();
        start(AdminServer.builder()
                .transport(transport)
                .unixSocket(socket)
                .resource(resource("GET", "/later", false, (request, responder) -> waiting.add(responder)))
                .resource(get("/ok", OK)));

        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            exchange.send(request("/later") + request("/ok") + request("/none"));
            take(waiting).reply(AdminReply.json(json -> json.writeNumberProperty("n", 1)));
            assertEquals("{\"n\":1}", exchange.read().body());
            assertEquals("{\"ok\":true}", exchange.read().body());
            assertEquals(404, exchange.read().status());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void changesInProgressAreAwaited(boolean clientWaits) throws Exception {
        BlockingQueue<AdminResponder> changing = new LinkedBlockingQueue<>();
        AdminServer server = AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("POST", "/change", false, (request, responder) -> changing.add(responder)))
                .resource(get("/ok", OK))
                .start();
        servers.add(server);
        HttpExchange exchange = HttpExchange.connect(socket);
        try {
            exchange.send("POST /change HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            AdminResponder responder = take(changing);
            CompletableFuture<Void> none = server.whenNoChange().toCompletableFuture();
            assertEquals(200, HttpExchange.get(socket, "/ok").status());
            assertFalse(none.isDone());
            if (clientWaits) {
                responder.reply(OK);
                assertEquals(200, exchange.read().status());
            } else {
                exchange.close();
            }
            none.get(30, TimeUnit.SECONDS);
        } finally {
            exchange.close();
        }
        server.whenNoChange().toCompletableFuture().get(30, TimeUnit.SECONDS);
        server.close();
        server.whenNoChange().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    /** A viewer of the live log waits for the next line, perhaps for ever. */
    @Test
    void requestsThatOnlyReadAreNotAwaited() throws Exception {
        BlockingQueue<AdminResponder> reading = new LinkedBlockingQueue<>();
        AdminServer server = AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("GET", "/later", false, (request, responder) -> reading.add(responder)))
                .start();
        servers.add(server);
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            exchange.send(request("/later"));
            take(reading);
            server.whenNoChange().toCompletableFuture().get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aClientThatSendsTooFarAheadIsCutOff() throws IOException {
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("GET", "/never", false, (request, responder) -> {})));
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            exchange.send(request("/never").repeat(AdminConnection.MAX_PIPELINED + 2));
            assertTrue(exchange.isAtEnd());
        }
    }

    @Test
    void getNeverReachesAResourceThatChangesThings() throws IOException {
        List<String> handled = new ArrayList<>();
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("POST", "/change", false, (request, responder) -> {
                    handled.add(request.method());
                    responder.reply(OK);
                }))
                .resource(get("/look", OK)));

        Response refused = HttpExchange.get(socket, "/change");
        assertEquals(405, refused.status());
        assertEquals("POST", refused.fields().get("allow"));
        assertEquals(
                "{\"error\":{\"code\":\"method-not-allowed\",\"message\":\"GET is not allowed here, use POST\"}}",
                refused.body());
        assertEquals(List.of(), handled);
        assertEquals(
                "GET, HEAD", HttpExchange.post(socket, "/look", "").fields().get("allow"));
        assertEquals(200, HttpExchange.post(socket, "/change", "").status());
        assertEquals(List.of("POST"), handled);
    }

    @Test
    void listensAnewWhenTheSocketsFileWasDeleted() throws Exception {
        start(AdminServer.builder().unixSocket(socket).resource(get("/ok", OK)));
        try (WatchService watch = directory.getFileSystem().newWatchService()) {
            directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            Files.delete(socket);
            while (!Files.exists(socket)) {
                assertTrue(Objects.requireNonNull(watch.poll(30, TimeUnit.SECONDS), "nothing is made again")
                        .reset());
            }
        }
        assertEquals(200, HttpExchange.get(socket, "/ok").status());
    }

    @Test
    void headIsAnsweredLikeGetWithoutContent() throws IOException {
        start(AdminServer.builder().unixSocket(socket).resource(get("/ok", OK)));
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            Response head =
                    exchange.send("HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
            assertEquals(200, head.status());
            assertEquals("11", head.fields().get("content-length"));
            exchange.send(request("/ok"));
            assertEquals("{\"ok\":true}", exchange.read().body());
        }
    }

    @Test
    void unknownPathsAndMalformedRequestsGetTheErrorObject() throws IOException {
        start(AdminServer.builder().unixSocket(socket).resource(get("/ok", OK)));

        Response unknown = HttpExchange.get(socket, "/nothing");
        assertEquals(404, unknown.status());
        assertEquals(
                "{\"error\":{\"code\":\"not-found\",\"message\":\"there is no resource /nothing\"}}", unknown.body());
        assertEquals(404, HttpExchange.get(socket, "/ok%zz").status());
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            Response malformed =
                    exchange.send("GET /ok HTTP/1.1\r\nbad field\r\n\r\n").read();
            assertEquals(400, malformed.status());
            assertTrue(exchange.isAtEnd());
        }
    }

    @Test
    void aBodyOverTheLimitIsRefused() throws IOException {
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("POST", "/change", false, (request, responder) -> responder.reply(OK))));
        String fits = "x".repeat(AdminServer.MAX_BODY_BYTES);

        assertEquals(200, HttpExchange.post(socket, "/change", fits).status());
        for (String more : List.of("", "Expect: 100-continue\r\n")) {
            try (HttpExchange exchange = HttpExchange.connect(socket)) {
                exchange.send("POST /change HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n" + more + "\r\n");
                Response refused = exchange.read();
                assertEquals(413, refused.status());
                assertTrue(refused.body().startsWith("{\"error\":{\"code\":\"too-large\""), refused.body());
                assertTrue(exchange.isAtEnd());
            }
        }
    }

    @Test
    void aRequestThatIsNotWholeInTimeGivesItsConnectionBack() throws IOException {
        start(AdminServer.builder()
                .unixSocket(socket)
                .requestTime(Duration.ofMillis(1))
                .resource(resource("POST", "/change", false, (request, responder) -> responder.reply(OK))));
        for (String part : List.of("POST /chan", "POST /change HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")) {
            try (HttpExchange exchange = HttpExchange.connect(socket)) {
                Response refused = exchange.send(part).read();
                assertEquals(408, refused.status());
                assertTrue(refused.body().startsWith("{\"error\":{\"code\":\"too-slow\""), refused.body());
                assertTrue(exchange.isAtEnd());
            }
        }
    }

    @Test
    void theTimeOfARequestEndsWithItsLastByte() throws IOException {
        BlockingQueue<AdminResponder> waiting = new LinkedBlockingQueue<>();
        start(AdminServer.builder()
                .unixSocket(socket)
                .requestTime(Duration.ofMillis(100))
                .resource(resource("GET", "/later", false, (request, responder) -> waiting.add(responder)))
                .resource(get("/ok", OK)));
        try (HttpExchange exchange = HttpExchange.connect(socket);
                HttpExchange slow = HttpExchange.connect(socket)) {
            exchange.send(request("/later"));
            AdminResponder responder = take(waiting);
            // Begun afterwards, so that the time of the first would be over, too.
            assertEquals(408, slow.send("GET /o").read().status());
            responder.reply(OK);
            assertEquals(200, exchange.read().status());
            assertEquals(200, exchange.send(request("/ok")).read().status());
        }
    }

    @Test
    void aQueryIsReadAsAWholeOrNotAtAll() throws IOException {
        start(AdminServer.builder().unixSocket(socket).resource(resource("GET", "/ask", false, (request, responder) -> {
            String url = request.parameter("url");
            responder.reply(AdminReply.json(json -> json.writeStringProperty("url", url)));
        })));
        assertEquals(
                "{\"url\":\"http://a/b;c=d\"}",
                HttpExchange.get(socket, "/ask?url=http://a/b;c=d").body());
        Response broken = HttpExchange.get(socket, "/ask?url=%zz");
        assertEquals(400, broken.status());
        assertTrue(
                broken.body()
                        .contains("\"code\":\"bad-request\",\"message\":\"the query has an invalid percent-encoding"),
                broken.body());
        assertEquals(
                200, HttpExchange.get(socket, "/ask?url=1" + "&x=1".repeat(127)).status());
        Response many = HttpExchange.get(socket, "/ask?" + "x=1&".repeat(128) + "url=1");
        assertEquals(400, many.status());
        assertTrue(many.body().contains("more than 128 parameters"), many.body());
    }

    @Test
    void whatAResourceThrowsIsAnsweredAndTheConnectionLivesOn() throws IOException {
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("GET", "/no", false, (request, responder) -> {
                    throw new AdminException(409, "not-now", "later");
                }))
                .resource(resource("GET", "/bug", false, (request, responder) -> {
                    throw new IllegalStateException("a bug");
                })));
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            Response refused = exchange.send(request("/no")).read();
            assertEquals(409, refused.status());
            assertEquals("{\"error\":{\"code\":\"not-now\",\"message\":\"later\"}}", refused.body());
            Response failed = exchange.send(request("/bug")).read();
            assertEquals(500, failed.status());
            assertTrue(failed.body().contains("internal-error"), failed.body());
        }
    }

    @Test
    void aBlockingResourceDoesNotHoldUpTheOthers() throws IOException {
        CountDownLatch release = new CountDownLatch(1);
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("POST", "/slow", true, (request, responder) -> {
                    awaitUninterruptibly(release);
                    responder.reply(OK);
                }))
                .resource(get("/ok", OK)));
        try (HttpExchange slow = HttpExchange.connect(socket)) {
            slow.send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            assertEquals(200, HttpExchange.get(socket, "/ok").status());
            release.countDown();
            assertEquals(200, slow.read().status());
        }
    }

    @Test
    void blockingRequestsBeyondTheQueueAreRefused() throws IOException {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch started = new CountDownLatch(1);
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("POST", "/slow", true, (request, responder) -> {
                    started.countDown();
                    awaitUninterruptibly(release);
                    responder.reply(OK);
                })));
        String request = "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
        List<HttpExchange> exchanges = new ArrayList<>();
        try {
            for (int i = 0; i < 20; i++) {
                exchanges.add(HttpExchange.connect(socket).send(request));
                awaitUninterruptibly(started);
            }
            release.countDown();
            int refused = 0;
            for (HttpExchange exchange : exchanges) {
                refused += exchange.read().status() == 503 ? 1 : 0;
            }
            assertTrue(refused <= 3, "refused " + refused);
        } finally {
            for (HttpExchange exchange : exchanges) {
                exchange.close();
            }
        }
    }

    @Test
    void anAnswerThatDoesNotComeInTimeIsA504() throws IOException {
        start(AdminServer.builder().unixSocket(socket).resource(new AdminResource() {
            @Override
            public String method() {
                return "GET";
            }

            @Override
            public String path() {
                return "/never";
            }

            @Override
            public Duration timeout() {
                return Duration.ofMillis(1);
            }

            @Override
            public void handle(AdminRequest request, AdminResponder responder) {
                // the client waits in vain
            }
        }));
        assertEquals(504, HttpExchange.get(socket, "/never").status());
    }

    @Test
    void onlyTheFirstAnswerCounts() throws IOException {
        start(AdminServer.builder()
                .unixSocket(socket)
                .resource(resource("GET", "/twice", false, (request, responder) -> {
                    responder.reply(OK);
                    responder.reply(AdminReply.error(500, "second", "second"));
                })));
        try (HttpExchange exchange = HttpExchange.connect(socket)) {
            assertEquals(200, exchange.send(request("/twice")).read().status());
            assertEquals(200, exchange.send(request("/twice")).read().status());
        }
    }

    @Test
    void refusesConnectionsBeyondItsLimitAndTakesNewOnesAfterwards() throws IOException {
        start(AdminServer.builder().unixSocket(socket).resource(get("/ok", OK)));
        List<HttpExchange> open = new ArrayList<>();
        try {
            for (int i = 0; i < AdminPipeline.MAX_CONNECTIONS; i++) {
                HttpExchange exchange = HttpExchange.connect(socket);
                open.add(exchange);
                assertEquals(200, exchange.send(request("/ok")).read().status());
            }
            try (HttpExchange oneMore = HttpExchange.connect(socket)) {
                assertTrue(oneMore.isAtEnd());
            }
            try (HttpExchange last = open.remove(0)) {
                last.send("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                assertEquals("close", last.read().fields().get("connection"));
                assertTrue(last.isAtEnd());
            }
            assertEquals(200, HttpExchange.get(socket, "/ok").status());
        } finally {
            for (HttpExchange exchange : open) {
                exchange.close();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void replacesASocketFileThatADeadProcessLeftBehind(AdminTransport transport) throws IOException {
        Path elsewhere = directory.resolve("elsewhere.sock");
        start(AdminServer.builder().transport(transport).unixSocket(elsewhere));
        Files.move(elsewhere, socket);
        servers.remove(0).close();
        assertTrue(Files.exists(socket), "a file without a listener");

        start(AdminServer.builder().transport(transport).unixSocket(socket).resource(get("/ok", OK)));
        assertEquals(200, HttpExchange.get(socket, "/ok").status());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void doesNotReplaceASocketOnWhichSomebodyAnswers(AdminTransport transport) throws IOException {
        start(AdminServer.builder().transport(transport).unixSocket(socket).resource(get("/ok", OK)));

        IOException refused = assertThrows(IOException.class, () -> AdminServer.builder()
                .transport(transport)
                .unixSocket(socket)
                .start());
        assertTrue(refused.getMessage().contains("another process listens"), refused.getMessage());
        assertEquals(200, HttpExchange.get(socket, "/ok").status());
        assertEquals(List.of(socket), files());
    }

    @Test
    void doesNotReplaceAFileThatIsNoSocket() throws IOException {
        Files.writeString(socket, "precious");
        assertThrows(
                IOException.class,
                () -> AdminServer.builder().unixSocket(socket).start());
        assertEquals("precious", Files.readString(socket));
    }

    @Test
    void aMissingDirectoryIsAnErrorWithTheName() {
        Path nowhere = directory.resolve("missing/admin.sock");
        IOException failed = assertThrows(
                IOException.class,
                () -> AdminServer.builder().unixSocket(nowhere).start());
        assertTrue(failed.getMessage().contains(nowhere.toString()), failed.getMessage());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void removesItsFileAtTheEndButNotItsSuccessors(AdminTransport transport) throws IOException {
        start(AdminServer.builder().transport(transport).unixSocket(socket));
        servers.remove(0).close();
        assertFalse(Files.exists(socket));

        start(AdminServer.builder().transport(transport).unixSocket(socket));
        Path other = directory.resolve("other.sock");
        start(AdminServer.builder().transport(transport).unixSocket(other).resource(get("/ok", OK)));
        Files.move(other, socket, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        servers.remove(0).close();
        assertEquals(200, HttpExchange.get(socket, "/ok").status());
    }

    @Test
    void refusesTwoResourcesForOnePlaceAndOddMethods() {
        assertThrows(IllegalArgumentException.class, () -> AdminServer.builder()
                .resource(get("/ok", OK))
                .resource(get("/ok", OK))
                .start());
        assertThrows(IllegalArgumentException.class, () -> AdminServer.builder()
                .resource(resource("PUT", "/x", false, (request, responder) -> {}))
                .start());
    }

    private void start(AdminServer.Builder builder) throws IOException {
        servers.add(builder.start());
    }

    private List<Path> files() throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        }
    }

    private static AdminResponder take(BlockingQueue<AdminResponder> waiting) {
        try {
            return waiting.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String request(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    }

    private static AdminResource get(String path, AdminReply reply) {
        return resource("GET", path, false, (request, responder) -> responder.reply(reply));
    }

    private interface Handler {
        void handle(AdminRequest request, AdminResponder responder) throws AdminException;
    }

    private static AdminResource resource(String method, String path, boolean isBlocking, Handler handler) {
        return new AdminResource() {
            @Override
            public String method() {
                return method;
            }

            @Override
            public String path() {
                return path;
            }

            @Override
            public boolean isBlocking() {
                return isBlocking;
            }

            @Override
            public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
                handler.handle(request, responder);
            }
        };
    }

    /**
     * Connections whose request is not complete hold bytes. Netty leaves channels open if a loop without a quiet period is
     * shut down between two of its checks.
     */
    @Test
    void closeEndsEveryConnection() throws IOException {
        for (int i = 0; i < 200; i++) {
            AdminServer closing = AdminServer.builder()
                    .unixSocket(socket)
                    .resource(get("/ok", OK))
                    .start();
            try (HttpExchange open = HttpExchange.connect(socket)) {
                open.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n").read();
                open.send("GET /o");
                closing.close();
                assertTrue(isClosed(open), "round " + i);
            }
        }
    }

    private static boolean isClosed(HttpExchange open) {
        try {
            return open.isAtEnd();
        } catch (IOException e) {
            // A reset: the server had not read all bytes.
            return true;
        }
    }
}
