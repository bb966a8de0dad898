package io.millrace.proxy;

import static io.millrace.proxy.RawRequests.CHUNKED;
import static io.millrace.proxy.RawRequests.HELLO;
import static io.millrace.proxy.RawRequests.SMUGGLED;
import static io.millrace.proxy.RawRequests.get;
import static io.millrace.proxy.RawRequests.length;
import static io.millrace.proxy.RawRequests.post;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Raw requests over real sockets, of every class that two parsers of one connection are known to read differently. A
 * refused request is answered once and its connection ends. No part of it reaches the origin, and the next client
 * receives its own response.
 */
class RawRequestTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Request lines and contents of complete requests to the origin. */
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    /** Reads the content by its own interpretation of the framing and answers with the request's target. */
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
            // The proxy aborted its request.
            request.socket().close();
            return;
        }
        seen.add(line + " " + new String(content, java.nio.charset.StandardCharsets.ISO_8859_1));
        request.ok("Cache-Control: no-store\r\n", RawInput.latin1(line.split(" ", -1)[1]));
    }

    @TestFactory
    Stream<DynamicTest> refusesWhatTwoReadersCouldTakeForTwoThings() throws Exception {
        proxy.start(this::origin);
        int[] probes = {0};
        return RawRequests.refused()
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> refused(each, probes[0]++)));
    }

    private void refused(RawRequests.Case each, int number) throws IOException {
        seen.clear();
        try (RawClient client = new RawClient(proxy.address())) {
            try {
                client.send(each.wire());
                if (each.halfClose()) {
                    client.socket.shutdownOutput();
                }
            } catch (SocketException e) {
                // The request was refused and the connection closed before everything was sent.
            }
            onlyAnswerIs(each, client);
        }
        assertFalse(seen.toString().contains("smuggled"), () -> "the origin saw " + seen);
        assertTrue(seen.isEmpty(), () -> "the origin saw " + seen);
        String probe = "/probe-" + number;
        assertEquals(probe, proxy.get(probe).text());
    }

    /**
     * Asserts one response with the case's status, and then the end. After a half close within a chunk there may be no
     * response.
     */
    private static void onlyAnswerIs(RawRequests.Case each, RawClient client) throws IOException {
        String all;
        try {
            all = new String(client.in.readToEnd(), java.nio.charset.StandardCharsets.ISO_8859_1);
        } catch (SocketException e) {
            assertTrue(each.wire().length() > 60_000, "reset");
            return;
        }
        if (each.halfClose() && all.isEmpty()) {
            return;
        }
        assertTrue(all.startsWith("HTTP/1.1 " + each.status() + " "), () -> RawInput.printable(all));
        assertEquals(1, all.split("HTTP/1\\.1 [1-5]", -1).length - 1, all);
        assertTrue(all.toLowerCase(java.util.Locale.ROOT).contains("connection: close\r\n"), all);
    }

    /** Each with a second request directly after it, in one write and byte by byte. */
    @TestFactory
    Stream<DynamicTest> takesWhatIsBeyondDoubtHoweverItComes() throws Exception {
        proxy.start(this::origin);
        return RawRequests.accepted().stream().flatMap(each -> Stream.of(false, true)
                .map(bytewise -> DynamicTest.dynamicTest(
                        each.name() + (bytewise ? ", byte by byte" : ""), () -> taken(each, bytewise))));
    }

    private void taken(RawRequests.Case each, boolean bytewise) throws IOException {
        seen.clear();
        try (RawClient client = new RawClient(proxy.address())) {
            String all = each.wire() + get("GET /second HTTP/1.1", "");
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
    void requestsAfterARefusalAreNotRead() throws Exception {
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
    void requestsAfterAClosingRequestAreNotRead_rfc9112_s9_6() throws Exception {
        proxy.start(this::origin);
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(get("GET /first HTTP/1.1", "Connection: close\r\n") + SMUGGLED);
            assertEquals("/first", client.response().text());
            assertEquals(0, client.in.readToEnd().length);
        }
        assertEquals(List.of("GET /first HTTP/1.1 "), List.copyOf(seen));
    }

    /**
     * A refusal may end the connection while the client still sends. The client then receives a reset, and no response.
     */
    @TestFactory
    Stream<DynamicTest> refusesItByteByByteToo() throws Exception {
        proxy.start(this::origin);
        return RawRequests.refused()
                .filter(each -> each.wire().length() < 500)
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> refusedByteByByte(each)));
    }

    private void refusedByteByByte(RawRequests.Case each) throws IOException {
        seen.clear();
        try (RawClient client = new RawClient(proxy.address())) {
            for (byte b : RawInput.latin1(each.wire())) {
                client.send(new byte[] {b});
            }
            client.socket.shutdownOutput();
            String all = new String(client.in.readToEnd(), java.nio.charset.StandardCharsets.ISO_8859_1);
            assertTrue(all.isEmpty() || all.startsWith("HTTP/1.1 " + each.status() + " "), all);
        } catch (SocketException e) {
            // The request was refused and the connection closed before everything was sent.
        }
        assertEquals("/probe", proxy.get("/probe").text());
        assertEquals(List.of("GET /probe HTTP/1.1 "), List.copyOf(seen));
    }

    /** A client that disconnects at any byte of a request leaves nothing that the origin reads as a request. */
    @Test
    void clientThatIsCutOffAtAnyByteSendsNoRequest() throws Exception {
        proxy.start(this::origin);
        for (String request : List.of(
                get("Cookie: a=b\r\n"),
                post(length("hello"), "hello"),
                post(CHUNKED, HELLO),
                post(CHUNKED, "2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n"),
                get("PUT /a HTTP/1.1", "Expect: 100-continue\r\n" + length("hello")) + "hello")) {
            byte[] wire = RawInput.latin1(request);
            for (int cut = 1; cut < wire.length; cut++) {
                cutOff(Arrays.copyOf(wire, cut), false);
                cutOff(Arrays.copyOf(wire, cut), true);
            }
        }
        proxy.settle();
        assertEquals("/probe", proxy.get("/probe").text());
        assertEquals(List.of("GET /probe HTTP/1.1 "), List.copyOf(seen));
    }

    private void cutOff(byte[] part, boolean reset) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(part);
            if (reset) {
                client.reset();
            }
        }
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
                // A reset is not a response either.
            }
        }
        assertTrue(seen.isEmpty(), seen::toString);
    }

    /** RFC 9110 s10.1.1: no 100 for HTTP/1.0, and none without content. Bytes after the head are content. */
    @Test
    void expectationsOfEveryKind_rfc9110_s10_1_1() throws Exception {
        proxy.start(this::origin);
        for (String request : List.of(
                get("POST /a HTTP/1.1", "Expect: 100-continue\r\n" + length(SMUGGLED)) + SMUGGLED,
                get("POST /a HTTP/1.1", "expect: 100-CONTINUE\r\n" + length(SMUGGLED)) + SMUGGLED,
                get("POST /a HTTP/1.1", "Expect: 100-continue\r\nExpect: 100-continue\r\n" + length(SMUGGLED))
                        + SMUGGLED,
                get("POST /a HTTP/1.0", "Expect: 100-continue\r\nConnection: keep-alive\r\n" + length(SMUGGLED))
                        + SMUGGLED,
                get("GET /a HTTP/1.1", "Expect: 100-continue\r\n"),
                get("GET /a HTTP/1.1", "Expect:\r\n"))) {
            seen.clear();
            try (RawClient client = new RawClient(proxy.address())) {
                client.send(request + get("GET /second HTTP/1.1", "Connection: close\r\n"));
                RawClient.Response response = client.head();
                if (response.status() == 100) {
                    assertFalse(request.contains("HTTP/1.0"), request);
                    response = client.head();
                }
                assertTrue(response.status() == 200 || response.status() == 417, response.head());
                client.in.readToEnd();
            }
            assertTrue(seen.stream().noneMatch(each -> each.startsWith("GET /smuggled")), seen::toString);
        }
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
