package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.StubResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminConfig.Token;
import io.millrace.proxy.config.admin.AdminRole;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fifty open pages over real sockets, through a launcher's server to a worker's: the worker answers for one page. */
class SharedViewersTest {
    private static final int VIEWERS = 50;
    private static final int PERIODS = 5;
    private static final String SECRET = "token-of-sixteen-characters";
    private static final Pattern PROOF = Pattern.compile("\"proof\":\"([^\"]*)\"");

    /** The requests that a page repeats, and whether the worker answers them. */
    private static final Map<String, Boolean> PAGE = Map.of(
            "/v1/dashboard/metrics", true,
            "/v1/status", true,
            "/v1/origins", true,
            "/v1/memory", true,
            "/v1/history?from=3600s&step=10s", false,
            "/v1/events?since=3600s&limit=500", false);

    @TempDir
    Path directory;

    private final AtomicLong nanos = new AtomicLong();
    private final Map<String, AtomicLong> inWorker = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> inLauncher = new ConcurrentHashMap<>();
    private AdminServer worker;
    private AdminServer launcher;
    private String authority;

    /** A resource that counts its requests, and whose answer is the same until the time passes. */
    private AdminResource counting(String method, String path, boolean isBlocking, Map<String, AtomicLong> counts) {
        return new StubResource(method, path, isBlocking, (request, responder) -> {
            counts.computeIfAbsent(path, none -> new AtomicLong()).incrementAndGet();
            responder.reply(AdminReply.json(json -> json.writeNumberProperty("at", nanos.get())));
        });
    }

    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("worker.sock");
        worker = AdminServer.builder()
                .unixSocket(socket)
                .resource(counting("GET", MetricsResource.PATH, false, inWorker))
                .resource(counting("GET", "/v1/status", false, inWorker))
                .resource(counting("GET", "/v1/origins", false, inWorker))
                .resource(counting("POST", "/v1/origins/down", false, inWorker))
                .resource(counting("GET", "/v1/memory", false, inWorker))
                .start();
        Duration limit = Duration.ofSeconds(30);
        launcher = AdminServer.builder()
                .unixSocket(directory.resolve("launcher.sock"))
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), access())
                .nanoTime(nanos::get)
                .dashboard()
                .forward("GET", MetricsResource.PATH, () -> socket, limit)
                .forward("GET", "/v1/status", () -> socket, limit)
                .forward("GET", "/v1/origins", () -> socket, limit)
                .forward("POST", "/v1/origins/down", () -> socket, limit)
                .forward("GET", "/v1/memory", () -> socket, limit)
                .resource(counting("GET", "/v1/history", true, inLauncher))
                .resource(counting("GET", "/v1/events", false, inLauncher))
                .start();
        authority = "127.0.0.1:" + launcher.tcpAddress().getPort();
    }

    private AdminAccess access() throws IOException {
        Path file = directory.resolve("token");
        Files.writeString(file, SECRET);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Token token = new Token("viewer", file, AdminRole.OPERATOR, Set.of(), Set.of(), 0);
        return AdminAccess.of(new AdminConfig(null, null, null, List.of(token), null, TimeUnit.HOURS.toNanos(1)));
    }

    @AfterEach
    void close() {
        launcher.close();
        worker.close();
    }

    /** An open page: its connection, and the fields of its session. */
    private record Viewer(HttpExchange connection, String fields) {}

    private Viewer viewer() throws IOException {
        HttpExchange connection = HttpExchange.connect(launcher.tcpAddress());
        String body = "{\"token\":\"" + SECRET + "\"}";
        Response login = connection
                .send("POST /v1/session HTTP/1.1\r\nHost: " + authority + "\r\nOrigin: http://" + authority
                        + "\r\nX-Millrace-Session: none\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .read();
        assertEquals(200, login.status(), login.body());
        Matcher proof = PROOF.matcher(login.body());
        assertTrue(proof.find(), login.body());
        String cookie = login.fields().get("set-cookie");
        return new Viewer(
                connection,
                "Host: " + authority + "\r\nOrigin: http://" + authority + "\r\nCookie: "
                        + cookie.substring(0, cookie.indexOf(';')) + "\r\nX-Millrace-Session: " + proof.group(1)
                        + "\r\n");
    }

    private static Response ask(Viewer viewer, String method, String target, String further) throws IOException {
        return viewer.connection()
                .send(method + " " + target + " HTTP/1.1\r\n" + viewer.fields() + further + "\r\n")
                .read();
    }

    private long count(String path, boolean isInWorker) {
        int query = path.indexOf('?');
        String resource = path.equals("/v1/dashboard/metrics")
                ? MetricsResource.PATH
                : path.substring(0, query < 0 ? path.length() : query);
        AtomicLong count = (isInWorker ? inWorker : inLauncher).get(resource);
        return count == null ? 0 : count.get();
    }

    @Test
    void theWorkerRendersForOnePage() throws IOException {
        List<Viewer> viewers = new ArrayList<>();
        for (int i = 0; i < VIEWERS; i++) {
            viewers.add(viewer());
        }
        for (int period = 1; period <= PERIODS; period++) {
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            for (Viewer viewer : viewers) {
                for (String target : PAGE.keySet()) {
                    Response response = ask(viewer, "GET", target, "");
                    assertEquals(200, response.status(), response.body());
                    assertTrue(response.body().startsWith("{\"at\":" + nanos.get() + "}"), response.body());
                }
            }
            for (Map.Entry<String, Boolean> each : PAGE.entrySet()) {
                assertEquals(period, count(each.getKey(), each.getValue()), each.getKey());
            }
        }
        for (Viewer viewer : viewers) {
            viewer.connection().close();
        }
    }

    @Test
    void anUnchangedReplyIsNotSentAgain() throws IOException {
        Viewer viewer = viewer();
        Response first = ask(viewer, "GET", "/v1/origins", "");
        String tag = first.fields().get("etag");
        Response second = ask(viewer, "GET", "/v1/origins", "If-None-Match: " + tag + "\r\n");
        assertEquals(304, second.status());
        assertEquals("0", second.fields().get("millrace-age-millis"));
        assertEquals("no-store", second.fields().get("cache-control"));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertEquals(
                200,
                ask(viewer, "GET", "/v1/origins", "If-None-Match: " + tag + "\r\n")
                        .status());
        viewer.connection().close();
    }

    @Test
    void scriptsAndChangesGetNewReplies() throws IOException {
        Viewer viewer = viewer();
        ask(viewer, "GET", "/v1/origins", "");
        Path socket = directory.resolve("launcher.sock");
        for (int i = 0; i < 3; i++) {
            assertEquals(200, HttpExchange.get(socket, "/v1/origins").status());
        }
        ask(viewer, "GET", "/v1/origins", "");
        assertEquals(4, count("/v1/origins", true));
        assertEquals(200, HttpExchange.post(socket, "/v1/origins/down", "{}").status());
        ask(viewer, "GET", "/v1/origins", "");
        assertEquals(5, count("/v1/origins", true));
        String metrics = HttpExchange.get(socket, "/metrics").body();
        assertTrue(
                metrics.contains(
                        "millrace_dashboard_replies_total{application=\"millrace\",result=\"rendered\"} 2.0\n"),
                metrics);
        viewer.connection().close();
    }
}
