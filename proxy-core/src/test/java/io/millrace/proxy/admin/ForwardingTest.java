package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.cache.LookupResource;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ProcessStatus;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.vendor.FastlyResource;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A launcher's admin server in front of a worker's. */
class ForwardingTest {
    private static final String PROCESS =
            "\"process\":{\"launcher_pid\":1,\"worker_pid\":2,\"worker_restarts\":3,\"worker_state\":\"ready\","
                    + "\"warming_up\":{\"worker_pid\":4,\"seconds\":5,\"limit_seconds\":20}}";

    @TempDir
    Path directory;

    private AdminServer launcher;
    private AdminServer worker;

    static List<AdminTransport> transports() {
        return AdminServerTest.transports();
    }

    @AfterEach
    void close() {
        if (launcher != null) {
            launcher.close();
        }
        if (worker != null) {
            worker.close();
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void passesRequestsAndAnswersThrough(AdminTransport transport) throws IOException {
        startWorker(transport);
        startLauncher(transport, workerSocket(), Duration.ofSeconds(30));

        assertEquals("up 1\n", get("/metrics").body());
        assertEquals(MetricsResource.CONTENT_TYPE, get("/metrics").fields().get("content-type"));
        Response purged = HttpExchange.post(launcherSocket(), "/v1/cache/purge", "{\"url\":\"http://h/\"}");
        assertEquals(
                "{\"scope\":\"url\",\"target\":\"http://h/\",\"url\":\"http://h/\",\"purged\":false,"
                        + "\"detail\":\"nothing\",\"id\":\"u1\",\"state\":\"done\",\"objects\":0}",
                purged.body());
        Response refused = HttpExchange.post(launcherSocket(), "/v1/cache/purge", "{}");
        assertEquals(400, refused.status());
        assertTrue(refused.body().contains("bad-request"), refused.body());
        assertTrue(get("/v1/cache/lookup?url=http://h/%3F").body().startsWith("{\"url\":\"http://h/?\""));
    }

    @ParameterizedTest
    @MethodSource("transports")
    void addsTheLaunchersPartToTheStatus(AdminTransport transport) throws IOException {
        startWorker(transport);
        startLauncher(transport, workerSocket(), Duration.ofSeconds(30));

        String config = "\"config\":{\"file\":null,\"loaded_at\":\"2026-11-20T11:00:00Z\",\"last_reload\":null}";
        String status = get("/v1/status").body();
        assertTrue(status.startsWith("{" + PROCESS + "," + config + ",\"product\":\"Millrace\","), status);
        assertTrue(status.contains("\"state\":\"running\",\"uptime_seconds\":77,"), status);
        assertTrue(status.endsWith("\"transport\":\"epoll\",\"tls\":\"BoringSSL\"}"), status);
        assertEquals(status.indexOf("\"config\""), status.lastIndexOf("\"config\""), "twice");
    }

    @Test
    void healthIsPublicWhereverItIsAnswered() {
        for (String path : List.of("/livez", "/readyz")) {
            assertTrue(new ForwardingResource(null, "GET", path, () -> null, Duration.ZERO).isPublic(), path);
        }
        assertFalse(new ForwardingResource(null, "GET", "/metrics", () -> null, Duration.ZERO).isPublic());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void withoutAWorkerSaysSoAndStillHasAStatus(AdminTransport transport) throws IOException {
        startLauncher(transport, workerSocket(), Duration.ofSeconds(30));
        assertWorkerDown();
        launcher.close();
        startLauncher(transport, null, Duration.ofSeconds(30));
        assertWorkerDown();
    }

    private void assertWorkerDown() throws IOException {
        Response down = get("/metrics");
        assertEquals(503, down.status());
        assertTrue(down.body().startsWith("{\"error\":{\"code\":\"worker-down\""), down.body());
        Response status = get("/v1/status");
        assertEquals(200, status.status());
        assertTrue(status.body().startsWith("{" + PROCESS + ",\"product\":\"Millrace\""), status.body());
        assertTrue(status.body().contains("\"state\":\"starting\""), status.body());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aSocketFileWithoutAListenerIsAWorkerThatIsDown(AdminTransport transport) throws IOException {
        startWorker(transport);
        Path kept = directory.resolve("kept.sock");
        Files.move(workerSocket(), kept);
        worker.close();
        startLauncher(transport, kept, Duration.ofSeconds(30));

        assertEquals(503, get("/metrics").status());
    }

    @ParameterizedTest
    @EnumSource(Misbehaviour.class)
    void aWorkerThatMisbehavesIsAGatewayError(Misbehaviour misbehaviour) throws IOException {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(workerSocket()));
            Thread thread = new Thread(() -> misbehaviour.accept(silent));
            thread.start();
            startLauncher(AdminTransport.best(), workerSocket(), Duration.ofMillis(500));

            Response failed = get("/metrics");
            assertEquals(misbehaviour.status, failed.status(), failed.body());
            assertTrue(failed.body().contains(misbehaviour.code), failed.body());
        }
    }

    /** A purge without an answer may be in force, so the error says what to do. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HANGS_UP | /v1/cache/purge | was complete; the purge may be in force: repeat it, or look for it with 'millctl purge list'",
                "SAYS_NOTHING | /v1/cache/purge | within 0 s; the purge may be in force: repeat it, or look for it with 'millctl purge list'",
                "BREAKS_OFF | /service/s/purge_all | was complete; the purge may be in force: repeat it, or look for it with 'millctl purge list'",
                "HANGS_UP | /v1/cache/purge/undo | was complete; the change may have been made: 'millctl purge show ID' shows the state of the purge",
                "HANGS_UP | /v1/origins/down | was complete; the change may have been made",
                "HANGS_UP | /v1/cache/purge/dry-run | was complete"
            })
    void anErrorSaysWhetherAChangeMayHaveBeenMade(Misbehaviour misbehaviour, String path, String outcome)
            throws IOException {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(workerSocket()));
            Thread thread = new Thread(() -> misbehaviour.accept(silent));
            thread.start();
            startLauncher(AdminTransport.best(), workerSocket(), Duration.ofMillis(500));

            Response failed = HttpExchange.post(launcherSocket(), path, "{}");
            assertEquals(misbehaviour.status, failed.status(), failed.body());
            assertTrue(failed.body().contains(outcome + "\"}"), failed.body());
        }
    }

    @Test
    void withoutAWorkerAChangeIsNotMade() throws IOException {
        startLauncher(AdminTransport.best(), null, Duration.ofSeconds(30));
        Response down = HttpExchange.post(launcherSocket(), "/v1/cache/purge", "{}");
        assertEquals(503, down.status());
        assertTrue(down.body().endsWith("shows its state; nothing was changed\"}}"), down.body());
    }

    private enum Misbehaviour {
        SAYS_NOTHING(504, "worker-timeout", null),
        HANGS_UP(502, "worker-failed", ""),
        BREAKS_OFF(502, "worker-failed", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"),
        SPEAKS_NONSENSE(502, "worker-failed", "220 smtp ready\r\n\r\n");

        private final int status;
        private final String code;
        private final String answer;

        Misbehaviour(int status, String code, String answer) {
            this.status = status;
            this.code = code;
            this.answer = answer;
        }

        void accept(ServerSocketChannel listener) {
            try (SocketChannel client = listener.accept()) {
                ByteBuffer request = ByteBuffer.allocate(4096);
                client.read(request);
                if (answer == null) {
                    // until the other side gives up
                    request.clear();
                    client.read(request);
                } else {
                    client.write(ByteBuffer.wrap(answer.getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    private void startWorker(AdminTransport transport) throws IOException {
        worker = AdminServer.builder()
                .transport(transport)
                .unixSocket(workerSocket())
                .resource(new StatusResource(() -> ResourcesTest.STATUS))
                .resource(new MetricsResource(() -> "up 1\n"))
                .resource(new PurgeResource(
                        url -> CompletableFuture.completedFuture(
                                new PurgeService.PurgeReport(url, false, "nothing", "u1")),
                        scope -> CompletableFuture.failedFuture(new AdminException(400, "bad-request", "none"))))
                .resource(new LookupResource((url, fields) -> CompletableFuture.completedFuture(
                        new LookupSource.LookupReport(url, null, null, null, "no rule"))))
                .start();
    }

    private void startLauncher(AdminTransport transport, Path socket, Duration timeout) throws IOException {
        launcher = AdminServer.builder()
                .transport(transport)
                .unixSocket(launcherSocket())
                .forward("GET", "/metrics", () -> socket, timeout)
                .forward("POST", "/v1/cache/purge", () -> socket, timeout)
                .forward("POST", "/v1/cache/purge/undo", () -> socket, timeout)
                .forward("POST", "/v1/cache/purge/dry-run", () -> socket, timeout)
                .forward("POST", "/v1/origins/down", () -> socket, timeout)
                .forward("POST", FastlyResource.ALL_PATH, () -> socket, timeout)
                .forward("GET", "/v1/cache/lookup", () -> socket, timeout)
                .forwardStatus(
                        () -> socket,
                        () -> new ProcessStatus(1, 2, 3, "ready", new ProcessStatus.WarmUp(4, 5, 20)),
                        ForwardingTest::starting)
                .start();
    }

    private static ProxyStatus starting() {
        return new ProxyStatus(
                "Millrace",
                "0.1.0",
                ProxyStatus.State.STARTING,
                1,
                List.of(),
                new ProxyStatus.Connections(0, 0),
                0,
                new ProxyStatus.Cache(0, 0, new ProxyStatus.Tier(0, 0, 0), List.of()),
                new ProxyStatus.Config(null, "2026-11-20T11:00:00Z", null),
                "17",
                "epoll",
                "none");
    }

    private Path launcherSocket() {
        return directory.resolve("launcher.sock");
    }

    private Path workerSocket() {
        return directory.resolve("worker.sock");
    }

    private Response get(String target) throws IOException {
        return HttpExchange.get(launcherSocket(), target);
    }
}
