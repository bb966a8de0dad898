package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.resource.AdminCaller;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions of the dashboard have the rights of their token, over real sockets. */
class DashboardRolesTest {
    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong();
    private final BlockingQueue<AdminCaller> callers = new LinkedBlockingQueue<>();

    private AdminAccess access;
    private AdminServer server;
    private String authority;

    /** Records its clients. */
    private AdminResource recording(String method, String path) {
        return new StubResource(method, path, (request, responder) -> {
            callers.add(request.caller());
            responder.reply(AdminReply.json(json -> {}));
        });
    }

    @BeforeEach
    void start() throws IOException {
        access = AdminAccess.of(config(viewer(), purger(), limited(), operator()), now::get);
        server = AdminServer.builder()
                .unixSocket(directory.resolve("admin.sock"))
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), access)
                .times(new AdminTimes(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofMillis(10)))
                .dashboard()
                .resource(new MetricsResource(() -> "up 1\n"))
                .resource(recording("GET", "/v1/status"))
                .resource(recording("GET", "/v1/cache/purges"))
                .resource(recording("POST", "/v1/cache/purge"))
                .resource(recording("POST", "/v1/config/set"))
                .start();
        authority = "127.0.0.1:" + server.tcpAddress().getPort();
    }

    private static AdminConfig config(Token... tokens) {
        return new AdminConfig(
                null, null, null, List.of(tokens), null, Duration.ofHours(1).toNanos());
    }

    private Token viewer() throws IOException {
        return new Token("viewer", secret("viewer"), AdminRole.VIEWER, Set.of(), Set.of(), 0);
    }

    private Token purger() throws IOException {
        return new Token(
                "purger", secret("purger"), AdminRole.PURGER, Set.of("b.example", "a.example"), Set.of("url"), 0);
    }

    private Token limited() throws IOException {
        return new Token("limited", secret("limited"), AdminRole.VIEWER, Set.of(), Set.of(), 2);
    }

    private Token operator() throws IOException {
        return new Token("operator", secret("operator"), AdminRole.OPERATOR, Set.of(), Set.of(), 0);
    }

    private Path secret(String name) throws IOException {
        Path file = directory.resolve(name);
        if (!Files.exists(file)) {
            Files.writeString(file, content(name));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
        return file;
    }

    private static String content(String name) {
        return "token-of-sixteen-" + name;
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** A session of the page. */
    private record Session(String cookie, String proof, String login) {}

    private Session login(String members) throws IOException {
        Response login = request("POST", "/v1/session", members, "X-Millrace-Session: none");
        assertEquals(200, login.status(), login.body());
        String cookie = login.fields().get("set-cookie");
        return new Session(
                "Cookie: " + cookie.substring(0, cookie.indexOf(';')),
                "X-Millrace-Session: " + member(login.body(), "proof"),
                login.body());
    }

    private Session session(String name) throws IOException {
        return login("{\"token\":\"" + content(name) + "\"}");
    }

    private static String member(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
        assertTrue(found.find(), json);
        return found.group(1);
    }

    private Response request(String method, String target, String body, String... fields) throws IOException {
        try (HttpExchange exchange = HttpExchange.connect(server.tcpAddress())) {
            return exchange.send(method + " " + target + " HTTP/1.1\r\nHost: " + authority + "\r\nOrigin: http://"
                            + authority + "\r\nContent-Length: " + body.length() + "\r\n"
                            + String.join("\r\n", fields) + "\r\n\r\n" + body)
                    .read();
        }
    }

    private Response request(Session session, String method, String target) throws IOException {
        return request(method, target, method.equals("POST") ? "{}" : "", session.cookie(), session.proof());
    }

    @ParameterizedTest
    @CsvSource({
        "operator, GET,  /v1/status, 200",
        "operator, GET,  /v1/dashboard/metrics, 200",
        "operator, POST, /v1/cache/purge, 200",
        "operator, POST, /v1/config/set, 200",
        "operator, POST, /v1/dashboard/open, 200",
        "operator, POST, /v1/session/end, 200",
        "operator, POST, /v1/sessions/end, 200",
        "viewer,   GET,  /v1/status, 200",
        "viewer,   GET,  /v1/dashboard/metrics, 200",
        "viewer,   GET,  /v1/cache/purges, 200",
        "viewer,   GET,  /v1/session, 200",
        "viewer,   POST, /v1/cache/purge, 403",
        "viewer,   POST, /v1/config/set, 403",
        "viewer,   POST, /v1/dashboard/open, 403",
        "viewer,   POST, /v1/session/end, 200",
        "viewer,   POST, /v1/sessions/end, 403",
        "purger,   GET,  /v1/status, 403",
        "purger,   GET,  /v1/dashboard/metrics, 403",
        "purger,   GET,  /v1/cache/purges, 200",
        "purger,   GET,  /v1/session, 200",
        "purger,   POST, /v1/cache/purge, 200",
        "purger,   POST, /v1/config/set, 403",
        "purger,   POST, /v1/session/end, 200",
        "purger,   POST, /v1/sessions/end, 403"
    })
    void sessionMayDoWhatItsTokenMay(String token, String method, String target, int status) throws IOException {
        Response response = request(session(token), method, target);
        assertEquals(status, response.status(), response.body());
        if (status == 403) {
            assertEquals("role-refused", response.fields().get("millrace-error"));
            assertTrue(response.body().contains("token '" + token + "'"), response.body());
        }
    }

    @Test
    void resourcesGetNameAndRightsOfTheToken() throws Exception {
        request(session("purger"), "POST", "/v1/cache/purge");
        AdminCaller purger = callers.poll(30, TimeUnit.SECONDS);
        assertEquals("purger", purger.token());
        assertEquals("127.0.0.1", purger.address());
        assertEquals(Set.of("a.example", "b.example"), purger.purgeRights().sites());
        assertEquals(Set.of("url"), purger.purgeRights().kinds());
        request(session("operator"), "POST", "/v1/cache/purge");
        AdminCaller operator = callers.poll(30, TimeUnit.SECONDS);
        assertEquals("operator", operator.token());
        assertNull(operator.purgeRights());
    }

    @Test
    void pageLearnsWhoseSessionItIs() throws IOException {
        Session purger = session("purger");
        String expected =
                "{\"name\":\"purger\",\"role\":\"purger\",\"sites\":[\"a.example\",\"b.example\"],\"kinds\":[\"url\"],"
                        + "\"seconds\":43200";
        assertTrue(purger.login().startsWith(expected + ",\"proof\":"), purger.login());
        String shown = request(purger, "GET", "/v1/session").body();
        assertEquals(
                purger.login().substring(0, purger.login().indexOf(",\"seconds\"")),
                shown.substring(0, shown.indexOf(",\"seconds\"")));
        assertTrue(Long.parseLong(member(shown, "seconds")) > 43_000, shown);
        Response withToken = request("GET", "/v1/session", "", "Authorization: Bearer " + content("viewer"));
        assertEquals("no-session", member(withToken.body(), "code"));
    }

    @Test
    void requestsOfASessionCountForItsToken() throws IOException {
        Session limited = session("limited");
        assertEquals(200, request(limited, "GET", "/v1/status").status());
        assertEquals(
                200,
                request("GET", "/v1/status", "", "Authorization: Bearer " + content("limited"))
                        .status());
        Response refused = request(limited, "GET", "/v1/status");
        assertEquals(429, refused.status());
        assertEquals("30", refused.fields().get("retry-after"));
    }

    @Test
    void reloadChangesTheRightsOfOpenSessions() throws IOException {
        Session session = session("viewer");
        assertEquals(403, request(session, "POST", "/v1/config/set").status());
        Token raised = new Token("viewer", secret("viewer"), AdminRole.OPERATOR, Set.of(), Set.of(), 0);
        assertEquals(List.of(), access.apply(config(raised)));
        assertEquals(200, request(session, "POST", "/v1/config/set").status());
    }

    @Test
    void removedTokenEndsItsSessions() throws IOException {
        Session removed = session("viewer");
        Session other = session("operator");
        assertEquals(List.of(), access.apply(config(purger(), operator())));
        Response ended = request(removed, "GET", "/v1/status");
        assertEquals(401, ended.status());
        assertEquals("session-ended", member(ended.body(), "code"));
        assertEquals(200, request(other, "GET", "/v1/status").status());
        // The token of this name does not bring the session back.
        assertEquals(List.of(), access.apply(config(viewer(), operator())));
        assertEquals(401, request(removed, "GET", "/v1/status").status());
    }

    @Test
    void replacedTokenEndsItsSessions() throws IOException {
        Session before = session("operator");
        Files.writeString(directory.resolve("operator"), "another-token-of-sixteen");
        assertEquals(List.of(), access.apply(config(operator())));
        assertEquals(
                "session-ended",
                member(request(before, "POST", "/v1/config/set").body(), "code"));
        Session after = login("{\"token\":\"another-token-of-sixteen\"}");
        assertEquals(200, request(after, "POST", "/v1/config/set").status());
    }

    @Test
    void codeHasTheRightsOfAnOperatorAndEndsWithTheTokenThatAskedForIt() throws IOException {
        Session asking = session("operator");
        String opened = request(asking, "POST", "/v1/dashboard/open").body();
        String code = opened.substring(opened.indexOf("#code=") + 6, opened.indexOf("\",\"code_seconds"));
        Session session = login("{\"code\":\"" + code + "\"}");
        assertEquals("operator", member(session.login(), "name"));
        assertEquals(200, request(session, "POST", "/v1/config/set").status());
        assertEquals(List.of(), access.apply(config(viewer())));
        assertEquals(401, request(session, "POST", "/v1/config/set").status());
    }

    @Test
    void codeOfTheCommandIsThatOfAnOperatorWithoutToken() throws IOException {
        String opened = HttpExchange.post(directory.resolve("admin.sock"), "/v1/dashboard/open", "{}")
                .body();
        Matcher url = Pattern.compile("http://(127\\.0\\.0\\.1:\\d+)/ui/#code=([^\"]*)")
                .matcher(opened);
        assertTrue(url.find(), opened);
        Session session = login("{\"code\":\"" + url.group(2) + "\"}");
        assertEquals("dashboard", member(session.login(), "name"));
        assertEquals("operator", member(session.login(), "role"));
        assertEquals(List.of(), access.apply(config()));
        assertEquals(200, request(session, "POST", "/v1/config/set").status());
        // It would outlive the command.
        Response further = request(session, "POST", "/v1/dashboard/open");
        assertEquals("token-required", member(further.body(), "code"));
    }
}
