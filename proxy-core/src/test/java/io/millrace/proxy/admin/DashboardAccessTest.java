package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.dashboard.Dashboard;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.StubResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.config.admin.AdminConfig;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard over real sockets: login, sessions, requests of other pages, DNS rebinding. */
class DashboardAccessTest {
    /** A resource that changes something. */
    private static final AdminResource CHANGE = new StubResource(
            "POST",
            "/v1/change",
            (request, responder) ->
                    responder.reply(AdminReply.json(json -> json.writeBooleanProperty("changed", true))));

    private static final String TOKEN = "0123456789abcdef";
    private static final String JSON = "Content-Type: application/json";

    @TempDir
    Path directory;

    private AdminServer server;
    private Path socket;
    private String authority;

    @BeforeEach
    void start() throws IOException {
        socket = directory.resolve("admin.sock");
        server = builder()
                .unixSocket(socket)
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), token())
                .start();
        authority = "127.0.0.1:" + server.tcpAddress().getPort();
    }

    private static AdminServer.Builder builder() {
        return AdminServer.builder()
                .times(new AdminTimes(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofMillis(10)))
                .dashboard()
                .resource(new MetricsResource(() -> "up 1\n"))
                .resource(CHANGE);
    }

    private AdminAccess token() throws IOException {
        Path file = directory.resolve("token");
        if (!Files.exists(file)) {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(file, TOKEN + "\n");
        }
        return AdminAccess.of(new AdminConfig(
                null, null, file, List.of(), null, Duration.ofHours(1).toNanos()));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Response send(String method, String target, String body, String... fields) throws IOException {
        return send(server.tcpAddress(), method, target, body, fields);
    }

    private static Response send(InetSocketAddress address, String method, String target, String body, String... fields)
            throws IOException {
        StringBuilder request = new StringBuilder(method + " " + target + " HTTP/1.1\r\n");
        for (String field : fields) {
            request.append(field).append("\r\n");
        }
        request.append("Content-Length: ").append(body.length()).append("\r\n\r\n");
        try (HttpExchange exchange =
                HttpExchange.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort()))) {
            return exchange.send(request + body).read();
        }
    }

    /** The fields of a request that the dashboard's own page sends. */
    private List<String> ofPage() {
        return new ArrayList<>(List.of(
                "Host: " + authority,
                "Origin: http://" + authority,
                "Sec-Fetch-Site: same-origin",
                JSON,
                "X-Millrace-Session: none"));
    }

    private Response login(String body) throws IOException {
        return send("POST", "/v1/session", body, ofPage().toArray(String[]::new));
    }

    /** The two fields of a session. */
    private record Session(String cookie, String proof) {
        static Session of(Response login) {
            assertEquals(200, login.status(), login.body());
            String cookie = login.fields().get("set-cookie");
            return new Session(
                    "Cookie: other=1; " + cookie.substring(0, cookie.indexOf(';')),
                    "X-Millrace-Session: " + member(login.body(), "proof"));
        }
    }

    private static String member(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        assertTrue(found.find(), json);
        return found.group(1);
    }

    private Session session() throws IOException {
        return Session.of(login("{\"token\":\"" + TOKEN + "\"}"));
    }

    @Test
    void startPageIsPublicAndItsPolicyAllowsNoInlineCode() throws IOException {
        Response page = send("GET", "/ui/", "", "Host: " + authority, "Sec-Fetch-Site: cross-site");
        assertEquals(200, page.status());
        assertEquals("text/html; charset=utf-8", page.fields().get("content-type"));
        String policy = page.fields().get("content-security-policy");
        assertTrue(policy.startsWith("default-src 'none';"), policy);
        assertFalse(policy.contains("unsafe"), policy);
        assertTrue(policy.contains("frame-ancestors 'none'"), policy);
        assertTrue(policy.contains("require-trusted-types-for 'script'"), policy);
        assertEquals("nosniff", page.fields().get("x-content-type-options"));
        assertEquals("no-referrer", page.fields().get("referrer-policy"));
        assertEquals("DENY", page.fields().get("x-frame-options"));
        assertNull(page.fields().get("content-encoding"));
        assertEquals(
                "/ui/", send("GET", "/ui", "", "Host: " + authority).fields().get("location"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"gzip, br | gzip", "br;q=1, GZIP;q=0.5 | gzip", "gzip;q=0 |", "br |"})
    void filesAreCompressedForClientsThatAcceptIt(String accepted, String coding) throws IOException {
        // Content of compressed responses is not text: only the head is read.
        try (HttpExchange exchange = HttpExchange.connect(server.tcpAddress())) {
            Response head = exchange.send("HEAD /ui/ HTTP/1.1\r\nHost: " + authority + "\r\nAccept-Encoding: "
                            + accepted + "\r\n\r\n")
                    .readHead();
            assertEquals(200, head.status());
            assertEquals(coding, head.fields().get("content-encoding"));
            assertEquals("accept-encoding", head.fields().get("vary"));
        }
    }

    @Test
    void filesHaveTheVersionInTheirPathAndThePageIsValidated() throws IOException {
        Response page = send("GET", "/ui/", "", "Host: " + authority);
        Matcher script = Pattern.compile("src=\"(f/[0-9a-f]{16}/)app\\.js\"").matcher(page.body());
        assertTrue(script.find(), page.body());
        for (String name : List.of("app.js", "vendor/htm-preact.js", "style.css")) {
            Response file = send("GET", "/ui/" + script.group(1) + name, "", "Host: " + authority);
            assertEquals(200, file.status(), name);
            assertTrue(file.fields().get("cache-control").contains("immutable"), file.toString());
        }
        for (String absent : List.of("/ui/f/0123456789abcdef/app.js", "/ui/" + script.group(1) + "..%2Ffiles.txt")) {
            assertEquals(404, send("GET", absent, "", "Host: " + authority).status(), absent);
        }
        try (HttpExchange exchange = HttpExchange.connect(server.tcpAddress())) {
            Response unchanged = exchange.send("GET /ui/ HTTP/1.1\r\nHost: " + authority + "\r\nIf-None-Match: "
                            + page.fields().get("etag") + "\r\n\r\n")
                    .readHead();
            assertEquals(304, unchanged.status());
            assertNull(unchanged.fields().get("content-length"));
        }
    }

    @Test
    void tokenOpensASessionWithAStrictCookie() throws IOException {
        Response login = login("{\"token\":\"" + TOKEN + "\"}");
        Session session = Session.of(login);
        String cookie = login.fields().get("set-cookie");
        int port = server.tcpAddress().getPort();
        assertTrue(cookie.startsWith("millrace-session-" + port + "="), cookie);
        assertTrue(cookie.endsWith("; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict"), cookie);
        assertFalse(login.body().contains(TOKEN));
        assertEquals(
                200,
                send("GET", "/metrics", "", "Host: " + authority, session.cookie(), session.proof())
                        .status());
        assertEquals(200, change(session, "Origin: http://" + authority, "Sec-Fetch-Site: same-origin"));
        // Browsers without Sec-Fetch-Site send Origin with every POST.
        assertEquals(200, change(session, "Origin: http://" + authority));
    }

    private int change(Session session, String... fields) throws IOException {
        List<String> all = new ArrayList<>(List.of("Host: " + authority, session.cookie(), session.proof()));
        all.addAll(List.of(fields));
        return send("POST", "/v1/change", "{}", all.toArray(String[]::new)).status();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Origin: http://evil.example",
                "Origin: null",
                "Origin: https://AUTHORITY",
                "Origin: http://AUTHORITY|Sec-Fetch-Site: cross-site",
                "Origin: http://AUTHORITY|Sec-Fetch-Site: same-site",
                "Sec-Fetch-Site: none",
                "Sec-Fetch-Site: same-origin",
                "X: y"
            })
    void changeFromAnotherPageIsRefused(String fields) throws IOException {
        Session session = session();
        assertEquals(403, change(session, fields.replace("AUTHORITY", authority).split("\\|")));
    }

    @Test
    void cookieAloneIsRefusedEvenForReads() throws IOException {
        Session session = session();
        Session other = session();
        Response alone = send("GET", "/metrics", "", "Host: " + authority, session.cookie());
        assertEquals(403, alone.status());
        assertEquals("page-refused", member(alone.body(), "code"));
        assertEquals(
                403,
                send("GET", "/metrics", "", "Host: " + authority, session.cookie(), other.proof())
                        .status());
        assertEquals(
                401,
                send("GET", "/metrics", "", "Host: " + authority, session.proof())
                        .status());
        assertEquals(
                403,
                send(
                                "GET",
                                "/metrics",
                                "",
                                "Host: " + authority,
                                session.cookie(),
                                session.proof(),
                                "Sec-Fetch-Site: cross-site")
                        .status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example"})
    void nameOfAnotherHostIsRefusedAgainstRebinding(String host) throws IOException {
        Session session = session();
        assertEquals(403, send("GET", "/ui/", "", "Host: " + host).status());
        assertEquals(
                403,
                send("GET", "/metrics", "", "Host: " + host, session.cookie(), session.proof())
                        .status());
        assertEquals(
                403,
                send(
                                "POST",
                                "/v1/session",
                                "{\"token\":\"" + TOKEN + "\"}",
                                "Host: " + host,
                                "Origin: http://" + host,
                                "X-Millrace-Session: none",
                                JSON)
                        .status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Origin", "X-Millrace-Session"})
    void loginNeedsTheFieldsOfThePage(String missing) throws IOException {
        List<String> fields = ofPage();
        fields.removeIf(field -> field.startsWith(missing + ":"));
        Response refused = send("POST", "/v1/session", "{\"token\":\"" + TOKEN + "\"}", fields.toArray(String[]::new));
        assertEquals(403, refused.status(), refused.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"token\":\"a\",\"code\":\"b\"}", "{\"token\":5}", "[]", "", "{\"user\":\"a\"}"})
    void malformedLoginIsRefused(String body) throws IOException {
        assertEquals(400, login(body).status());
    }

    /** Sends failed logins until one is refused because there were too many. */
    private void exhaust(String body, String code) throws IOException {
        for (int i = 0; i < 5; i++) {
            Response wrong = login(body);
            assertEquals(401, wrong.status());
            assertEquals(code, member(wrong.body(), "code"));
            assertNull(wrong.fields().get("set-cookie"));
        }
        Response limited = login(body);
        assertEquals(429, limited.status());
        assertEquals("too-many-logins", member(limited.body(), "code"));
        assertTrue(Integer.parseInt(limited.fields().get("retry-after")) > 0);
    }

    private void assertRefused(String reason, int times) throws IOException {
        Response metrics = send("GET", "/metrics", "", "Host: " + authority, "Authorization: Bearer " + TOKEN);
        assertTrue(metrics.body().contains("reason=\"" + reason + "\"} " + times + ".0\n"), metrics.body());
    }

    @Test
    void failedLoginsAreLimitedAndCounted() throws IOException {
        exhaust("{\"token\":\"0123456789abcdeg\"}", "wrong-token");
        assertEquals(429, login("{\"token\":\"" + TOKEN + "\"}").status(), "no token is compared above the limit");
        assertRefused("wrong-token", 5);
        assertRefused("too-many-logins", 2);
        assertRefused("wrong-code", 0);
    }

    /**
     * Another user of the machine has the same address, and must not lock out the user of {@code millctl dashboard}.
     */
    @Test
    void failedLoginsLockOutNoCode() throws IOException {
        exhaust("{\"token\":\"0123456789abcdeg\"}", "wrong-token");
        exhaust("{\"code\":\"0123456789abcdeg\"}", "wrong-code");
        assertRefused("wrong-code", 5);
        Response opened =
                send("POST", "/v1/dashboard/open", "{}", "Host: " + authority, "Authorization: Bearer " + TOKEN);
        String url = member(opened.body(), "url");
        assertEquals(
                200,
                login("{\"code\":\"" + url.substring(url.indexOf('=') + 1) + "\"}")
                        .status());
    }

    @Test
    void wrongCodesDoNotCountAgainstTokens() throws IOException {
        exhaust("{\"code\":\"0123456789abcdeg\"}", "wrong-code");
        session();
    }

    /** A browser sends the cookies of all ports of a host name to each of them. */
    @Test
    void dashboardsOnTwoPortsDoNotDisturbEachOther() throws IOException {
        Session listener = session();
        String url =
                member(HttpExchange.post(socket, "/v1/dashboard/open", "{}").body(), "url");
        Matcher parts =
                Pattern.compile("http://(127\\.0\\.0\\.1:(\\d+))/ui/#code=(.*)").matcher(url);
        assertTrue(parts.matches(), url);
        InetSocketAddress port = new InetSocketAddress(Integer.parseInt(parts.group(2)));
        String first = authority;
        authority = parts.group(1);
        Session command = Session.of(send(
                port, "POST", "/v1/session", "{\"code\":\"" + parts.group(3) + "\"}", ofPage().toArray(String[]::new)));
        String both = listener.cookie() + "; " + command.cookie().replace("Cookie: other=1; ", "");
        assertEquals(
                200,
                send("GET", "/metrics", "", "Host: " + first, both, listener.proof())
                        .status());
        assertEquals(
                200,
                send(port, "GET", "/metrics", "", "Host: " + authority, both, command.proof())
                        .status());
        Response ended = send(
                port,
                "POST",
                "/v1/session/end",
                "{}",
                "Host: " + authority,
                "Origin: http://" + authority,
                both,
                command.proof());
        assertEquals("{\"ended\":1}", ended.body());
        assertTrue(ended.fields().get("set-cookie").startsWith("millrace-session-" + parts.group(2) + "=;"));
        assertEquals(
                200,
                send("GET", "/metrics", "", "Host: " + first, both, listener.proof())
                        .status());
    }

    /** A cookie of the same name that is no session any more hides no other. */
    @Test
    void cookieOfAnEndedSessionIsIgnored() throws IOException {
        Session session = session();
        Session other = session();
        String port = "millrace-session-" + server.tcpAddress().getPort() + "=";
        for (String more :
                List.of("unknown", other.cookie().substring(other.cookie().indexOf(port) + port.length()))) {
            String cookies = "Cookie: " + port + more + "; " + session.cookie().replace("Cookie: other=1; ", "");
            assertEquals(
                    200,
                    send("GET", "/metrics", "", "Host: " + authority, cookies, session.proof())
                            .status());
        }
    }

    @Test
    void logoutEndsTheSessionAtOnce() throws IOException {
        Session session = session();
        Session other = session();
        Response ended = send(
                "POST",
                "/v1/session/end",
                "{}",
                "Host: " + authority,
                "Origin: http://" + authority,
                session.cookie(),
                session.proof());
        assertEquals("{\"ended\":1}", ended.body());
        assertTrue(ended.fields().get("set-cookie").contains("Max-Age=0"), ended.toString());
        assertEquals(401, change(session, "Origin: http://" + authority));
        assertEquals(200, change(other, "Origin: http://" + authority));
        assertEquals(
                "{\"ended\":1}",
                HttpExchange.post(socket, "/v1/sessions/end", "{}").body());
        assertEquals(401, change(other, "Origin: http://" + authority));
        assertEquals(
                400,
                HttpExchange.post(socket, "/v1/session/end", "{\"all\":\"true\"}")
                        .status());
    }

    @Test
    void nothingForBrowsersIsOnTheUnixSocket() throws IOException {
        assertEquals(404, HttpExchange.get(socket, "/ui/").status());
        assertEquals(404, HttpExchange.get(socket, "/ui").status());
        assertEquals(
                404,
                HttpExchange.post(socket, "/v1/session", "{\"token\":\"" + TOKEN + "\"}")
                        .status());
    }

    @Test
    void viewersShareTheMetrics() throws IOException {
        Session session = session();
        Response metrics =
                send("GET", "/v1/dashboard/metrics", "", "Host: " + authority, session.cookie(), session.proof());
        assertEquals(200, metrics.status());
        assertTrue(metrics.body().startsWith("up 1\n"), metrics.body());
        assertEquals(
                401,
                send("GET", "/v1/dashboard/metrics", "", "Host: " + authority).status());
    }

    @ParameterizedTest
    @CsvSource({
        "/ui,         false, false, dashboard-refused",
        "/ui/app.js,  false, false, dashboard-refused",
        "/ui/?x,      false, false, dashboard-refused",
        "/v1/session, false, false, dashboard-refused",
        "/v1/%73ession, false, false, dashboard-refused",
        "/v1/session#x, false, false, dashboard-refused",
        "/v1%2Fsession, false, false, dashboard-refused",
        "/%75i/,      false, false, dashboard-refused",
        "/ui#/,       false, false, dashboard-refused",
        "/ui%2Ff/x/app.js?x, false, false, dashboard-refused",
        "/v1/%zzession, false, false, unauthorized",
        "/metrics,    false, false, unauthorized",
        "/ui/?x,      true,  false, unauthorized",
        "/ui/?x,      false, true,  unauthorized"
    })
    void otherAddressesNeedTls(String target, boolean isSecure, boolean isLocal, String code) throws IOException {
        Dashboard dashboard = new Dashboard(token(), null, limit -> {}, System::nanoTime);
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, target);
        request.headers().set("host", "192.0.2.1:9090");
        request.headers().set("cookie", "millrace-session-9090=x; __Host-millrace-session=x");
        TcpGuard guard = TcpGuard.of(token(), "192.0.2.1", dashboard);
        assertEquals(
                code,
                guard.refusal(request, false, new TcpGuard.Link(isSecure, isLocal))
                        .code());
        assertNull(guard.token(request, new TcpGuard.Link(isSecure, isLocal)));
    }

    @Test
    void commandOpensALoopbackPortForItsTime() throws IOException {
        Path other = directory.resolve("other.sock");
        try (AdminServer withoutTcp = builder().unixSocket(other).start()) {
            assertNull(withoutTcp.tcpAddress());
            String opened = HttpExchange.post(other, "/v1/dashboard/open", "{}").body();
            String url = member(opened, "url");
            Matcher parts = Pattern.compile("http://(127\\.0\\.0\\.1:(\\d+))/ui/#code=([A-Za-z0-9_-]{32})")
                    .matcher(url);
            assertTrue(parts.matches(), url);
            authority = parts.group(1);
            InetSocketAddress port = new InetSocketAddress(Integer.parseInt(parts.group(2)));
            String code = "{\"code\":\"" + parts.group(3) + "\"}";
            Response login = send(port, "POST", "/v1/session", code, ofPage().toArray(String[]::new));
            Session session = Session.of(login);
            Response again = send(port, "POST", "/v1/session", code, ofPage().toArray(String[]::new));
            assertEquals("wrong-code", member(again.body(), "code"));
            // Without admin.token_file no token is right.
            assertEquals(
                    401,
                    send(port, "POST", "/v1/session", "{\"token\":\"null\"}", ofPage().toArray(String[]::new))
                            .status());
            assertEquals(
                    401,
                    send(port, "GET", "/metrics", "", "Host: " + authority, "Authorization: Bearer " + TOKEN)
                            .status());
            assertEquals(
                    200,
                    send(port, "GET", "/metrics", "", "Host: " + authority, session.cookie(), session.proof())
                            .status());
            String lease = "{\"lease\":\"" + member(opened, "lease") + "\"}";
            assertEquals(
                    "{\"lease_seconds\":30}",
                    HttpExchange.post(other, "/v1/dashboard/renew", lease).body());
            assertEquals(
                    "{\"lease_seconds\":0}",
                    HttpExchange.post(other, "/v1/dashboard/close", lease).body());
            assertEquals(
                    409, HttpExchange.post(other, "/v1/dashboard/renew", lease).status());
            assertEquals(
                    409, HttpExchange.post(other, "/v1/dashboard/close", lease).status());
            Awaitility.await()
                    .untilAsserted(() ->
                            assertThrows(IOException.class, () -> send(port, "GET", "/ui/", "", "Host: " + authority)));
            assertEquals(
                    "{\"ended\":0}",
                    HttpExchange.post(other, "/v1/sessions/end", "{}").body());
        }
    }

    @Test
    void commandOverTcpGetsACodeForTheListenerOfItsRequest() throws IOException {
        Response opened =
                send("POST", "/v1/dashboard/open", "{}", "Host: " + authority, "Authorization: Bearer " + TOKEN);
        assertEquals("", member(opened.body(), "lease"));
        String url = member(opened.body(), "url");
        assertTrue(url.startsWith("http://" + authority + "/ui/#code="), url);
        assertEquals(
                200,
                login("{\"code\":\"" + url.substring(url.indexOf('=') + 1) + "\"}")
                        .status());
    }

    @Test
    void repliesAreJson() throws IOException {
        Response login = login("{\"token\":\"" + TOKEN + "\"}");
        Json.parser(login.body().getBytes(StandardCharsets.UTF_8)).close();
        assertEquals("no-store", login.fields().get("cache-control"));
    }
}
