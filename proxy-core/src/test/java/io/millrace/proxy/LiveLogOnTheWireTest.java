package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The live log over the real sockets of clients, origin and admin API. */
class LiveLogOnTheWireTest {
    private static final String AS_VIEWER = "Millrace-Admin-Caller: token=t role=viewer\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(boolean fastLane, String... settings) throws IOException {
        proxy.start(
                request -> {
                    if (request.has(" /broken")) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
                        request.reset();
                    } else if (request.has(" /error")) {
                        request.send("HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content"));
                    }
                },
                config -> {
                    config.set("worker.fast_lane", String.valueOf(fastLane))
                            .set("admin.socket", directory.resolve("admin.sock").toString());
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
    }

    /** Sends a GET to the admin API and returns head and body of the response. */
    private String admin(String target, String fields) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(directory.resolve("admin.sock")));
            channel.write(StandardCharsets.US_ASCII.encode(
                    "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields + "\r\n"));
            ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
            while (channel.read(buffer) >= 0) {
                assertTrue(buffer.hasRemaining());
            }
            return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
        }
    }

    private static String member(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
        assertTrue(found.find(), () -> name + " is not in " + json);
        return found.group(1);
    }

    private static List<String> records(String answer) {
        List<String> records = new ArrayList<>();
        Matcher found = Pattern.compile("\\{\"time\"[^}]*}").matcher(answer);
        while (found.find()) {
            records.add(found.group());
        }
        return records;
    }

    private String open(String where, String fields) throws IOException {
        String query = where.isEmpty() ? "" : "?where=" + URLEncoder.encode(where, StandardCharsets.UTF_8);
        String answer = admin("/v1/log/live" + query, fields);
        assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
        return member(answer, "viewer");
    }

    /** Takes records until there are so many. */
    private List<String> take(String viewer, int count, String fields) throws IOException {
        List<String> taken = new ArrayList<>();
        String last = "0";
        while (taken.size() < count) {
            String answer = admin("/v1/log/live?viewer=" + viewer + "&after=" + last, fields);
            assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
            assertEquals("0", member(answer, "lost"));
            for (String record : records(answer)) {
                taken.add(record);
                last = member(record, "number");
            }
        }
        return taken;
    }

    /** Waits until the event loop has written the records of all requests. */
    private void awaitEnd() {
        proxy.settle();
        ProxyExtension.await(
                "the end of requests", () -> proxy.proxy().metrics().total(Counter.REQUESTS_ACTIVE) == 0);
        proxy.settle();
    }

    private List<String> kept(String kind) throws IOException {
        awaitEnd();
        return records(admin("/v1/log/kept?kind=" + kind, ""));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aViewerSeesMissesAndHitsWithTheirFields(boolean fastLane) throws IOException {
        start(fastLane);
        proxy.getAndSettle("/before");
        String viewer = open("", "");
        proxy.getAndSettle("/a?%3Cscript%3E", "User-Agent: \"test\"\r\n");
        proxy.getAndSettle("/a?%3Cscript%3E");
        List<String> records = take(viewer, 2, "");
        assertEquals("TCP_MISS", member(records.get(0), "result"));
        assertEquals("200", member(records.get(0), "origin_status"));
        assertTrue(Long.parseLong(member(records.get(0), "first_byte_us")) > 0);
        assertTrue(records.get(0).contains("\"user_agent\":\"\\\"test\\\"\""), records.get(0));
        assertEquals("TCP_MEM_HIT", member(records.get(1), "result"));
        assertEquals("127.0.0.1", member(records.get(1), "client"));
        assertFalse(records.get(1).contains("first_byte_us"), records.get(1));
        assertTrue(records.get(1).contains("/a?%3Cscript%3E\""), records.get(1));
        assertTrue(proxy.proxy().metricsText().contains("millrace_live_log_viewers{application=\"millrace\"} 1"));
    }

    @Test
    void aConditionSelectsRequestsAndItsErrorsHaveAPosition() throws IOException {
        start(true);
        String viewer = open("status >= 500 && path == \"/error\"", "");
        proxy.getAndSettle("/a");
        proxy.getAndSettle("/error");
        List<String> records = take(viewer, 1, "");
        assertEquals(1, records.size());
        assertEquals("500", member(records.get(0), "status"));
        String refused = admin("/v1/log/live?where=status+%3E%3D+%22x%22", "");
        assertTrue(refused.startsWith("HTTP/1.1 400"), refused);
        assertTrue(refused.contains("\"code\":\"bad-expression\""), refused);
        assertTrue(refused.contains("where:1:11:"), refused);
        assertTrue(admin("/v1/log/live?viewer=0123", "").contains("unknown-viewer"));
        assertTrue(admin("/v1/log/live?viewer=" + viewer + "&wait=21", "").startsWith("HTTP/1.1 400"));
        assertTrue(admin("/v1/log/kept?kind=quick", "").contains("slow, failed, refused"));
    }

    /** The launcher passes the role of a token to the worker. */
    @Test
    void theRoleViewerSeesNoAddressesOfClients() throws IOException {
        start(true);
        String viewer = open("", AS_VIEWER);
        proxy.getAndSettle("/error");
        String record = take(viewer, 1, AS_VIEWER).get(0);
        assertFalse(record.contains("\"client\""), record);
        assertFalse(admin("/v1/log/kept?kind=failed", AS_VIEWER).contains("\"client\""));
        String guess = admin("/v1/log/live?where=client+%3D%3D+%22127.0.0.1%22", AS_VIEWER);
        assertTrue(guess.startsWith("HTTP/1.1 403"), guess);
        assertTrue(guess.contains("\"code\":\"role-refused\""), guess);
    }

    @Test
    void failedAndRefusedRequestsAreKeptWithoutAViewer() throws IOException {
        start(true);
        proxy.getAndSettle("/a");
        proxy.getAndSettle("/a");
        proxy.getAndSettle("/error");
        // This client stays connected, so that the origin ends the response, and not the client.
        proxy.client().send("GET /broken HTTP/1.1\r\nHost: test.example\r\n\r\n");
        try (RawClient client = new RawClient(proxy.address())) {
            assertEquals(
                    400,
                    client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
                            .response()
                            .status());
        }
        ProxyExtension.await("two failed requests", () -> {
            try {
                return kept("failed").size() == 2;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        List<String> failed = kept("failed");
        assertTrue(failed.stream().anyMatch(record -> member(record, "status").equals("500")), failed.toString());
        assertTrue(failed.stream().anyMatch(record -> record.contains("/broken\"")), failed.toString());
        List<String> refused = kept("refused");
        assertEquals(1, refused.size());
        assertEquals("400", member(refused.get(0), "status"));
        assertEquals(List.of(), kept("slow"));
    }

    @Test
    void slowRequestsAreThoseWithALateFirstByte() throws IOException {
        start(true, "log.slow_threshold", "1us");
        proxy.getAndSettle("/a");
        proxy.getAndSettle("/a");
        List<String> slow = kept("slow");
        assertEquals(1, slow.size(), "a hit from RAM is never slow: " + slow);
        assertEquals("TCP_MISS", member(slow.get(0), "result"));
    }

    @Test
    void withoutAnAdminApiThereIsNoLiveLog() throws IOException {
        proxy.start(request -> request.ok("", RawInput.latin1("x")));
        assertNull(proxy.proxy().liveLog());
        proxy.getAndSettle("/a");
    }
}
