package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Raw requests over real sockets, of every class by which two readers of one connection have been made to disagree. What is
 * refused is answered once, the connection ends, nothing of it is a request to the origin, and the next client gets its own answer.
 */
class RawRequestTest {
    private static final String HOST = "Host: test.example\r\n";
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\n" + HOST + "\r\n";
    private static final String CHUNKED = "Transfer-Encoding: chunked\r\n";
    private static final String HELLO = "5\r\nhello\r\n0\r\n\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Request lines and contents as the origin got them whole. */
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    private record Case(String name, String wire, int status, boolean halfClose) {
        Case(String name, String wire, int status) {
            this(name, wire, status, false);
        }
    }

    /** Takes the content by its own reading of the framing and answers with the request's target. */
    private void origin(RawOrigin.Exchange request) throws IOException {
        String line = request.head().substring(0, request.head().indexOf("\r\n"));
        byte[] content;
        try {
            String length = RawClient.field(request.head(), "content-length");
            content = length != null
                    ? request.in().read(Integer.parseInt(length))
                    : RawClient.field(request.head(), "transfer-encoding") != null
                            ? request.in().readChunked()
                            : new byte[0];
        } catch (IOException | NumberFormatException e) {
            // The proxy broke its request off.
            request.socket().close();
            return;
        }
        seen.add(line + " " + new String(content, java.nio.charset.StandardCharsets.ISO_8859_1));
        request.ok("Cache-Control: no-store\r\n", RawInput.latin1(line.split(" ", -1)[1]));
    }

    private static String get(String line, String fields) {
        return line + "\r\n" + HOST + fields + "\r\n";
    }

    private static String get(String fields) {
        return get("GET /a HTTP/1.1", fields);
    }

    private static String post(String fields, String content) {
        return get("POST /a HTTP/1.1", fields) + content;
    }

    private static String length(String content) {
        return "Content-Length: " + content.length() + "\r\n";
    }

    private static String codingAgainstLength(String coding) {
        String content = "0\r\n\r\n" + SMUGGLED;
        return post(length(content) + coding + "\r\n", content);
    }

    private static Stream<Case> framing() {
        List<Case> cases = new ArrayList<>();
        cases.add(new Case("CL.TE", codingAgainstLength("Transfer-Encoding: chunked"), 400));
        cases.add(new Case(
                "TE.CL",
                post(CHUNKED + "Content-Length: 4\r\n", "5c\r\n" + "G".repeat(0x5c) + "\r\n0\r\n\r\n" + SMUGGLED),
                400));
        cases.add(new Case("CL.TE equal", post("Content-Length: 15\r\n" + CHUNKED, HELLO), 400));
        for (String coding : List.of(
                "Transfer-Encoding:chunked",
                "Transfer-Encoding: CHUNKED",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: identity, chunked",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: xchunked",
                "Transfer-Encoding: chunkedx",
                "Transfer-Encoding: \"chunked\"",
                "Transfer-Encoding: 'chunked'",
                "Transfer-Encoding: chunked;",
                "Transfer-Encoding: chunked;q=0",
                "Transfer-Encoding: ,chunked",
                "Transfer-Encoding: chunked,",
                "Transfer-Encoding:",
                "Transfer-Encoding: \u000bchunked",
                "Transfer-Encoding: \u000cchunked",
                "Transfer-Encoding: \u00a0chunked",
                "Transfer-Encoding: \u0085chunked",
                "Transfer-Encoding: chunked\u0000",
                "Transfer-Encoding: ch\tunked",
                "Transfer-Encoding : chunked",
                "Transfer-Encoding\t: chunked",
                "Transfer-Encoding\u0000: chunked",
                "Transfer-Encoding\u00a0: chunked",
                " Transfer-Encoding: chunked",
                "\tTransfer-Encoding: chunked",
                "Transfer-Encoding:\r\n chunked",
                "Transfer-Encoding:\n chunked",
                "Transfer-Encoding\r\n: chunked",
                "X: y\nTransfer-Encoding: chunked",
                "X: y\rTransfer-Encoding: chunked",
                "X: y\r\n\rTransfer-Encoding: chunked",
                "\u0001Transfer-Encoding: chunked",
                "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked")) {
            cases.add(new Case("TE.TE " + printable(coding), codingAgainstLength(coding), 400));
        }
        cases.add(new Case("unknown coding alone", post("Transfer-Encoding: cow\r\n", HELLO), 501));
        cases.add(new Case("coding below chunked", post("Transfer-Encoding: gzip, chunked\r\n", HELLO), 501));
        cases.add(new Case("chunked not last", post("Transfer-Encoding: chunked, gzip\r\n", HELLO), 501));
        cases.add(new Case(
                "TE.0: HTTP/1.0 with a coding",
                get("POST /a HTTP/1.0", CHUNKED + "Connection: keep-alive\r\n") + HELLO,
                400));
        for (String length : List.of(
                "+5",
                "-5",
                "0x5",
                "5,5",
                "5, 5",
                "5;",
                "5 5",
                "5.0",
                "5e0",
                "\"5\"",
                "",
                "five",
                "\u0665",
                "18446744073709551621",
                "9223372036854775808",
                "00000000000000000000000000000000000005",
                "5\u0000",
                "5\u000b",
                "0, 5",
                "5_")) {
            cases.add(new Case(
                    "length " + printable(length),
                    post("Content-Length: " + length + "\r\n", "hello" + SMUGGLED),
                    400));
        }
        cases.add(new Case("length twice", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400));
        cases.add(new Case("lengths that differ", post("Content-Length: 0\r\nContent-Length: 5\r\n", "hello"), 400));
        cases.add(new Case("length in two cases", post("content-length: 0\r\nCONTENT-LENGTH: 5\r\n", "hello"), 400));
        cases.add(new Case("length and space", post("Content-Length : 5\r\n", "hello"), 400));
        cases.add(new Case("length folded", post("Content-Length:\r\n 5\r\n", "hello"), 400));
        return cases.stream();
    }

    private static Stream<Case> chunks() {
        List<Case> cases = new ArrayList<>();
        for (String content : List.of(
                "0x5\r\nhello\r\n0\r\n\r\n",
                "+5\r\nhello\r\n0\r\n\r\n",
                "-5\r\nhello\r\n0\r\n\r\n",
                " 5\r\nhello\r\n0\r\n\r\n",
                "5g\r\nhello\r\n0\r\n\r\n",
                "0_5\r\nhello\r\n0\r\n\r\n",
                "\r\nhello\r\n0\r\n\r\n",
                ";a\r\nhello\r\n0\r\n\r\n",
                "5\nhello\r\n0\r\n\r\n",
                "5\rhello\r\n0\r\n\r\n",
                "5\r\nhello\n0\r\n\r\n",
                "5\r\nhello0\r\n\r\n" + SMUGGLED,
                "5\r\nhelloX\r\n0\r\n\r\n",
                "4\r\nhello\r\n0\r\n\r\n",
                "5\r\nhello\r\n0\n\r\n" + SMUGGLED,
                "100000000\r\nhello\r\n",
                "100000005\r\nhello\r\n0\r\n\r\n",
                "ffffffff\r\nhello\r\n0\r\n\r\n",
                "fffffffffffffff5\r\nhello\r\n0\r\n\r\n",
                "10000000000000005\r\nhello\r\n0\r\n\r\n",
                "5;a\nhello\r\n0\r\n\r\n",
                "5;a\rb\r\nhello\r\n0\r\n\r\n",
                "5;a\u0000b\r\nhello\r\n0\r\n\r\n",
                "2;\nxx\r\n" + Integer.toHexString(5 + SMUGGLED.length()) + "\r\n0\r\n\r\n" + SMUGGLED
                        + "\r\n0\r\n\r\n",
                "5;" + "a".repeat(70_000) + "\r\nhello\r\n0\r\n\r\n",
                "5\r\nhello\r\n0\r\n" + SMUGGLED,
                "5\r\nhello\r\n0\r\nX : 1\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: 1\n\r\n",
                "5\r\nhello\r\n0\r\n X: 1\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: a\u0000b\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: " + "a".repeat(70_000) + "\r\n\r\n",
                "5\r\nhello\r\n0\r\n" + "X: 1\r\n".repeat(20_000) + "\r\n")) {
            // A large size is a size: what it announces never comes, and the half close ends the waiting.
            boolean waits = content.matches("(?s)(1000000..|f{8})\r.*");
            cases.add(new Case("chunk " + printable(content), post(CHUNKED, content), 400, waits));
        }
        return cases.stream();
    }

    private static Stream<Case> heads() {
        List<Case> cases = new ArrayList<>();
        for (String line : List.of(
                "GET  /a HTTP/1.1",
                " GET /a HTTP/1.1",
                "GET\t/a HTTP/1.1",
                "GET /a\tHTTP/1.1",
                "GET /a HTTP/1.1 ",
                "GET /a b HTTP/1.1",
                "GET /a HTTP/1.1 HTTP/1.1",
                "GET /a\u000cHTTP/1.1",
                "GET /a http/1.1",
                "GET /a HTTP/1",
                "GET /a HTTP/1.",
                "GET /a HTTP/.1",
                "GET /a HTTP/1.10",
                "GET /a HTTP/11.1",
                "GET /a HTTP/1,1",
                "GET /a HTTP 1.1",
                "GET /a HTTPS/1.1",
                "GET /a HTTP/+1.1",
                "GET /a",
                "GET",
                "GET /a\u0000 HTTP/1.1",
                "GET /a\u0001 HTTP/1.1",
                "GET /a\u007f HTTP/1.1",
                "GET /a\u00ff\u00fe HTTP/1.1",
                "GET /\u00c3\u00a4 HTTP/1.1",
                "GET /?q=\u00c3\u00a4 HTTP/1.1",
                "GET /a\rX: y HTTP/1.1",
                "GET /a#b HTTP/1.1",
                "GET /a\\..\\b HTTP/1.1",
                "GET a HTTP/1.1",
                "GET ?a HTTP/1.1",
                "GET * HTTP/1.1",
                "GET test.example:80 HTTP/1.1",
                "GET //[ HTTP/1.1 ",
                "GET http:///a HTTP/1.1",
                "GET http:/a HTTP/1.1",
                "GET http://u:p@test.example/a HTTP/1.1",
                "GET http://test.example:0/a HTTP/1.1",
                "GET http://test.example:99999/a HTTP/1.1",
                "GET http://te st/a HTTP/1.1",
                "GET ftp://test.example/a HTTP/1.1",
                "GET file:///etc/passwd HTTP/1.1",
                "G\u0001T /a HTTP/1.1",
                "G(T /a HTTP/1.1",
                "GET: /a HTTP/1.1",
                "G\u00c4T /a HTTP/1.1",
                "\"GET\" /a HTTP/1.1",
                " /a HTTP/1.1",
                "OPTIONS /a* HTTP/1.1 *")) {
            cases.add(new Case("line " + printable(line), get(line, ""), 400));
        }
        cases.add(new Case("HTTP/2.0", get("GET /a HTTP/2.0", ""), 505));
        cases.add(new Case("HTTP/0.9 by name", get("GET /a HTTP/0.9", ""), 505));
        cases.add(new Case("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505));
        cases.add(new Case("HTTP/0.9", "GET /a\r\n\r\n", 400));
        cases.add(new Case(
                "TLS to a plain port", "\u0016\u0003\u0001\u0002\u0000" + "\u00aa".repeat(64) + "\r\n\r\n", 400));
        cases.add(new Case("LF alone", get("").replace("\r\n", "\n"), 400));
        cases.add(new Case("LF behind the request line", "GET /a HTTP/1.1\n" + HOST + "\r\n", 400));
        cases.add(new Case("LF as the empty line", "GET /a HTTP/1.1\r\n" + HOST + "\n", 400));
        cases.add(new Case("line of 9000", get("GET /" + "a".repeat(9000) + " HTTP/1.1", ""), 414));
        cases.add(new Case("method of 9000", get("A".repeat(9000) + " /a HTTP/1.1", ""), 414));
        cases.add(new Case("field of 40000", get("X: " + "a".repeat(40_000) + "\r\n"), 431));
        cases.add(new Case("fields, 50000", get("X: 1\r\n".repeat(50_000)), 431));
        for (String field : List.of(
                "X : 1",
                "X\t: 1",
                ": 1",
                "X",
                "X Y: 1",
                "X(Y: 1",
                "X\u00e9: 1",
                "X\u0000: 1",
                "X\u0001: 1",
                "X: a\u0000b",
                "X: a\rb",
                "X: a\rY: b",
                "X: a\nY: b",
                "X: a\r\n b",
                "X: a\r\n\tb",
                "X: a\r\n Y: b",
                "X: a\r\n ",
                "GET /smuggled HTTP/1.1")) {
            cases.add(new Case("field " + printable(field), get(field + "\r\n"), 400));
        }
        cases.add(new Case("first field folded", "GET /a HTTP/1.1\r\n X: y\r\n" + HOST + "\r\n", 400));
        return cases.stream();
    }

    private static Stream<Case> hosts() {
        List<Case> cases = new ArrayList<>();
        for (String host : List.of(
                "",
                "Host:\r\n",
                HOST + HOST,
                HOST + "Host: evil.example\r\n",
                HOST + "hOST: evil.example\r\n",
                "Host: a b\r\n",
                "Host: a/b\r\n",
                "Host: a\\b\r\n",
                "Host: a?b\r\n",
                "Host: a#b\r\n",
                "Host: u@test.example\r\n",
                "Host: test.example@evil.example\r\n",
                "Host: test.example, evil.example\r\n",
                "Host: test.example:8x\r\n",
                "Host: test.example:-1\r\n",
                "Host: test.example:99999\r\n",
                "Host: test.example:80:80\r\n",
                "Host: [::1\r\n",
                "Host: [::1]x\r\n",
                "Host: [evil]\r\n",
                "Host: caf\u00e9\r\n",
                "Host: a\u0000b\r\n",
                "Host: a\tb\r\n",
                "Host: a%zz\r\n",
                "Host : test.example\r\n",
                " Host: test.example\r\n",
                "Host: test.example\r\n evil.example\r\n",
                "Host: http://test.example\r\n")) {
            cases.add(new Case("host " + printable(host), "GET /a HTTP/1.1\r\n" + host + "\r\n", 400));
        }
        cases.add(new Case("absolute form without Host", "GET http://test.example/a HTTP/1.1\r\n\r\n", 400));
        cases.add(new Case(
                "absolute form with a bad Host", "GET http://test.example/a HTTP/1.1\r\nHost: a b\r\n\r\n", 400));
        return cases.stream();
    }

    private static String printable(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Math.min(60, text.length()); i++) {
            char c = text.charAt(i);
            out.append(c < ' ' || c > '~' ? "<" + Integer.toHexString(c) + ">" : String.valueOf(c));
        }
        return out.toString();
    }

    @TestFactory
    Stream<DynamicTest> refusesWhatTwoReadersCouldTakeForTwoThings() throws Exception {
        proxy.start(this::origin);
        int[] probes = {0};
        return Stream.of(framing(), chunks(), heads(), hosts())
                .flatMap(each -> each)
                .map(each -> DynamicTest.dynamicTest(each.name, () -> refused(each, probes[0]++)));
    }

    private void refused(Case each, int number) throws IOException {
        seen.clear();
        try (RawClient client = new RawClient(proxy.address())) {
            try {
                client.send(each.wire);
                if (each.halfClose) {
                    client.socket.shutdownOutput();
                }
            } catch (SocketException e) {
                // Refused and closed before all of it was sent.
            }
            onlyAnswerIs(each, client);
        }
        assertFalse(seen.toString().contains("smuggled"), () -> "the origin saw " + seen);
        assertTrue(seen.isEmpty(), () -> "the origin saw " + seen);
        String probe = "/probe-" + number;
        assertEquals(probe, proxy.get(probe).text());
    }

    /** One answer with the case's status, then the end; a half close within a chunk may end without any. */
    private static void onlyAnswerIs(Case each, RawClient client) throws IOException {
        String all;
        try {
            all = new String(client.in.readToEnd(), java.nio.charset.StandardCharsets.ISO_8859_1);
        } catch (SocketException e) {
            assertTrue(each.wire.length() > 60_000, "reset");
            return;
        }
        if (each.halfClose && all.isEmpty()) {
            return;
        }
        assertTrue(all.startsWith("HTTP/1.1 " + each.status + " "), () -> printable(all));
        assertEquals(1, all.split("HTTP/1\\.1 [1-5]", -1).length - 1, all);
        assertTrue(all.toLowerCase(java.util.Locale.ROOT).contains("connection: close\r\n"), all);
    }

    private static List<Case> accepted() {
        return List.of(
                new Case("content by length", post(length("hello"), "hello"), 200),
                new Case("content in chunks", post(CHUNKED, HELLO), 200),
                new Case("sizes with zeros", post(CHUNKED, "0005\r\nhello\r\n000\r\n\r\n"), 200),
                new Case("extensions", post(CHUNKED, "5;a=b;c=\"d e\"\r\nhello\r\n0;z\r\n\r\n"), 200),
                new Case("pieces", post(CHUNKED, "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n"), 200),
                new Case("white space around the length", post("Content-Length:\t 5 \r\n", "hello"), 200),
                new Case(
                        "trailers that may not be merged",
                        post(CHUNKED, "5\r\nhello\r\n0\r\nContent-Length: 9\r\nHost: evil\r\nX-Http: 1\r\n\r\n"),
                        200),
                new Case(
                        "Connection names the length",
                        post("Connection: Content-Length\r\n" + length("hello"), "hello"),
                        200),
                new Case(
                        "Connection names the coding", post("Connection: Transfer-Encoding\r\n" + CHUNKED, HELLO), 200),
                new Case("Connection names Host", post("Connection: Host\r\n" + length("hello"), "hello"), 200),
                new Case(
                        "another field, spelt nearly so",
                        post("Transfer_Encoding: chunked\r\n" + length("hello"), "hello"),
                        200),
                new Case(
                        "upgrade with content",
                        post(
                                "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\nHTTP2-Settings: AAA\r\n"
                                        + length("hello"),
                                "hello"),
                        200),
                new Case("leading empty lines", "\r\n\r\n" + post(length("hello"), "hello"), 200),
                new Case(
                        "absolute form wins over Host",
                        get("POST http://other.example/a HTTP/1.1", length("hello")) + "hello",
                        200));
    }

    /** Each with a second request right behind it, in one write and byte by byte. */
    @TestFactory
    Stream<DynamicTest> takesWhatIsBeyondDoubtHoweverItComes() throws Exception {
        proxy.start(this::origin);
        return accepted().stream().flatMap(each -> Stream.of(false, true)
                .map(bytewise -> DynamicTest.dynamicTest(
                        each.name + (bytewise ? ", byte by byte" : ""), () -> taken(each, bytewise))));
    }

    private void taken(Case each, boolean bytewise) throws IOException {
        seen.clear();
        try (RawClient client = new RawClient(proxy.address())) {
            String all = each.wire + get("GET /second HTTP/1.1", "");
            if (bytewise) {
                for (byte b : RawInput.latin1(all)) {
                    client.send(new byte[] {b});
                }
            } else {
                client.send(all);
            }
            assertEquals("/a", client.response().text());
            assertEquals("/second", client.response().text());
        }
        assertEquals(List.of("POST /a HTTP/1.1 hello", "GET /second HTTP/1.1 "), List.copyOf(seen));
    }

    @Test
    void contentOfMethodsThatRarelyHaveAnyIsNoRequest() throws Exception {
        proxy.start(this::origin);
        for (String method : List.of("GET", "DELETE", "OPTIONS", "PROPFIND")) {
            for (String framing : List.of(length(SMUGGLED), CHUNKED)) {
                seen.clear();
                String content = framing.equals(CHUNKED)
                        ? Integer.toHexString(SMUGGLED.length()) + "\r\n" + SMUGGLED + "\r\n0\r\n\r\n"
                        : SMUGGLED;
                try (RawClient client = new RawClient(proxy.address())) {
                    client.send(get(method + " /a HTTP/1.1", framing) + content + get("GET /second HTTP/1.1", ""));
                    assertEquals("/a", client.response().text());
                    assertEquals("/second", client.response().text());
                }
                assertEquals(List.of(method + " /a HTTP/1.1 " + SMUGGLED, "GET /second HTTP/1.1 "), List.copyOf(seen));
            }
        }
    }

    @Test
    void whatIsPipelinedBehindARefusalIsNotRead() throws Exception {
        proxy.start(this::origin);
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(get("GET /first HTTP/1.1", "") + get("X : 1\r\n") + SMUGGLED);
            assertEquals("/first", client.response().text());
            assertEquals(400, client.response().status());
            assertEquals(0, client.in.readToEnd().length);
        }
        assertEquals(List.of("GET /first HTTP/1.1 "), List.copyOf(seen));
    }

    @Test
    void whatIsPipelinedBehindARequestThatClosesIsNotRead_rfc9112_s9_6() throws Exception {
        proxy.start(this::origin);
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(get("GET /first HTTP/1.1", "Connection: close\r\n") + SMUGGLED);
            assertEquals("/first", client.response().text());
            assertEquals(0, client.in.readToEnd().length);
        }
        assertEquals(List.of("GET /first HTTP/1.1 "), List.copyOf(seen));
    }

    /** A client that goes away at any byte of a request leaves nothing behind that the origin takes for a request. */
    @Test
    void clientThatIsCutOffAtAnyByteSendsNoRequest() throws Exception {
        proxy.start(this::origin);
        byte[] wire = RawInput.latin1(post(CHUNKED, HELLO));
        for (int cut = 1; cut < wire.length; cut++) {
            for (boolean reset : new boolean[] {false, true}) {
                try (RawClient client = new RawClient(proxy.address())) {
                    client.send(java.util.Arrays.copyOf(wire, cut));
                    if (reset) {
                        client.reset();
                    }
                }
            }
        }
        assertEquals("/probe", proxy.get("/probe").text());
        assertEquals(List.of("GET /probe HTTP/1.1 "), List.copyOf(seen));
    }

    @Test
    void clientThatClosesItsSideWithinARequestGetsNoAnswerToIt() throws Exception {
        proxy.start(this::origin);
        for (String part : List.of(
                "GET /a HTTP/1.1\r\nHost: te", post(length("hello"), "hel"), post(CHUNKED, "5\r\nhello\r\n0\r\n"))) {
            try (RawClient client = new RawClient(proxy.address())) {
                client.send(part);
                client.socket.shutdownOutput();
                String all = new String(client.in.readToEnd(), java.nio.charset.StandardCharsets.ISO_8859_1);
                assertTrue(all.isEmpty() || all.startsWith("HTTP/1.1 400 "), all);
            } catch (SocketException e) {
                // A reset is no answer either.
            }
        }
        assertTrue(seen.isEmpty(), seen::toString);
    }

    @Test
    void unknownExpectationsDoNotMakeContentARequest_rfc9110_s10_1_1() throws Exception {
        proxy.start(this::origin);
        for (String expectation : List.of("y 100-continue", "100-continue, x", "x")) {
            seen.clear();
            try (RawClient client = new RawClient(proxy.address())) {
                client.send(get("GET /a HTTP/1.1", "Expect: " + expectation + "\r\n" + length(SMUGGLED)) + SMUGGLED);
                RawClient.Response response = client.response();
                assertTrue(response.status() == 417 || response.status() == 200, response.head());
            }
            assertFalse(seen.toString().startsWith("[GET /smuggled"), seen.toString());
            assertTrue(seen.size() <= 1, seen.toString());
        }
    }
}
