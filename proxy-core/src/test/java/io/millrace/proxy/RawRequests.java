package io.millrace.proxy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Raw requests of every class that two parsers of one connection are known to read differently, and unambiguous ones.
 */
public final class RawRequests {
    static final String HOST = "Host: test.example\r\n";
    static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\n" + HOST + "\r\n";
    static final String CHUNKED = "Transfer-Encoding: chunked\r\n";
    static final String HELLO = "5\r\nhello\r\n0\r\n\r\n";

    /**
     * One request.
     *
     * @param status of the only response
     * @param halfClose true if the client then closes its side, because the proxy would wait for it
     */
    public record Case(String name, String wire, int status, boolean halfClose) {
        Case(String name, String wire, int status) {
            this(name, wire, status, false);
        }
    }

    private RawRequests() {}

    /** Returns the refused requests. */
    public static Stream<Case> refused() {
        return Stream.of(framing(), chunks(), heads(), hosts()).flatMap(each -> each);
    }

    static String get(String line, String fields) {
        return line + "\r\n" + HOST + fields + "\r\n";
    }

    static String get(String fields) {
        return get("GET /a HTTP/1.1", fields);
    }

    static String post(String fields, String content) {
        return get("POST /a HTTP/1.1", fields) + content;
    }

    static String length(String content) {
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
                "Transfer-Encoding: chunked, chunked",
                "Transfer-Encoding: identity",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                "Transfer-Encoding: chunked\r\nX: y\r\ntransfer-encoding: cow",
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
            cases.add(new Case("TE.TE " + RawInput.printable(coding), codingAgainstLength(coding), 400));
        }
        cases.add(new Case("chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", HELLO), 501));
        cases.add(new Case("chunked in two lines", post(CHUNKED + CHUNKED, HELLO), 400));
        cases.add(new Case("identity alone", post("Transfer-Encoding: identity\r\n", "hello"), 501));
        cases.add(new Case(
                "identity and a length", post("Transfer-Encoding: identity\r\n" + length("hello"), "hello"), 400));
        cases.add(new Case(
                "HTTP/1.0 with a coding and a length", get("POST /a HTTP/1.0", CHUNKED + length(HELLO)) + HELLO, 400));
        cases.add(new Case(
                "HTTP/1.2 with a coding and a length", get("POST /a HTTP/1.2", CHUNKED + length(HELLO)) + HELLO, 400));
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
                "5\u00a0",
                "5\r\nContent-Length: 5, 5",
                "1e1",
                ",5",
                "5,",
                "5_")) {
            cases.add(new Case(
                    "length " + RawInput.printable(length),
                    post("Content-Length: " + length + "\r\n", "hello" + SMUGGLED),
                    400));
        }
        cases.add(new Case(
                "content of the first WebSocket draft",
                get("Sec-WebSocket-Key1: 1\r\nsec-websocket-key2: 2\r\n") + "GET /smu" + SMUGGLED,
                400));
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
                "5\r\nhello\r\n\r\n0\r\n\r\n",
                "5;a=\"b\nc\"\r\nhello\r\n0\r\n\r\n",
                "5;a=\"b\r\nhello\r\n0\r\n\r\n\"\r\n" + SMUGGLED,
                "5\u0000\r\nhello\r\n0\r\n\r\n",
                "5\t5\r\nhello\r\n0\r\n\r\n",
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
                "5\r\nhello\r\n0\r\n: 1\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: a\rb\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: a\u0000b\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: " + "a".repeat(70_000) + "\r\n\r\n",
                "5\r\nhello\r\n0\r\n" + "X: 1\r\n".repeat(20_000) + "\r\n")) {
            // A large size is valid: the announced bytes never arrive, and the half close ends the wait.
            boolean waits = content.matches("(?s)(1000000..|f{8})\r.*");
            cases.add(new Case("chunk " + RawInput.printable(content), post(CHUNKED, content), 400, waits));
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
            cases.add(new Case("line " + RawInput.printable(line), get(line, ""), 400));
        }
        cases.add(new Case("HTTP/3.0", get("GET /a HTTP/3.0", ""), 505));
        cases.add(new Case("byte order mark", "\u00ef\u00bb\u00bf" + get(""), 400));
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
            cases.add(new Case("field " + RawInput.printable(field), get(field + "\r\n"), 400));
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
            cases.add(new Case("host " + RawInput.printable(host), "GET /a HTTP/1.1\r\n" + host + "\r\n", 400));
        }
        cases.add(new Case("absolute form without Host", "GET http://test.example/a HTTP/1.1\r\n\r\n", 400));
        cases.add(new Case(
                "absolute form with a bad Host", "GET http://test.example/a HTTP/1.1\r\nHost: a b\r\n\r\n", 400));
        return cases.stream();
    }

    /** Returns the accepted requests: each is {@code POST /a} with content {@code hello}. */
    public static List<Case> accepted() {
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
                new Case(
                        "a folded trailer, which goes no further",
                        post(CHUNKED, "5\r\nhello\r\n0\r\nX: 1\r\n Content-Length: 2\r\n\r\n"),
                        200),
                new Case("HTTP/1.2", get("POST /a HTTP/1.2", length("hello")) + "hello", 200),
                new Case("length with a zero before it", post("Content-Length: 05\r\n", "hello"), 200),
                new Case(
                        "Connection names all that matters",
                        post(
                                "Connection: keep-alive, Host, Content-Length, Transfer-Encoding, Cookie, Via, X-Http\r\n"
                                        + length("hello"),
                                "hello"),
                        200),
                new Case(
                        "trailers announced and framing among them",
                        post(
                                "TE: trailers\r\nTrailer: Content-Length, Transfer-Encoding\r\n" + CHUNKED,
                                "5\r\nhello\r\n0\r\nContent-Length: 0\r\nTransfer-Encoding: identity\r\n\r\n"),
                        200),
                new Case(
                        "upgrade to HTTP/2 with settings",
                        post(
                                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
                                        + CHUNKED,
                                HELLO),
                        200),
                new Case("leading empty lines", "\r\n\r\n" + post(length("hello"), "hello"), 200),
                new Case(
                        "absolute form wins over Host",
                        get("POST http://other.example/a HTTP/1.1", length("hello")) + "hello",
                        200));
    }
}
