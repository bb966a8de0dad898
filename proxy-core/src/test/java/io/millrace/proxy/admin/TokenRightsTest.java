package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
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
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Roles and limits of tokens, over real sockets: a launcher's server in front of a worker's. */
class TokenRightsTest {
    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong();
    /** The clients that the worker has seen. */
    private final BlockingQueue<AdminCaller> callers = new LinkedBlockingQueue<>();

    private AdminServer worker;
    private AdminServer launcher;

    /** A resource of the worker. */
    private AdminResource recording(String method, String path) {
        return new StubResource(method, path, (request, responder) -> {
            callers.add(request.caller());
            if (request.target().contains("refuse")) {
                throw new AdminException(403, "site-refused", "not this site");
            }
            responder.reply(AdminReply.json(
                    json -> json.writeStringProperty("fields", request.fields().toString())));
        });
    }

    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("worker.sock");
        AdminServer.Builder behind = AdminServer.builder().unixSocket(socket);
        AdminServer.Builder front = AdminServer.builder()
                .tcp(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        AdminAccess.of(
                                new AdminConfig(
                                        null,
                                        null,
                                        secret("admin"),
                                        List.of(
                                                token("viewer", AdminRole.VIEWER, 0),
                                                token("purger", AdminRole.PURGER, 0),
                                                token("limited", AdminRole.VIEWER, 2)),
                                        null,
                                        Duration.ofHours(1).toNanos()),
                                now::get))
                .times(new AdminTimes(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofMillis(10)))
                .resource(new MetricsResource(() -> "up 1\n"));
        for (String each : List.of(
                "GET /v1/status",
                "GET /v1/cache/purges",
                "GET /v1/tls/check",
                "GET /v1/cache/object",
                "GET /v1/cache/object/content",
                "POST /v1/cache/import",
                "POST /v1/cache/purge",
                "POST /v1/config/reload",
                "POST /service/{id}/purge/{key}",
                "POST /zones/{id}/purge_cache")) {
            String method = each.substring(0, each.indexOf(' '));
            String path = each.substring(each.indexOf(' ') + 1);
            behind.resource(recording(method, path));
            front.forward(method, path, () -> socket, Duration.ofSeconds(10));
        }
        worker = behind.start();
        launcher = front.start();
    }

    private Token token(String name, AdminRole role, int perMinute) throws IOException {
        boolean isPurger = role == AdminRole.PURGER;
        return new Token(
                name,
                secret(name),
                role,
                isPurger ? Set.of("a.example", "shop") : Set.of(),
                isPurger ? Set.of("url") : Set.of(),
                perMinute);
    }

    private static String content(String name) {
        return "token-of-sixteen-" + name;
    }

    private Path secret(String name) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content(name));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    @AfterEach
    void close() {
        launcher.close();
        worker.close();
    }

    private Response request(String method, String target, String... fields) throws IOException {
        try (HttpExchange exchange = HttpExchange.connect(launcher.tcpAddress())) {
            exchange.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                    + String.join("\r\n", fields) + "\r\n\r\n");
            return method.equals("HEAD") ? exchange.readHead() : exchange.read();
        }
    }

    private static String bearer(String name) {
        return "Authorization: Bearer " + content(name);
    }

    @ParameterizedTest
    @CsvSource({
        "admin,  GET,  /v1/status, 200",
        "admin,  POST, /v1/config/reload, 200",
        "admin,  POST, /service/shop/purge/k, 200",
        "viewer, GET,  /v1/status, 200",
        "viewer, HEAD, /v1/status, 200",
        "viewer, GET,  /metrics, 200",
        "viewer, GET,  /nothing, 404",
        "viewer, GET,  /v1/tls/check?file=/etc/shadow, 403",
        "admin,  GET,  /v1/cache/object?key=aA, 200",
        "admin,  POST, /v1/cache/import, 200",
        "viewer, GET,  /v1/cache/object?key=aA, 403",
        "viewer, GET,  /v1/cache/object/content?key=aA, 403",
        "viewer, POST, /v1/cache/import, 403",
        "purger, POST, /v1/cache/import, 403",
        "purger, GET,  /v1/cache/object?key=aA, 403",
        "viewer, POST, /v1/cache/purge, 403",
        "viewer, POST, /v1/config/reload, 403",
        "viewer, POST, /service/shop/purge/k, 403",
        "viewer, POST, /v1/status, 405",
        "purger, GET,  /v1/status, 403",
        "purger, GET,  /metrics, 403",
        "purger, GET,  /v1/cache/purges, 200",
        "purger, POST, /v1/cache/purge, 200",
        "purger, POST, /v1/config/reload, 403",
        "purger, POST, /service/shop/purge/k%2Fl, 200",
        "purger, POST, /service/shop/purge/k/l, 404",
        "purger, POST, /zones/shop/purge_cache?x=y, 200",
        "purger, POST, '/service/{id}/purge/{key}', 200"
    })
    void theRoleDecides(String token, String method, String target, int status) throws IOException {
        Response response = request(method, target, bearer(token));
        assertEquals(status, response.status(), response.body());
        if (status == 403) {
            assertEquals("role-refused", response.fields().get("millrace-error"));
            assertTrue(response.body().contains("token '" + token + "' has the role " + token), response.body());
        }
    }

    @Test
    void theWorkerIsToldTheTokenAndItsRights() throws Exception {
        request("POST", "/v1/cache/purge", bearer("purger"), "Millrace-Admin-Caller: uid=0");
        AdminCaller purger = callers.poll(30, TimeUnit.SECONDS);
        assertEquals("purger", purger.token());
        assertEquals("127.0.0.1", purger.address());
        assertEquals(Set.of("a.example", "shop"), purger.purgeRights().sites());
        assertEquals(Set.of("url"), purger.purgeRights().kinds());
        request("POST", "/v1/cache/purge", bearer("admin"));
        AdminCaller admin = callers.poll(30, TimeUnit.SECONDS);
        assertEquals("admin", admin.token());
        assertNull(admin.purgeRights());
    }

    @Test
    void fieldsOfVendorsReachTheWorker() throws IOException {
        Response response = request(
                "POST",
                "/service/shop/purge/k",
                "Fastly-Key: " + content("purger"),
                "Fastly-Soft-Purge: 1",
                "Surrogate-Key: a b",
                "Surrogate-Key: c",
                "X-Other: z");
        assertEquals(200, response.status());
        assertTrue(response.body().contains("fastly-soft-purge=1"), response.body());
        assertTrue(response.body().contains("surrogate-key=a b c"), response.body());
        assertTrue(!response.body().contains("z"), response.body());
    }

    @Test
    void moreRequestsThanTheLimitGet429WithTheTimeToWait() throws IOException {
        assertEquals(200, request("GET", "/v1/status", bearer("limited")).status());
        assertEquals(403, request("POST", "/v1/cache/purge", bearer("limited")).status());
        Response refused = request("GET", "/v1/status", bearer("limited"));
        assertEquals(429, refused.status());
        assertEquals("30", refused.fields().get("retry-after"));
        assertTrue(refused.body().contains("limited to 2 requests per minute"), refused.body());
        assertEquals(200, request("GET", "/v1/status", bearer("viewer")).status(), "another token");
        now.addAndGet(TimeUnit.SECONDS.toNanos(30));
        assertEquals(200, request("GET", "/v1/status", bearer("limited")).status());
    }

    @Test
    void refusalsAreCountedByReason() throws IOException {
        request("POST", "/v1/cache/purge", bearer("viewer"));
        request("POST", "/v1/cache/purge?refuse", bearer("purger"));
        for (int i = 0; i < 3; i++) {
            request("GET", "/v1/status", bearer("limited"));
        }
        String metrics = request("GET", "/metrics", bearer("admin")).body();
        for (String line : List.of(
                "reason=\"role-refused\"} 1.0",
                "reason=\"site-refused\"} 1.0",
                "reason=\"kind-refused\"} 0.0",
                "reason=\"rate-limited\"} 1.0",
                "reason=\"clear-text-refused\"} 0.0")) {
            assertTrue(metrics.contains(line), metrics);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/service/shop/purge/k, viewer, 403, '{\"msg\":\"role-refused\",\"detail\":'",
        "/service/shop/purge/k, wrong, 401, '{\"msg\":\"unauthorized\",\"detail\":'",
        "/service/shop/purge/k?refuse, purger, 403, '{\"msg\":\"site-refused\",\"detail\":'",
        "/zones/shop/purge_cache, viewer, 403, '{\"success\":false,\"errors\":[{\"code\":10000,\"message\":'",
        "/zones/shop/purge_cache, wrong, 401, '{\"success\":false,\"errors\":[{\"code\":10000,\"message\":'",
        "/zones/shop/other, purger, 404, '{\"success\":false,\"errors\":[{\"code\":1404,\"message\":'"
    })
    void errorsHaveTheFormOfTheApi(String target, String token, int status, String start) throws IOException {
        Response response = request("POST", target, bearer(token));
        assertEquals(status, response.status());
        assertTrue(response.body().startsWith(start), response.body());
    }
}
