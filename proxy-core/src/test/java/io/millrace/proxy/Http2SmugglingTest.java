package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests the published ways to smuggle a request through a downgrade from HTTP/2 to HTTP/1.1: H2.CL, H2.TE, injected CR
 * LF, split requests, and ambiguous hosts. The origin speaks plain HTTP/1.1 and records each request.
 */
class Http2SmugglingTest extends Http2Fixture {
    private static final String MALFORMED = "stream PROTOCOL_ERROR";
    private static final String INCOMPLETE = "incomplete";
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: test.example\r\n\r\n";

    private final List<Recorded> recorded = Collections.synchronizedList(new ArrayList<>());

    /** A request as the origin read it. */
    private record Recorded(String head, String content) {
        String line() {
            return head.substring(0, head.indexOf("\r\n"));
        }
    }

    /**
     * The frames of a client on stream 1, and the outcome: an error, a status, or "passed" with the content that
     * arrives.
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Attack(String name, String outcome, byte[][] frames) {
        @Override
        public String toString() {
            return name.replaceAll("[^ -~]", "?");
        }
    }

    private static Attack attack(String name, String outcome, byte[]... frames) {
        return new Attack(name, outcome, frames);
    }

    private static byte[] content(String text) {
        return Http2Client.bytes(DATA, END_STREAM, 1, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** H2.CL: a length that differs from the content in the frames. */
    private static Stream<Attack> lengths() {
        Stream<Attack> refused = Stream.of(
                        "0", "4", "1000", "+" + SMUGGLED.length(), "-1", "0x5", "5 5", "5,5", "", "1e2")
                .map(length -> attack(
                        "H2.CL content-length " + length,
                        MALFORMED,
                        post(1, request("POST", "/first", "content-length", length)),
                        content(SMUGGLED)));
        return Stream.concat(
                refused,
                Stream.of(
                        attack(
                                "H2.CL beyond 2^64",
                                MALFORMED,
                                get(1, request("GET", "/first", "content-length", "18446744073709551616"))),
                        attack(
                                "H2.CL without content",
                                MALFORMED,
                                get(1, request("GET", "/first", "content-length", "1"))),
                        attack(
                                "H2.CL twice",
                                MALFORMED,
                                post(1, request("POST", "/first", "content-length", "5", "content-length", "5")),
                                content("12345")),
                        attack(
                                "H2.CL in trailers",
                                "passed x",
                                post(1, request("POST", "/first")),
                                Http2Client.bytes(DATA, 0, 1, new byte[] {'x'}),
                                get(1, "content-length", "100")),
                        attack(
                                "H2.CL that is right",
                                "passed " + SMUGGLED,
                                post(1, request("POST", "/first", "content-length", String.valueOf(SMUGGLED.length()))),
                                content(SMUGGLED)),
                        attack(
                                "content that looks like a request",
                                "passed " + SMUGGLED,
                                post(1, request("POST", "/first")),
                                content(SMUGGLED)),
                        attack(
                                "content that looks like the last chunk",
                                "passed 0\r\n\r\n" + SMUGGLED,
                                post(1, request("POST", "/first")),
                                content("0\r\n\r\n" + SMUGGLED)),
                        attack(
                                "content of a GET",
                                "passed " + SMUGGLED,
                                post(1, request("GET", "/first")),
                                content(SMUGGLED)),
                        attack(
                                "content of an OPTIONS",
                                "passed " + SMUGGLED,
                                post(1, request("OPTIONS", "/first")),
                                content(SMUGGLED))));
    }

    private static Stream<Attack> field(String name, String value) {
        String what = name + ": " + value;
        return Stream.of(
                attack(
                        what + " before content",
                        MALFORMED,
                        post(1, request("POST", "/first", name, value)),
                        content("0\r\n\r\n" + SMUGGLED)),
                attack(what + " without content", MALFORMED, get(1, request("GET", "/first", name, value))));
    }

    private static Stream<Attack> fieldAndTrailer(String name, String value) {
        return Stream.concat(
                field(name, value),
                Stream.of(attack(
                        name + ": " + value + " in trailers",
                        MALFORMED,
                        post(1, request("POST", "/first")),
                        get(1, name, value))));
    }

    /** H2.TE: connection-specific fields, and names that some origins accept for them. */
    private static Stream<Attack> connectionFields() {
        return Stream.of(
                        field("transfer-encoding", "chunked"),
                        field("transfer-encoding", "identity"),
                        field("connection", "transfer-encoding"),
                        field("connection", "close"),
                        field("keep-alive", "timeout=5"),
                        field("proxy-connection", "keep-alive"),
                        field("upgrade", "h2c"),
                        field("te", "chunked"),
                        field("te", "trailers, chunked"),
                        fieldAndTrailer("Transfer-Encoding", "chunked"),
                        fieldAndTrailer("transfer-encoding ", "chunked"),
                        fieldAndTrailer(" transfer-encoding", "chunked"),
                        fieldAndTrailer("transfer-encoding\t", "chunked"),
                        fieldAndTrailer("transfer-encoding\0", "chunked"),
                        fieldAndTrailer("transfer-encoding:", "chunked"),
                        fieldAndTrailer("transfer-encoding: chunked\r\nx", "1"),
                        fieldAndTrailer("x\r\ntransfer-encoding", "chunked"),
                        fieldAndTrailer("x y", "1"),
                        fieldAndTrailer("X", "1"),
                        fieldAndTrailer("", "1"),
                        fieldAndTrailer("\u00e4", "1"))
                .flatMap(each -> each);
    }

    /** CR LF, LF, CR or NUL in values, which would begin another line or another request. */
    private static Stream<Attack> injections() {
        return Stream.of(
                        "1\r\ntransfer-encoding: chunked",
                        "1\ntransfer-encoding: chunked",
                        "1\rtransfer-encoding: chunked",
                        "1\r\n\r\n" + SMUGGLED,
                        "1\n\n" + SMUGGLED,
                        "1\r\n\r\n" + SMUGGLED.replace("\r\n\r\n", "\r\nX: "),
                        "1\0",
                        "1\r",
                        "1\n",
                        " 1",
                        "1\t")
                .flatMap(value -> Stream.of("x", "cookie", "user-agent", "content-type")
                        .flatMap(name -> fieldAndTrailer(name, value)));
    }

    /** The same in pseudo-fields, from which the request line and Host are made. */
    private static Stream<Attack> pseudoInjections() {
        List<Attack> all = new ArrayList<>();
        String[] injected = {
            "\r\nx: y",
            " HTTP/1.1\r\nHost: x\r\n\r\n" + SMUGGLED,
            "\0",
            "\n",
            "\r",
            "/ HTTP/1.1\r\ntransfer-encoding: chunked\r\nx: ",
        };
        for (int at = 1; at < 8; at += 2) {
            for (String text : injected) {
                String[] fields = request("GET", "/first");
                fields[at] += text;
                all.add(attack(fields[at - 1] + " with " + text, MALFORMED, get(1, fields)));
            }
        }
        return all.stream();
    }

    private static Attack pseudo(String name, String outcome, String... fields) {
        return attack(name, outcome, get(1, fields));
    }

    /** Pseudo-fields that are missing, repeated, misplaced or malformed. */
    private static Stream<Attack> pseudoFields() {
        return Stream.of(
                pseudo("a pseudo-field behind others", MALFORMED, "accept", "*/*", ":method", "GET", ":scheme", "http"),
                pseudo("an unknown pseudo-field", MALFORMED, request("GET", "/first", ":foo", "bar")),
                pseudo("a response's pseudo-field", MALFORMED, request("GET", "/first", ":status", "200")),
                pseudo("no :method", MALFORMED, ":scheme", "http", ":authority", "test.example", ":path", "/first"),
                pseudo("no :scheme", MALFORMED, ":method", "GET", ":authority", "test.example", ":path", "/first"),
                pseudo("no :path", MALFORMED, ":method", "GET", ":scheme", "http", ":authority", "test.example"),
                pseudo("an empty :path", MALFORMED, request("GET", "")),
                pseudo("a relative :path", MALFORMED, request("GET", "first")),
                pseudo("an absolute :path", MALFORMED, request("GET", "http://other.example/smuggled")),
                pseudo("two :path", MALFORMED, request("GET", "/first", ":path", "/smuggled")),
                pseudo("two :method", MALFORMED, request("GET", "/first", ":method", "PUT")),
                pseudo("a :method with a space", MALFORMED, request("GET /smuggled", "/first")),
                pseudo("an empty :method", MALFORMED, request("", "/first")),
                pseudo("CONNECT with :path", MALFORMED, request("CONNECT", "/first")),
                pseudo("an unasked :protocol", MALFORMED, request("GET", "/first", ":protocol", "websocket")),
                pseudo("a space in :path", "status 400", request("GET", "/first HTTP/1.1")),
                pseudo("a fragment in :path", "status 400", request("GET", "/first#b")),
                pseudo("a backslash in :path", "status 400", request("GET", "/first\\b")),
                pseudo("an asterisk of GET", "status 400", request("GET", "*")),
                attack(
                        "a pseudo-field in trailers",
                        MALFORMED,
                        post(1, request("POST", "/first")),
                        get(1, ":path", "/smuggled")),
                attack("trailers that do not end", MALFORMED, post(1, request("POST", "/first")), post(1, "a", "b")));
    }

    private static Attack host(
            String name, String outcome, String scheme, String authority, String path, String... more) {
        List<String> fields = new ArrayList<>(List.of(":method", "GET", ":scheme", scheme));
        if (authority != null) {
            fields.addAll(List.of(":authority", authority));
        }
        fields.addAll(List.of(":path", path));
        fields.addAll(List.of(more));
        return attack(name, outcome, get(1, fields.toArray(String[]::new)));
    }

    /** Hosts on which this proxy and an origin could disagree. */
    private static Stream<Attack> hosts() {
        return Stream.of(
                host("a Host that differs", MALFORMED, "http", "test.example", "/first", "host", "other.example"),
                host(
                        "a Host with another port",
                        MALFORMED,
                        "http",
                        "test.example",
                        "/first",
                        "host",
                        "test.example:81"),
                host("an empty Host", MALFORMED, "http", "test.example", "/first", "host", ""),
                host(
                        "a second Host that differs",
                        MALFORMED,
                        "http",
                        "test.example",
                        "/first",
                        "host",
                        "test.example",
                        "host",
                        "b"),
                host("two Hosts", "status 400", "http", null, "/first", "host", "test.example", "host", "test.example"),
                host("an empty :authority", "status 400", "http", "", "/first"),
                host("an empty :authority with a Host", MALFORMED, "http", "", "/first", "host", "test.example"),
                host("no host at all", "status 400", "http", null, "/first"),
                host("userinfo", "status 400", "http", "u@test.example", "/first"),
                host("a path in :authority", "status 400", "http", "test.example/smuggled?", "/first"),
                host("a space in :authority", "status 400", "http", "test.example b", "/first"),
                host("two authorities", "status 400", "http", "test.example\tother.example", "/first"),
                host("a port of letters", "status 400", "http", "test.example:8o", "/first"),
                host("a port above 65535", "status 400", "http", "test.example:65536", "/first"),
                host("a scheme that injects", "status 400", "http://other.example/?", "test.example", "/first"),
                host("another scheme with an asterisk", "status 400", "https", "test.example", "*"),
                host(
                        "another scheme with an extended host",
                        "status 400",
                        "https",
                        "test.example",
                        "*.other.example/smuggled"),
                host("another scheme with userinfo", "status 400", "https", "test.example", "*@other.example/smuggled"),
                host("another scheme with a port", "status 400", "https", "test.example", "*:80/smuggled"),
                host(
                        "another scheme with a path in :authority",
                        "status 400",
                        "https",
                        "test.example/smuggled?",
                        "/first"),
                host("the same Host", "passed ", "http", "test.example", "/first", "host", "Test.Example"),
                host("Host alone", "passed ", "http", null, "/first", "host", "test.example"),
                host("a path like an authority", "passed ", "http", "test.example", "//other.example/smuggled/.."));
    }

    static Stream<Attack> attacks() {
        return Stream.of(lengths(), connectionFields(), injections(), pseudoInjections(), pseudoFields(), hosts())
                .flatMap(each -> each);
    }

    private void record(RawOrigin.Exchange request) throws IOException {
        String length = RawClient.field(request.head(), "content-length");
        byte[] content = {};
        try {
            if (RawClient.field(request.head(), "transfer-encoding") != null) {
                content = request.in().readChunked();
            } else if (length != null) {
                content = request.in().read(Integer.parseInt(length));
            }
        } catch (IOException e) {
            // A request whose content or trailers are refused has begun, and ends with its connection.
            recorded.add(new Recorded(request.head(), INCOMPLETE));
            request.socket().close();
            return;
        }
        recorded.add(new Recorded(request.head(), new String(content, StandardCharsets.ISO_8859_1)));
        request.ok("Cache-Control: no-store\r\n", new byte[] {'r'});
    }

    @TestFactory
    Stream<DynamicTest> theOriginReadsOneRequestForEach() throws IOException {
        start(this::record, config -> config.set("http2.stream_faults", "100000"));
        return attacks().map(attack -> DynamicTest.dynamicTest(attack.toString(), () -> check(attack)));
    }

    @TestFactory
    Stream<DynamicTest> theOriginReadsOneRequestForEachWithMatchAllRulesAndCompression() throws IOException {
        start(this::record, config -> MatchAllRules.addTo(config).set("http2.stream_faults", "100000"));
        return attacks().map(attack -> DynamicTest.dynamicTest(attack.toString(), () -> check(attack)));
    }

    private void check(Attack attack) throws IOException {
        recorded.clear();
        long faults = proxy.counted(Counter.HTTP2_FAULT_PROTOCOL);
        boolean passes = attack.outcome().startsWith("passed");
        try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(1))) {
            client.send(join(attack.frames()));
            assertEquals(passes ? "status 200" : attack.outcome(), client.outcome());
            // A poisoned connection to the origin would give other responses to these requests.
            assertEquals("r", client.get(3, "/after").response(3).text());
            assertEquals("r", proxy.get("/after").text());
        }
        boolean malformed = attack.outcome().equals(MALFORMED);
        assertEquals(malformed ? 1 : 0, proxy.counted(Counter.HTTP2_FAULT_PROTOCOL) - faults, "faults");
        if (passes) {
            List<Recorded> all = List.copyOf(recorded);
            // A request of an earlier attack may end only now.
            List<Recorded> whole = all.stream()
                    .filter(request -> !request.content().equals(INCOMPLETE))
                    .toList();
            assertEquals(3, whole.size(), whole::toString);
            assertEquals(
                    attack.outcome().substring("passed ".length()), whole.get(0).content());
        }
        synchronized (recorded) {
            for (Recorded request : recorded) {
                assertUnambiguous(request);
                assertFalse(request.line().startsWith("GET /smuggled"), request::toString);
            }
        }
    }

    private static void assertUnambiguous(Recorded request) {
        String head = request.head().toLowerCase(Locale.ROOT);
        assertEquals(head.length() - 4, head.indexOf("\r\n\r\n"), head);
        assertEquals(2, (head + " ").split("\r\nhost:", -1).length, head);
        assertFalse(head.contains("\r\ncontent-length:") && head.contains("\r\ntransfer-encoding:"), head);
        assertTrue(request.line().matches("[A-Z]+ /[!-~]* HTTP/1\\.1"), request::line);
    }
}
