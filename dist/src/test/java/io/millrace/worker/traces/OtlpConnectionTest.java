package io.millrace.worker.traces;

import static io.millrace.worker.traces.ScriptedCollector.CLOSE;
import static io.millrace.worker.traces.ScriptedCollector.EARLY;
import static io.millrace.worker.traces.ScriptedCollector.SILENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.millrace.proxy.tls.TestAuthority;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests the connection to the collector with answers that servers give seldom. */
class OtlpConnectionTest {
    @TempDir
    Path directory;

    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    private static ByteBuf body(OtlpClient client) throws IOException {
        return client.body(new byte[1000], 0, 1000);
    }

    private static OtlpClient client(URI url) {
        return new OtlpClient(url, null, false, Map::of);
    }

    /** An answer, its status, and the connections that it and a second request need. */
    private enum Answer {
        KEPT(OK, 200, 1),
        NO_CONTENT("HTTP/1.1 204 No Content\r\n\r\n", 204, 1),
        WITH_CONTENT("HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nbad", 400, 1),
        CHUNKED("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\n\0\r\n0\r\n\r\n", 200, 1),
        LONG("HTTP/1.1 500 Error\r\nContent-Length: 300000\r\n\r\n" + "x".repeat(300_000), 500, 1),
        CONTINUE("HTTP/1.1 100 Continue\r\n\r\n" + OK, 200, 1),
        EARLY_HINTS("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK, 200, 1),
        REDIRECT("HTTP/1.1 307 Moved\r\nLocation: /v2/traces\r\nContent-Length: 0\r\n\r\n", 307, 1),
        UNAUTHORIZED("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n", 401, 1),
        PROXY_AUTHENTICATION("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", 407, 1),
        SWITCHED("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", 101, 2),
        CLOSE_ANNOUNCED("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 200, 2),
        CLOSED("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" + CLOSE, 503, 2),
        UNTIL_CLOSE("HTTP/1.1 200 OK\r\n\r\n" + CLOSE, 200, 2),
        OLD("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 2);

        final String script;
        final int status;
        final int connections;

        Answer(String script, int status, int connections) {
            this.script = script;
            this.status = status;
            this.connections = connections;
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAnswerIsReadAndTheConnectionKeptIfPossible(Answer answer) throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = client(collector.url())) {
            collector.answer(answer.script);
            assertEquals(answer.status, client.post(body(client)).status());
            if (answer.script.endsWith(CLOSE)) {
                // The loss must be noticed before the next request.
                Awaitility.await().until(client::isUnconnected);
            }
            collector.answer(OK);
            assertEquals(200, client.post(body(client)).status());
            assertEquals(answer.connections, collector.connections());
            assertEquals(2, collector.requests().size());
            for (String request : collector.requests()) {
                assertTrue(request.startsWith("POST /v1/traces HTTP/1.1\r\n"), request);
                assertFalse(request.toLowerCase(Locale.ROOT).contains("expect:"), request);
            }
        }
    }

    /** An answer that is not valid, with the reason for the log. */
    private enum Failure {
        NOTHING(CLOSE, "the collector closed the connection without an answer"),
        CUT_OFF(
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345" + CLOSE,
                "the collector closed the connection without an answer"),
        NOT_HTTP("220 mail.example.com ESMTP\r\n\r\n", "the answer is not valid HTTP"),
        LONG_HEAD("HTTP/1.1 200 OK\r\nX: " + "x".repeat(100_000) + "\r\n\r\n", "the answer is not valid HTTP");

        final String script;
        final String reason;

        Failure(String script, String reason) {
            this.script = script;
            this.reason = reason;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFailureIsNamedAndTheRequestNotRepeated(Failure failure) throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = client(collector.url())) {
            collector.answer(OK);
            client.post(body(client));
            collector.answer(failure.script);
            IOException thrown = assertThrows(IOException.class, () -> client.post(body(client)));
            assertEquals(failure.reason, thrown.getMessage());
            collector.answer(OK);
            assertEquals(200, client.post(body(client)).status());
            assertEquals(3, collector.requests().size());
            assertEquals(2, collector.connections());
        }
    }

    /** An answer whose end does not arrive. The collector keeps the connection open. */
    private enum Unfinished {
        NOTHING(SILENCE),
        INTERIM("HTTP/1.1 100 Continue\r\n\r\n"),
        HALF_OF_THE_HEAD("HTTP/1.1 200 OK\r\nContent-"),
        HALF_OF_THE_CONTENT("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");

        final String script;

        Unfinished(String script) {
            this.script = script;
        }
    }

    /** The limit is shorter than that of the product. A late answer could otherwise count for the next request. */
    @ParameterizedTest
    @EnumSource
    void aRequestEndsAtItsLimitAndEndsTheConnection(Unfinished answer) throws Exception {
        assertEquals(Duration.ofSeconds(10), OtlpConnection.TIMEOUT);
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = new OtlpClient(collector.url(), null, false, Map::of, Duration.ofSeconds(1))) {
            collector.answer(answer.script);
            IOException thrown = assertThrows(IOException.class, () -> client.post(body(client)));
            assertEquals("no answer within 1 s", thrown.getMessage());
            assertTrue(client.isUnconnected());
            collector.awaitEvent(CLOSE);
            assertEquals(1, collector.requests().size());
        }
    }

    /** The collector refuses a request at its head, and does not read the content. */
    @Test
    void anAnswerBeforeTheEndOfTheRequestEndsTheConnection() throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = client(collector.url())) {
            byte[] large = new byte[20 << 20];
            collector.answer(EARLY + "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
            assertEquals(413, client.post(client.body(large, 0, large.length)).status());
            assertTrue(client.isUnconnected());
        }
    }

    @Test
    void anInterruptEndsTheWaitAndTheConnection() throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = client(collector.url())) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            Thread sender = new Thread(() -> {
                try {
                    client.post(body(client));
                    ended.complete(null);
                } catch (IOException | InterruptedException e) {
                    ended.completeExceptionally(e);
                }
            });
            collector.answer(SILENCE);
            sender.start();
            collector.awaitEvent(SILENCE);
            sender.interrupt();
            Throwable thrown =
                    assertThrows(ExecutionException.class, ended::get).getCause();
            assertEquals(InterruptedException.class, thrown.getClass());
            collector.awaitEvent(CLOSE);
            sender.join();
        }
    }

    /** Names that a client of the JDK would refuse or omit are sent. */
    @ParameterizedTest
    @ValueSource(strings = {"Via", "Origin", "Keep-Alive", "Authorization", "Access-Control-Request-Method"})
    void anyFieldOfTheFileIsSent(String name) throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector();
                OtlpClient client = new OtlpClient(collector.url(), null, false, () -> Map.of(name, "a value"))) {
            collector.answer(OK);
            client.post(body(client));
            assertTrue(collector.requests().get(0).contains("\r\n" + name + ": a value\r\n"), name);
        }
    }

    /** URLs with the Host and the target of the request. {@code PORT} is the port of the collector. */
    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:PORT/v1/traces", "http://localhost:PORT/a%20b?c=d%26"})
    void hostAndTargetAreThoseOfTheUrl(String pattern) throws Exception {
        try (ScriptedCollector collector = new ScriptedCollector()) {
            URI url = URI.create(
                    pattern.replace("PORT", Integer.toString(collector.url().getPort())));
            try (OtlpClient client = client(url)) {
                collector.answer(OK);
                client.post(body(client));
            }
            String request = collector.requests().get(0);
            String target = url.toString().substring(url.toString().indexOf('/', "http://".length()));
            assertTrue(request.startsWith("POST " + target + " HTTP/1.1\r\n"), request);
            assertTrue(request.contains("\r\nhost: " + url.getAuthority() + "\r\n"), request);
        }
    }

    /** Names of the collector's certificate, and whether its authority is that of the file. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "localhost, true, none",
                "other.example, true, 'name matching localhost found'",
                "localhost, false, 'unable to find valid certification path'",
            })
    void theCertificateOfTheCollectorIsVerified(String name, boolean isOfAuthority, @Nullable String problem)
            throws Exception {
        TestAuthority authority = new TestAuthority("traces");
        TestAuthority trusted = isOfAuthority ? authority : new TestAuthority("another");
        Path file = Files.writeString(directory.resolve("ca.pem"), trusted.rootPem());
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(OtlpConnectionTest.class), 1, System::nanoTime);
        try (FakeCollector collector = new FakeCollector(OtlpExportTest.context(authority.issue(name)))) {
            String endpoint = collector.url("localhost");
            TraceConfig config =
                    new TraceConfig(endpoint, 1, 0, "x", false, TraceConfig.Compression.NONE, null, file, null, null);
            try (OtlpClient client = OtlpClient.open(endpoint, config, faults)) {
                ByteBuf empty = client.body(new byte[0], 0, 0);
                if (problem == null) {
                    assertEquals(200, client.post(empty).status());
                } else {
                    String message = assertThrows(IOException.class, () -> client.post(empty))
                            .getMessage();
                    assertTrue(message.contains(problem), message);
                }
            }
        }
    }
}
