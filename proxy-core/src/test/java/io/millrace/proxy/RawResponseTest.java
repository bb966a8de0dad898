package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Raw responses of origins over real sockets. For an invalid response the client receives an error, or an end that
 * differs from that of a complete response. It is not stored as complete, and no other request receives the bytes
 * behind it.
 */
class RawResponseTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n";
    private static final String CHUNKED = OK + "Transfer-Encoding: chunked\r\n\r\n";
    private static final String POISON =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\npoison";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final Map<String, Case> cases = new ConcurrentHashMap<>();
    private final Map<String, Integer> asked = new ConcurrentHashMap<>();

    /** The part of it that the client may receive. */
    private enum Expected {
        /** An error response of the proxy. */
        ERROR,
        /** An error, or a head and an end that shows that content is missing. */
        CUT,
        /** The complete content {@code hello}. */
        WHOLE,
        /** No content. */
        EMPTY
    }

    private enum End {
        CLOSE,
        RESET,
        STAY
    }

    private record Case(String name, String wire, End end, Expected expected) {}

    private void origin(RawOrigin.Exchange request) throws IOException {
        String path = request.head().split(" ", -1)[1];
        Case each = cases.get(path);
        if (each == null || asked.merge(path, 1, Integer::sum) > 1) {
            request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("second" + path));
            return;
        }
        request.send(each.wire);
        switch (each.end) {
            case CLOSE -> request.socket().close();
            case RESET -> request.reset();
            case STAY -> {}
        }
    }

    private static Stream<Case> all() {
        List<Case> all = new ArrayList<>();
        String length5 = OK + "Content-Length: 5\r\n\r\n";
        String length9 = OK + "Content-Length: 9\r\n\r\n";
        for (End end : List.of(End.CLOSE, End.RESET)) {
            all.add(new Case("content shorter than said, " + end, length9 + "hello", end, Expected.CUT));
            all.add(new Case("no content where some is due, " + end, length9, end, Expected.CUT));
            all.add(new Case("chunks without an end, " + end, CHUNKED + "5\r\nhello\r\n", end, Expected.CUT));
            all.add(new Case("end within a chunk, " + end, CHUNKED + "9\r\nhello", end, Expected.CUT));
            all.add(new Case("end within the last chunk, " + end, CHUNKED + "5\r\nhello\r\n0\r\n", end, Expected.CUT));
            all.add(new Case("end within a trailer, " + end, CHUNKED + "5\r\nhello\r\n0\r\nX: y", end, Expected.CUT));
            all.add(new Case("end within the head, " + end, "HTTP/1.1 200 OK\r\nContent-Le", end, Expected.ERROR));
            all.add(new Case("head without its empty line, " + end, OK, end, Expected.ERROR));
            all.add(new Case("nothing, " + end, "", end, Expected.ERROR));
        }
        all.add(new Case("content that only the end delimits, cut", OK + "\r\nhello", End.RESET, Expected.CUT));
        all.add(new Case("content that only the end delimits", OK + "\r\nhello", End.CLOSE, Expected.WHOLE));
        all.add(new Case("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", End.CLOSE, Expected.WHOLE));
        all.add(new Case(
                "HTTP/1.0 with a length, cut",
                "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nhello",
                End.CLOSE,
                Expected.CUT));
        all.add(new Case("more content than said", length5 + "helloworld", End.STAY, Expected.WHOLE));
        all.add(new Case("a second response behind the first", length5 + "hello" + POISON, End.STAY, Expected.WHOLE));
        all.add(new Case(
                "a response behind chunks", CHUNKED + "5\r\nhello\r\n0\r\n\r\n" + POISON, End.STAY, Expected.WHOLE));
        all.add(new Case("204 with content", "HTTP/1.1 204 No Content\r\n\r\n" + POISON, End.STAY, Expected.EMPTY));
        all.add(new Case(
                "204 with a length",
                "HTTP/1.1 204 No Content\r\nContent-Length: 86\r\n\r\n" + POISON,
                End.STAY,
                Expected.EMPTY));
        all.add(new Case("304 with content", "HTTP/1.1 304 Not Modified\r\n\r\n" + POISON, End.STAY, Expected.EMPTY));
        all.add(new Case(
                "101 unasked",
                "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" + POISON,
                End.STAY,
                Expected.ERROR));
        all.add(new Case(
                "1xx without end",
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(300) + length5 + "hello",
                End.STAY,
                Expected.ERROR));
        all.add(new Case(
                "some 1xx", "HTTP/1.1 102 Processing\r\n\r\n".repeat(5) + length5 + "hello", End.STAY, Expected.WHOLE));
        all.add(new Case(
                "100 without end",
                "HTTP/1.1 100 Continue\r\n\r\n".repeat(300) + length5 + "hello",
                End.STAY,
                Expected.ERROR));
        all.add(new Case(
                "1xx that says it has content",
                "HTTP/1.1 103 Early Hints\r\nContent-Length: 86\r\n\r\n" + length5 + "hello",
                End.STAY,
                Expected.WHOLE));
        all.add(new Case(
                "1xx of 100,000 bytes",
                "HTTP/1.1 103 Early Hints\r\nLink: " + "a".repeat(100_000) + "\r\n\r\n" + length5 + "hello",
                End.CLOSE,
                Expected.ERROR));
        all.add(new Case(
                "204 with chunks",
                "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                End.STAY,
                Expected.ERROR));
        all.add(new Case(
                "two lengths alike",
                OK + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
                End.CLOSE,
                Expected.ERROR));
        all.add(new Case(
                "trailers with framing among them",
                CHUNKED + "5\r\nhello\r\n0\r\nContent-Length: 3\r\nTransfer-Encoding: identity\r\n\r\n",
                End.STAY,
                Expected.WHOLE));
        all.add(new Case("extensions", CHUNKED + "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n", End.STAY, Expected.WHOLE));
        all.add(new Case(
                "fields, 50000",
                OK + "X: 1\r\n".repeat(50_000) + "Content-Length: 5\r\n\r\nhello",
                End.CLOSE,
                Expected.ERROR));
        all.add(new Case("head without end", OK + "X: 1\r\n".repeat(50_000), End.STAY, Expected.ERROR));
        for (String fields : List.of(
                "Content-Length: 5\r\nContent-Length: 6",
                "Content-Length: 5\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: chunked\r\nContent-Length: 5",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: xchunked",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: chunked, chunked",
                "Transfer-Encoding: identity",
                "Content-Length: 5, 5, 6",
                "Content-Length: 5\u00a0",
                "HTTP/1.1 200 OK\r\nContent-Length: 5",
                "Transfer-Encoding: \u000bchunked",
                "Transfer-Encoding : chunked",
                "Content-Length: +5",
                "Content-Length: -5",
                "Content-Length: 0x5",
                "Content-Length: 5, 6",
                "Content-Length: ",
                "Content-Length: 99999999999999999999",
                "Content-Length : 5",
                " Content-Length: 5",
                "X: a\r\n b\r\nContent-Length: 5",
                "X: a\u0000b\r\nContent-Length: 5",
                "X: a\rY: b\r\nContent-Length: 5",
                "X: a\nY: b\r\nContent-Length: 5",
                ": x\r\nContent-Length: 5",
                "X\r\nContent-Length: 5",
                "X Y: z\r\nContent-Length: 5",
                "X: " + "a".repeat(100_000) + "\r\nContent-Length: 5")) {
            all.add(new Case(
                    "fields " + RawInput.printable(fields), OK + fields + "\r\n\r\nhello", End.CLOSE, Expected.ERROR));
        }
        for (String line : List.of(
                "HTTP/1.1 abc OK",
                "HTTP/1.1 20 OK",
                "HTTP/1.1 2000 OK",
                "HTTP/1.1 099 Low",
                "HTTP/1.1 600 High",
                "HTTP/1.1 +20 OK",
                "HTTP/1.1  200 OK",
                "HTTP/1.1\t200 OK",
                "HTTP/2.0 200 OK",
                "http/1.1 200 OK",
                "HTP/1.1 200 OK",
                "ICY 200 OK",
                "HTTP/1.1 200 O\u0000K",
                "HTTP/1.1 200 O\rK",
                "garbage\r\nHTTP/1.1 200 OK",
                "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK",
                "HTTP/1.1 200 OK\nSet-Cookie: a=b",
                " HTTP/1.1 200 OK",
                "HTTP/1.1",
                "<html>")) {
            all.add(new Case(
                    "line " + RawInput.printable(line),
                    line + "\r\nContent-Length: 5\r\n\r\nhello",
                    End.CLOSE,
                    Expected.ERROR));
        }
        all.add(new Case("LF alone", length5.replace("\r\n", "\n") + "hello", End.CLOSE, Expected.ERROR));
        // Trailers are not forwarded: the space is harmless there, and RFC 9112 s5.1 requires that it is removed in
        // responses.
        all.add(new Case(
                "space in a trailer", CHUNKED + "5\r\nhello\r\n0\r\nX : y\r\n\r\n", End.CLOSE, Expected.WHOLE));
        for (String chunk : List.of(
                "zz\r\nworld\r\n0\r\n\r\n",
                "-1\r\nworld\r\n0\r\n\r\n",
                "0x5\r\nworld\r\n0\r\n\r\n",
                "fffffffffffffffff\r\nworld\r\n0\r\n\r\n",
                "4\r\nworld\r\n0\r\n\r\n",
                "5\nworld\r\n0\r\n\r\n",
                "5;a\nworld\r\n0\r\n\r\n",
                "5\r\nworld0\r\n\r\n",
                "5;" + "a".repeat(100_000) + "\r\nworld\r\n0\r\n\r\n",
                "ffffffff\r\nworld",
                "\r\nworld\r\n0\r\n\r\n",
                "0\r\nX: " + "y".repeat(100_000) + "\r\n\r\n")) {
            all.add(new Case(
                    "chunk " + RawInput.printable(chunk), CHUNKED + "5\r\nhello\r\n" + chunk, End.CLOSE, Expected.CUT));
        }
        return all.stream();
    }

    @TestFactory
    Stream<DynamicTest> givesAnErrorOrAnEndThatShowsAndStoresNoPart() throws Exception {
        proxy.start(this::origin);
        int[] number = {0};
        return all().map(each -> DynamicTest.dynamicTest(each.name, () -> check(each, "/case-" + number[0]++)));
    }

    private void check(Case each, String path) throws IOException {
        cases.put(path, each);
        String first = answer(path);
        switch (each.expected) {
            // A connection that ends without a byte was idle for too long: the request may be retried (RFC 9112
            // s9.3.1).
            case ERROR ->
                assertTrue(
                        first.startsWith("502 whole")
                                || (each.wire.isEmpty() && first.equals("200 whole second" + path)),
                        first);
            case CUT -> assertTrue(first.startsWith("502 whole") || first.startsWith("200 cut"), first);
            case WHOLE -> assertEquals("200 whole hello", first);
            case EMPTY -> assertTrue(first.endsWith(" whole "), first);
        }
        // Other clients receive neither the part nor the bytes behind it.
        String other = answer("/other" + path);
        assertEquals("200 whole second/other" + path, other);
        String again = answer(path);
        boolean mayBeStored = each.expected == Expected.WHOLE || each.expected == Expected.EMPTY;
        assertTrue(again.equals("200 whole second" + path) || (mayBeStored && again.equals(first)), again);
        assertFalse(again.contains("poison"), again);
    }

    /** RFC 9110 s9.3.2: bytes behind the head of a response to HEAD are neither content nor a response. */
    @Test
    void contentBehindTheHeadOfAnAnswerToHeadIsDropped_rfc9110_s9_3_2() throws Exception {
        proxy.start(this::origin);
        int number = 0;
        for (String wire : List.of(
                OK + "Content-Length: 5\r\n\r\nhello",
                OK + "Content-Length: 5\r\n\r\n" + POISON,
                CHUNKED + "5\r\nhello\r\n0\r\n\r\n" + POISON,
                OK + "\r\n" + POISON)) {
            String path = "/head-" + number++;
            cases.put(path, new Case(path, wire, End.STAY, Expected.EMPTY));
            try (RawClient client = new RawClient(proxy.address())) {
                client.send("HEAD " + path + " HTTP/1.1\r\nHost: test.example\r\n\r\n");
                assertEquals(200, client.head().status());
                client.get("/behind" + path);
                assertEquals("second/behind" + path, client.response().text());
            }
            assertEquals("200 whole second/other" + path, answer("/other" + path));
            assertEquals("200 whole second" + path, answer(path));
        }
    }

    /** Returns the status, whether the response looks complete, and the content, as a client reads it. */
    private String answer(String path) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            client.get(path);
            RawClient.Response head = client.head();
            while (head.status() < 200) {
                head = client.head();
            }
            try {
                byte[] content = client.content(head);
                return head.status() + " whole " + new String(content, StandardCharsets.ISO_8859_1);
            } catch (IOException | NumberFormatException e) {
                return head.status() + " cut";
            }
        }
    }
}
