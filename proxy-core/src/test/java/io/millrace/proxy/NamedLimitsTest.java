package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.RawClient.Response;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.server.ConnectionLimit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests that exceeded limits are named to clients and operators. */
class NamedLimitsTest {
    private static final long QUIET_NANOS = 1000;

    private static final String HEAD = "POST /a HTTP/1.1\r\nHost: test.example\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    @Test
    void aRequestThatIsTooLargeIsRefusedByTheNameOfTheLimitInAnswerAndLog() throws Exception {
        start();
        List<Response> refused = List.of(
                proxy.client().get("/" + "a".repeat(600)).response(),
                proxy.client().get("/", "A: " + "a".repeat(3000)).response(),
                proxy.client().send(HEAD + "Content-Length: 65537\r\n\r\n").response());
        assertEquals(
                List.of(
                        "414 URI Too Long: request line longer than limits.request_line\n",
                        "431 Request Header Fields Too Large: request header larger than limits.request_header\n",
                        "413 Content Too Large: request content larger than limits.request_body\n"),
                refused.stream().map(Response::text).toList());
        assertEquals(
                List.of(
                        "414 \"request line longer than limits.request_line\"",
                        "431 \"request header larger than limits.request_header\"",
                        "413 \"request content larger than limits.request_body\""),
                log(3));
    }

    @Test
    void chunkedBodyAboveTheLimitIsRefusedToo() throws Exception {
        start();
        RawClient chunked = proxy.client().send(HEAD + "Transfer-Encoding: chunked\r\n\r\n");
        chunked.send("10000\r\n").send(new byte[0x10000]).send("\r\n1\r\na\r\n");
        Response refused = chunked.response();

        assertEquals(413, refused.status());
        assertTrue(refused.text().contains("limits.request_body"), refused::text);
        assertEquals(List.of("413 \"request content larger than limits.request_body\""), log(1));
    }

    private void start() throws IOException {
        proxy.start(request -> request.awaitClose(), config -> config.set("limits.request_body", "64KiB")
                .set("limits.request_line", "512B")
                .set("limits.request_header", "2048B")
                .set("log.access.enabled", "true")
                .set("log.access.path", directory.resolve("access.log").toString())
                .set("log.access.format", "%<pssc> \"%<detail>\""));
    }

    private List<String> log(int count) {
        ProxyExtension.await("the log has " + count + " lines", () -> lines().size() >= count);
        return lines();
    }

    private List<String> lines() {
        try {
            Path file = directory.resolve("access.log");
            return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void connectionsBeyondTheLimitHaveALineOfTheLogOnceInAWhile() {
        RecordingLogger logger = new RecordingLogger();
        AtomicLong clock = new AtomicLong();
        AtomicInteger connections = new AtomicInteger(1000);
        ConnectionLimit limit = new ConnectionLimit(connections::get, 4, new FaultLog(logger, QUIET_NANOS, clock::get));
        limit.refused();
        limit.refused();
        limit.refused();
        clock.addAndGet(QUIET_NANOS);
        connections.set(2000);
        limit.refused();

        String said = "WARN client connections are closed immediately, because limits.connections is reached: ";
        assertEquals(
                List.of(
                        said + "1000 in all, 250 for each of 4 event loops",
                        said + "2000 in all, 500 for each of 4 event loops (3 times since it was last logged)"),
                logger.lines());
    }

    @Test
    void withoutALimitEachEventLoopTakesAll() {
        ConnectionLimit limit =
                new ConnectionLimit(() -> 0, 4, new FaultLog(new RecordingLogger(), QUIET_NANOS, System::nanoTime));
        assertEquals(Integer.MAX_VALUE, limit.ofLoop());
    }
}
