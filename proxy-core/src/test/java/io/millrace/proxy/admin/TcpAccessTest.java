package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.config.admin.AdminConfig;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may use the admin API over TCP. */
class TcpAccessTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    Path directory;

    private final BlockingQueue<AdminResponder> held = new LinkedBlockingQueue<>();
    private AdminServer server;

    @BeforeEach
    void start() throws IOException {
        HealthSource healthy = new HealthSource() {
            @Override
            public String notLive() {
                return null;
            }

            @Override
            public String notReady() {
                return null;
            }
        };
        server = AdminServer.builder()
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), token(TOKEN))
                .times(new AdminTimes(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofMillis(10)))
                .resource(new MetricsResource(() -> "up 1\n"))
                .resource(new LivezResource(healthy))
                .resource(new Held())
                .start();
    }

    /** A public resource that answers when the test says so. */
    private final class Held implements AdminResource {
        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            return "/held";
        }

        @Override
        public boolean isPublic() {
            return true;
        }

        @Override
        public void handle(AdminRequest request, AdminResponder responder) {
            held.add(responder);
        }
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void answersWhoHasTheToken() throws IOException {
        Response response = get("/metrics", "Host: 127.0.0.1", "Authorization: Bearer " + TOKEN);
        assertEquals(200, response.status());
        assertTrue(response.body().startsWith("up 1\n"), response.body());
        assertEquals(
                200,
                get("/metrics", "Host: 127.0.0.1", "Authorization: bearer  " + TOKEN)
                        .status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization: Bearer 0123456789abcdeg",
                "Authorization: Bearer 0123456789abcde",
                "Authorization: Bearer",
                "Authorization: Basic 0123456789abcdef",
                "Authorization: 0123456789abcdef",
                "X: y"
            })
    void rfc6750Section3_refusesWhoHasNot(String field) throws IOException {
        Response refused = get("/metrics", "Host: 127.0.0.1", field);
        assertEquals(401, refused.status());
        assertEquals("Bearer", refused.fields().get("www-authenticate"));
        assertTrue(refused.body().contains("\"code\":\"unauthorized\""), refused.body());
        assertFalse(refused.body().contains(TOKEN));
    }

    @Test
    void unknownPathsTellNothingWithoutTheToken() throws IOException {
        assertEquals(401, get("/nothing", "Host: 127.0.0.1").status());
    }

    @Test
    void liveIsPublic() throws IOException {
        assertEquals(200, get("/livez", "Host: 127.0.0.1").status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:9", "[::1]:9", "[::1]", "localhost", "LOCALHOST:80", "192.0.2.1"})
    void acceptsAddressesAndLocalhostAsHost(String host) throws IOException {
        assertEquals(200, get("/livez", "Host: " + host).status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1", "localhost.evil"})
    void refusesOtherNamesAsHostAgainstDnsRebinding(String host) throws IOException {
        Response refused = get("/livez", "Host: " + host);
        assertEquals(403, refused.status());
        assertTrue(refused.body().contains("host-refused"), refused.body());
    }

    @Test
    void refusesARequestWithTwoHosts() throws IOException {
        assertEquals(403, get("/livez", "Host: localhost", "Host: localhost").status());
    }

    @Test
    void refusesPagesOfOtherOrigins() throws IOException {
        assertEquals(
                403,
                get("/livez", "Host: localhost", "Origin: http://evil.example").status());
        assertEquals(403, get("/livez", "Host: localhost", "Origin: null").status());
        assertEquals(
                200,
                get("/livez", "Host: localhost:5", "Origin: http://localhost:5").status());
    }

    @ParameterizedTest
    @CsvSource({
        // secure, both ends on loopback, fields, code
        "false, true,  Authorization: Bearer 0123456789abcdef, ''",
        "true,  false, Authorization: Bearer 0123456789abcdef, ''",
        "true,  false, Fastly-Key: 0123456789abcdef, ''",
        "true,  false, X-Auth-Key: 0123456789abcdef, ''",
        "true,  false, Fastly-Key: 0123456789abcdeg, unauthorized",
        "true,  false, X: y, unauthorized",
        "false, false, Authorization: Bearer 0123456789abcdef, clear-text-refused",
        "false, false, Fastly-Key: 0123456789abcdef, clear-text-refused",
        "false, false, X: y, unauthorized"
    })
    void aTokenInClearTextIsAcceptedOnLoopbackOnly(boolean secure, boolean local, String field, String code)
            throws IOException {
        TcpGuard guard = TcpGuard.of(token(TOKEN), "192.0.2.1", null);
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        request.headers().set("host", "192.0.2.1");
        request.headers().set(field.substring(0, field.indexOf(':')), field.substring(field.indexOf(':') + 2));
        AdminException refusal = guard.refusal(request, false, new TcpGuard.Link(secure, local));
        assertEquals(code, refusal == null ? "" : refusal.code());
    }

    @Test
    void withTlsTheCertificateDecidesOnTheHost() throws IOException {
        TcpGuard guard = TcpGuard.of(token(TOKEN), "192.0.2.1", null);
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        request.headers().set("host", "admin.example:9090").set("origin", "https://admin.example:9090");
        assertNull(guard.refusal(request, true, new TcpGuard.Link(true, false)));
        assertEquals(
                "host-refused",
                guard.refusal(request, true, new TcpGuard.Link(false, true)).code());
        request.headers().set("origin", "http://admin.example:9090");
        assertEquals(
                "origin-refused",
                guard.refusal(request, true, new TcpGuard.Link(true, false)).code());
    }

    @Test
    void acceptsTheConfiguredNameAsHost() throws IOException {
        try (AdminServer named = AdminServer.builder()
                .tcp(new InetSocketAddress("localhost", 0), token(TOKEN))
                .resource(new MetricsResource(() -> ""))
                .start()) {
            TcpGuard guard = TcpGuard.of(token(TOKEN), "Admin.Example.net", null);
            var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
            request.headers().set("host", "admin.example.NET:8080");
            assertEquals(401, guard.refusal(request, false, TcpGuard.Link.LOCAL).status());
            assertEquals(null, guard.refusal(request, true, TcpGuard.Link.LOCAL));
            assertTrue(named.tcpAddress().getPort() > 0);
        }
    }

    private List<HttpExchange> open(int count, String text) throws IOException {
        List<HttpExchange> open = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            open.add(HttpExchange.connect(server.tcpAddress()).send(text));
        }
        return open;
    }

    private static void closeAll(List<HttpExchange> open) throws IOException {
        for (HttpExchange each : open) {
            each.close();
        }
    }

    private String metrics() throws IOException {
        return get("/metrics", "Host: 127.0.0.1", "Authorization: Bearer " + TOKEN)
                .body();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET /metrics HTTP/1.1\r\n",
                "POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nx",
                "GET /held HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            })
    void connectionsWithoutATokenShutNobodyOut(String unfinished) throws IOException {
        List<HttpExchange> open = open(TcpSlots.WITHOUT_TOKEN_MAX * 2, unfinished);
        try {
            assertEquals(200, get("/livez", "Host: 127.0.0.1").status());
            String metrics = metrics();
            assertTrue(metrics.startsWith("up 1\n"), metrics);
            assertTrue(
                    metrics.contains(
                            "millrace_admin_refused_total{application=\"millrace\",reason=\"connection-evicted\"} 6"),
                    metrics);
            assertTrue(unfinished.contains("/held") || open.get(0).isAtEnd(), "the oldest");
        } finally {
            closeAll(open);
        }
    }

    @Test
    void aConnectionThatIsBeingAnsweredGivesWayLast() throws Exception {
        try (HttpExchange answered = HttpExchange.connect(server.tcpAddress())) {
            answered.send("GET /held HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
            AdminResponder responder = held.take();
            List<HttpExchange> open = open(TcpSlots.WITHOUT_TOKEN_MAX * 2, "GET /");
            assertEquals(200, get("/livez", "Host: 127.0.0.1").status());
            responder.reply(AdminReply.text("text/plain", "at last"));
            assertEquals("at last", answered.read().body());
            closeAll(open);
        }
    }

    @Test
    void connectionsWithTheTokenHavePlacesOfTheirOwn() throws IOException {
        String request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n";
        List<HttpExchange> authenticated = open(TcpSlots.WITH_TOKEN_MAX, request);
        for (HttpExchange each : authenticated) {
            assertEquals(200, each.read().status());
        }
        List<HttpExchange> others = open(TcpSlots.WITHOUT_TOKEN_MAX * 2, "GET /");
        try {
            assertEquals(200, get("/livez", "Host: 127.0.0.1").status());
            assertEquals(200, authenticated.get(0).send(request).read().status(), "gave way to one without a token");
            assertEquals(
                    503,
                    get("/metrics", "Host: 127.0.0.1", "Authorization: Bearer " + TOKEN)
                            .status());
            authenticated.remove(0).close();
            while (get("/metrics", "Host: 127.0.0.1", "Authorization: Bearer " + TOKEN)
                            .status()
                    == 503) {
                Thread.onSpinWait();
            }
        } finally {
            closeAll(others);
            closeAll(authenticated);
        }
    }

    @Test
    void aWrongTokenIsCountedAndEndsTheConnection() throws IOException {
        try (HttpExchange guess = HttpExchange.connect(server.tcpAddress())) {
            Response refused = guess.send(
                            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\n\r\n")
                    .read();
            assertEquals(401, refused.status());
            assertEquals("close", refused.fields().get("connection"));
            assertTrue(guess.isAtEnd());
        }
        assertEquals(401, get("/metrics", "Host: 127.0.0.1").status());
        String metrics = metrics();
        assertTrue(metrics.contains("reason=\"wrong-token\"} 1.0"), metrics);
        assertTrue(metrics.contains("reason=\"no-token\"} 1.0"), metrics);
    }

    @Test
    void withoutATokenTheTimeIsShortAndBeginsWithTheConnection() throws IOException {
        try (AdminServer quick = AdminServer.builder()
                .times(new AdminTimes(Duration.ofSeconds(30), Duration.ofMillis(50), Duration.ZERO))
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), token(TOKEN))
                .resource(new MetricsResource(() -> "up 1\n"))
                .start()) {
            for (String text : new String[] {"", "GET /metrics HTTP/1.1\r\nAuthorization: Bearer wrong\r\n"}) {
                try (HttpExchange silent = HttpExchange.connect(quick.tcpAddress())) {
                    assertEquals(408, silent.send(text).read().status());
                    assertTrue(silent.isAtEnd());
                }
            }
        }
    }

    @Test
    void aTokenFileThatEverybodyReadsIsRefused() throws IOException {
        Path file = directory.resolve("token");
        Files.writeString(file, TOKEN);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        IOException refused = assertThrows(IOException.class, () -> AdminAccess.of(config(file)));
        assertTrue(refused.getMessage().contains("chmod o-r"), refused.getMessage());
        assertFalse(refused.getMessage().contains(TOKEN));
    }

    @Test
    void aShortOrMissingTokenIsRefused() throws IOException {
        assertThrows(IOException.class, () -> token(""));
        assertThrows(IOException.class, () -> token("short"));
        assertThrows(IOException.class, () -> token("x".repeat(2000)));
        assertThrows(IOException.class, () -> AdminAccess.of(config(directory.resolve("missing"))));
    }

    @Test
    void onlyTheFirstLineOfTheFileIsTheToken() throws IOException {
        AdminAccess access = token(TOKEN + " \n# a comment\n");
        assertNotNull(access.find(TOKEN));
        assertNull(access.find("# a comment"));
        assertNull(access.find(""));
    }

    private AdminAccess token(String content) throws IOException {
        Path file = Files.createTempFile(directory, "token", "");
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        return AdminAccess.of(config(file));
    }

    private static AdminConfig config(Path token) {
        return new AdminConfig(
                null, null, token, List.of(), null, Duration.ofHours(1).toNanos());
    }

    private Response get(String target, String... fields) throws IOException {
        try (HttpExchange exchange = HttpExchange.connect(server.tcpAddress())) {
            return exchange.send("GET " + target + " HTTP/1.1\r\n" + String.join("\r\n", fields) + "\r\n\r\n")
                    .read();
        }
    }
}
