package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that responses with ambiguous framing are refused, and their connections are closed. */
class FramingGuardTest extends FetchFixture {

    /** A response, and the text of its failure. */
    record Case(String name, String wire, String problem) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> refused() {
        String ok = "HTTP/1.1 200 OK\r\n";
        String chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
        return Stream.of(
                new Case(
                        "rfc9112 6.3: conflicting Content-Length",
                        ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                        "repeated Content-Length"),
                new Case(
                        "rfc9112 6.3: repeated Content-Length",
                        ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
                        "repeated Content-Length"),
                new Case("rfc9110 8.6: Content-Length list", ok + "Content-Length: 5, 5\r\n\r\nhello", "not a length"),
                new Case("rfc9110 8.6: signed Content-Length", ok + "Content-Length: +5\r\n\r\nhello", "not a length"),
                new Case(
                        "rfc9110 8.6: negative Content-Length", ok + "Content-Length: -5\r\n\r\nhello", "not a length"),
                new Case("rfc9110 8.6: empty Content-Length", ok + "Content-Length:\r\n\r\nhello", "not a length"),
                new Case(
                        "rfc9110 8.6: hexadecimal Content-Length",
                        ok + "Content-Length: 0x5\r\n\r\nhello",
                        "not a length"),
                new Case(
                        "rfc9110 8.6: huge Content-Length",
                        ok + "Content-Length: 99999999999999999999\r\n\r\nhello",
                        "not a length"),
                new Case(
                        "rfc9112 6.1: Transfer-Encoding with Content-Length",
                        ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                        "together"),
                new Case(
                        "rfc9112 6.1: the same the other way round",
                        ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                        "together"),
                new Case(
                        "rfc9112 6.1: unknown coding",
                        ok + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                        "other than chunked"),
                new Case(
                        "rfc9112 6.1: identity", ok + "Transfer-Encoding: identity\r\n\r\nhello", "other than chunked"),
                new Case(
                        "rfc9112 6.3: chunked not final",
                        ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
                        "other than chunked"),
                new Case(
                        "rfc9112 6.3: coding before chunked",
                        ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                        "other than chunked"),
                new Case(
                        "rfc9112 6.1: chunked twice",
                        ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                        "other than chunked"),
                new Case(
                        "rfc9112 6.1: coding with a vertical tab",
                        ok + "Transfer-Encoding: \u000bchunked\r\n\r\n0\r\n\r\n",
                        "control byte 0xb"),
                new Case(
                        "rfc9112 6.1: Transfer-Encoding in HTTP/1.0",
                        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                        "HTTP/1.0"),
                new Case(
                        "rfc9112 6.1: Transfer-Encoding in 204",
                        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                        "without content"),
                new Case("rfc9112 5.2: folded line", ok + "A: b\r\n c\r\nContent-Length: 0\r\n\r\n", "folded"),
                new Case(
                        "rfc9112 5.2: folded Transfer-Encoding",
                        ok + "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
                        "folded"),
                new Case(
                        "rfc9112 2.2: white space before the first field",
                        ok + " A: b\r\nContent-Length: 0\r\n\r\n",
                        "folded"),
                new Case("rfc9112 5.1: space before the colon", ok + "Content-Length : 0\r\n\r\n", "before the colon"),
                new Case("rfc9112 5.1: tab before the colon", ok + "Content-Length\t: 0\r\n\r\n", "before the colon"),
                new Case("rfc9112 5: no colon", ok + "Content-Length\r\n\r\n", "field name"),
                new Case("rfc9112 5: no name", ok + ": 0\r\n\r\n", "field name"),
                new Case("rfc9110 5.6.2: name that is no token", ok + "Content(Length: 0\r\n\r\n", "field name"),
                new Case(
                        "rfc9110 5.5: NUL in a value",
                        ok + "A: b\0c\r\nContent-Length: 0\r\n\r\n",
                        "control byte 0x0 in the value of A"),
                new Case(
                        "rfc9110 5.5: CR in a value",
                        ok + "A: b\rc\r\nContent-Length: 0\r\n\r\n",
                        "control byte 0xd in the value of A"),
                new Case("rfc9112 2.2: LF alone", ok + "A: b\nContent-Length: 0\r\n\r\n", "bare LF"),
                new Case("rfc9112 2.2: LF alone ends the head", ok + "Content-Length: 0\r\n\n", "bare LF"),
                new Case("rfc9112 2.2: LF alone throughout", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "status line"),
                new Case("rfc9112 4: other version", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "status line"),
                new Case("rfc9112 4: other protocol", "ICY 200 OK\r\nContent-Length: 0\r\n\r\n", "status line"),
                new Case(
                        "rfc9112 4: status of four digits",
                        "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
                        "status line"),
                new Case(
                        "rfc9110 15: status out of range",
                        "HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n",
                        "status line"),
                new Case("rfc9112 4: two spaces", "HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n", "status line"),
                new Case(
                        "rfc9112 4: control in the reason",
                        "HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n",
                        "status line"),
                new Case(
                        "rfc9112 4: empty line first",
                        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                        "status line"),
                new Case(
                        "rfc9110 15.2.2: 101 without upgrade",
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
                        "101"),
                new Case(
                        "rfc9110 15.2: endless interim responses",
                        "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(40),
                        "interim responses"),
                new Case("rfc9110 5.4: head too large", ok + "A: " + "b".repeat(5000), "more than 4096 bytes"),
                new Case(
                        "rfc9110 5.4: head too large in many lines",
                        ok + "A: b\r\n".repeat(1000) + "\r\n",
                        "more than 4096 bytes"),
                new Case("rfc9112 7.1: chunk size is no number", chunked + "x\r\n", "malformed content"),
                new Case(
                        "rfc9112 7.1: chunk size overflows",
                        chunked + "100000000000000005\r\nhello\r\n0\r\n\r\n",
                        "malformed content"),
                new Case("rfc9112 7.1: signed chunk size", chunked + "+5\r\nhello\r\n0\r\n\r\n", "malformed content"),
                new Case(
                        "rfc9112 7.1: prefixed chunk size", chunked + "0x5\r\nhello\r\n0\r\n\r\n", "malformed content"),
                new Case(
                        "rfc9112 7.1: chunk size behind a space",
                        chunked + " 5\r\nhello\r\n0\r\n\r\n",
                        "malformed content"),
                new Case("rfc9112 7.1: empty chunk size", chunked + "\r\nhello", "malformed content"),
                new Case("rfc9112 7.1.1: LF in an extension", chunked + "5;a\nhello\r\n0\r\n\r\n", "malformed content"),
                new Case(
                        "rfc9112 7.1: chunk longer than said",
                        chunked + "4\r\nhello\r\n0\r\n\r\n",
                        "malformed content"),
                new Case("rfc9112 7.1.2: trailer with LF alone", chunked + "0\r\nA: b\n\r\n", "malformed content"),
                new Case(
                        "rfc9112 7.1.2: trailer section too large",
                        chunked + "0\r\nA: " + "b".repeat(5000),
                        "malformed content"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void refuses(Case refused) throws Exception {
        FetchSettings small = settings().responseHeadMax(4096).build();
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    peer.readHead();
                    peer.send(refused.wire);
                    assertTrue(peer.isClosedByPeer(), "still open");
                },
                ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"))) {
            OriginFailure failure = fetchFailing(get(origin.origin(), small));
            assertEquals(Reason.BAD_RESPONSE, failure.reason(), failure.message());
            assertTrue(failure.message().startsWith(origin.origin() + ": "), failure.message());
            assertTrue(failure.message().contains(refused.problem), failure.message());
            assertEquals("second", fetch(get(origin.origin(), small)).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    /** Unusual, but unambiguous responses. */
    @TestFactory
    Stream<DynamicTest> accepts() {
        return Stream.of(
                        new Case("rfc9112 4: no reason phrase", "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello", ""),
                        new Case("rfc9112 4: not even the space", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", ""),
                        new Case(
                                "rfc9110 5.5: obsolete text",
                                "HTTP/1.1 200 OK\r\nA: \u00e4\r\nContent-Length: 5\r\n\r\nhello",
                                ""),
                        new Case(
                                "rfc9110 5.5: white space around a value",
                                "HTTP/1.1 200 OK\r\nContent-Length: \t 5 \t\r\n\r\nhello",
                                ""),
                        new Case(
                                "rfc9110 8.6: leading zeros",
                                "HTTP/1.1 200 OK\r\nContent-Length: 005\r\n\r\nhello",
                                ""),
                        new Case(
                                "rfc9110 5.1: names in any case",
                                "HTTP/1.1 200 OK\r\ncONTENT-lENGTH: 5\r\n\r\nhello",
                                ""),
                        new Case(
                                "rfc9112 7.1: codings in any case",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                                ""),
                        new Case(
                                "rfc9112 7.1: sizes with zeros",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n",
                                ""),
                        new Case(
                                "rfc9112 9.3: HTTP/1.0",
                                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
                                ""))
                .map(each -> DynamicTest.dynamicTest(each.name, () -> {
                    try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(each.wire))) {
                        assertEquals("hello", fetch(get(origin.origin())).content());
                        assertEquals("hello", fetch(get(origin.origin())).content());
                        assertEquals(1, origin.connectionsAccepted());
                    }
                }));
    }
}
