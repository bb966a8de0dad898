package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.AdminClientException.Kind;
import io.millrace.cli.client.ScriptedAdmin.End;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AdminClientTest {
    private static final String OK = ScriptedAdmin.response(200, "{\"ok\":true}");

    @TempDir
    private Path directory;

    private Path socket() {
        return directory.resolve("admin.sock");
    }

    private AdminClient client(Duration timeout) {
        return new AdminClient(new AdminAddress.UnixSocket(socket()), null, timeout);
    }

    private AdminClient client() {
        return client(Duration.ofSeconds(60));
    }

    private AdminClientException failure(End end, String... pieces) throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), end, pieces)) {
            AdminClientException failure = assertThrows(AdminClientException.class, () -> client().get("/v1/status"));
            assertEquals(1, admin.requests().size());
            return failure;
        }
    }

    @Test
    void readsAnAnswerWithAContentLength() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.STAY_OPEN, OK)) {
            AdminResponse response = client().get("/v1/status");
            assertEquals(200, response.status());
            assertTrue(response.json().isTrue("ok"));
            String request = admin.requests().get(0);
            assertTrue(request.startsWith("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"), request);
            assertTrue(request.contains("\r\nConnection: close\r\n"), request);
        }
    }

    @Test
    void readsAnAnswerInChunks() throws Exception {
        String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        try (ScriptedAdmin admin = ScriptedAdmin.on(
                socket(), End.STAY_OPEN, head, "6;x=y\r\n{\"ok\":\r\n", "5\r\ntrue}\r\n0\r\nA: b\r\n\r\n")) {
            assertTrue(client().get("/v1/status").json().isTrue("ok"));
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void readsAnAnswerThatComesByteByByte() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.STAY_OPEN, OK.split("(?<=.)"))) {
            assertTrue(client().get("/v1/status").json().isTrue("ok"));
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void sendsJsonWithItsLength() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.CLOSE, OK)) {
            client().post("/v1/cache/purge", "{\"url\":\"http://a/ü\"}".getBytes(StandardCharsets.UTF_8));
            String request = admin.requests().get(0);
            assertTrue(request.startsWith("POST /v1/cache/purge HTTP/1.1\r\n"), request);
            assertTrue(request.contains("\r\nContent-Type: application/json\r\nContent-Length: 21\r\n"), request);
            assertTrue(request.endsWith("\r\n\r\n{\"url\":\"http://a/ü\"}"), request);
        }
    }

    @Test
    void keepsAnErrorAnswerWithItsStatus() throws Exception {
        String error = ScriptedAdmin.response(503, "{\"error\":{\"code\":\"no-worker\",\"message\":\"m\"}}");
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.CLOSE, error)) {
            AdminResponse response = client().get("/v1/status");
            assertEquals(503, response.status());
            assertFalse(response.isSuccess());
            assertEquals("no-worker", response.json().object("error").text("code"));
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void refusesATruncatedAnswer() throws IOException {
        AdminClientException failure = failure(End.CLOSE, OK.substring(0, OK.length() - 3));
        assertEquals(Kind.BROKEN_ANSWER, failure.kind());
        assertTrue(failure.message().endsWith("it ends 3 bytes too early"), failure.message());
    }

    @Test
    void refusesATruncatedChunk() throws IOException {
        AdminClientException failure =
                failure(End.CLOSE, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{}{}\r\n");
        assertEquals(Kind.BROKEN_ANSWER, failure.kind());
    }

    @Test
    void refusesAClosedConnectionWithoutAnAnswer() throws IOException {
        AdminClientException failure = failure(End.CLOSE);
        assertEquals(Kind.BROKEN_ANSWER, failure.kind());
        assertTrue(failure.message().endsWith("the connection was closed before its first byte"), failure.message());
    }

    @Test
    void refusesWhatIsNotHttp() throws IOException {
        AdminClientException failure = failure(End.CLOSE, "-ERR unknown command\u001b[2J\r\n\r\n");
        assertEquals(Kind.BROKEN_ANSWER, failure.kind());
        assertTrue(failure.message().contains("'-ERR unknown command?[2J'"), failure.message());
    }

    @Test
    void refusesAnAnswerThatIsNotJson() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.CLOSE, ScriptedAdmin.response(200, "<html>"))) {
            AdminResponse response = client().get("/v1/status");
            assertEquals(
                    Kind.BROKEN_ANSWER,
                    assertThrows(AdminClientException.class, response::json).kind());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void givesUpAtTheDeadlineWhenTheAnswerDoesNotEnd() throws IOException {
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.STAY_OPEN, OK.substring(0, OK.length() - 3))) {
            AdminClient hurried = client(Duration.ofMillis(300));
            AdminClientException failure = assertThrows(AdminClientException.class, () -> hurried.get("/v1/status"));
            assertEquals(Kind.NO_ANSWER, failure.kind());
            assertEquals(socket() + " did not answer GET /v1/status within 300 ms", failure.message());
            assertEquals(1, admin.requests().size());
        }
    }

    @Test
    void saysThatASocketIsNotThere() {
        AdminClientException failure = assertThrows(AdminClientException.class, () -> client().get("/v1/status"));
        assertEquals(Kind.UNREACHABLE, failure.kind());
        assertEquals(socket() + ": missing", failure.message());
    }

    @Test
    void saysThatADeadProcessLeftTheSocket() throws IOException {
        ScriptedAdmin.on(socket(), End.CLOSE).close();
        AdminClientException failure = assertThrows(AdminClientException.class, () -> client().get("/v1/status"));
        assertEquals(Kind.UNREACHABLE, failure.kind());
        assertEquals(
                socket() + ": no process listens; the process that created the socket has exited", failure.message());
    }

    @Test
    void saysThatAFileIsNotASocket() throws IOException {
        Files.createFile(socket());
        AdminClientException failure = assertThrows(AdminClientException.class, () -> client().get("/v1/status"));
        assertEquals(socket() + ": not a socket", failure.message());
    }

    @Test
    void saysThatATcpPortRefuses() throws IOException {
        int port;
        try (ServerSocket probe = new ServerSocket(0)) {
            port = probe.getLocalPort();
        }
        AdminClient client = new AdminClient(new AdminAddress.Tcp("127.0.0.1", port), null, Duration.ofSeconds(60));
        AdminClientException failure = assertThrows(AdminClientException.class, () -> client.get("/v1/status"));
        assertEquals(Kind.UNREACHABLE, failure.kind());
        // Some JDKs add words.
        String message = "http://127.0.0.1:" + port + ": Connection refused";
        assertTrue(failure.message().startsWith(message), failure.message());
    }

    @Test
    void sendsTheTokenOverTcpOnly() throws Exception {
        try (ScriptedAdmin admin = ScriptedAdmin.onLoopback(End.CLOSE, OK)) {
            new AdminClient(AdminAddress.parse(admin.url()), "s3cret", Duration.ofSeconds(60)).get("/v1/status");
            String request = admin.requests().get(0);
            assertTrue(request.contains("\r\nAuthorization: Bearer s3cret\r\n"), request);
            assertTrue(request.contains("\r\nHost: " + admin.url().substring("http://".length()) + "\r\n"), request);
        }
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket(), End.CLOSE, OK)) {
            new AdminClient(new AdminAddress.UnixSocket(socket()), "s3cret", Duration.ofSeconds(60)).get("/");
            assertFalse(admin.requests().get(0).contains("s3cret"));
        }
    }

    @Test
    void sendsNoTokenInClearTextToAnotherMachine() {
        AdminClient client = new AdminClient(new AdminAddress.Tcp("192.0.2.1", 9), "s3cret", Duration.ofSeconds(60));
        AdminClientException failure = assertThrows(AdminClientException.class, () -> client.get("/v1/status"));
        assertEquals(Kind.UNTRUSTED, failure.kind());
        assertTrue(failure.message().contains("use https://192.0.2.1:9"), failure.message());
        assertFalse(failure.message().contains("s3cret"), failure.message());
    }
}
