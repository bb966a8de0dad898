package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.RawRequests;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the fast lane's scanner accepts requests of browsers, and nothing that the channel lane would refuse or
 * read differently.
 */
class PlainRequestTest {
    private static final int CASES = 40_000 * Integer.getInteger("millrace.test.effort", 1);

    private static final String BROWSER = "GET /shop/list?page=2&sort=price HTTP/1.1\r\n"
            + "Host: www.shop.example\r\n"
            + "Connection: keep-alive\r\n"
            + "sec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"\r\n"
            + "sec-ch-ua-mobile: ?0\r\n"
            + "Upgrade-Insecure-Requests: 1\r\n"
            + "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
            + "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n"
            + "Sec-Fetch-Site: same-origin\r\n"
            + "Referer: http://www.shop.example/\r\n"
            + "Accept-Encoding: gzip, deflate, br\r\n"
            + "Accept-Language: de-DE,de;q=0.9\r\n"
            + "Cookie: session=0123456789abcdef; theme=dark\r\n"
            + "If-None-Match: \"5e-62\"\r\n"
            + "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            + "Cache-Control: max-age=0\r\n"
            + "Pragma: no-cache\r\n"
            + "DNT: 1\r\n"
            + "Priority: u=0, i\r\n"
            + "X-Requested-With:\tXMLHttpRequest \r\n"
            + "\r\n";

    private static final List<String> SEEDS = List.of(
            BROWSER,
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HEAD /a/b?c HTTP/1.1\r\nhost:a:8080\r\nX:\r\n\r\n",
            "GET /old HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a\r\n\r\n",
            "GET /old HTTP/1.0\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: [::1]:81\r\nConnection: close\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
            "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n");

    /** Pieces of requests that two parsers of one connection are known to read differently. */
    private static final List<String> PIECES = List.of(
            "\r\n",
            "\n",
            "\r",
            " ",
            "\t",
            ":",
            "\0",
            "\u000b",
            "\u0080",
            "\u007f",
            "\\",
            "#",
            "?",
            "@",
            "%",
            "[",
            "]",
            "/",
            ".",
            "*",
            ",",
            ";",
            "\"",
            "HTTP/1.1",
            "HTTP/1.0",
            "HTTP/2.0",
            " HTTP/1.1\r\n",
            "\r\n\r\n",
            "\r\n ",
            "\r\n\t",
            "GET ",
            "HEAD ",
            "Host: a\r\n",
            "Host:\r\n",
            "Content-Length: 1\r\n",
            "Content-Length: 0\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive\r\n",
            "Connection: close, keep-alive\r\n",
            "Connection: Upgrade\r\n",
            "Connection:\r\n",
            "Upgrade: h2c\r\n",
            "Expect: 100-continue\r\n",
            "Range: bytes=0-1\r\n",
            "Trailer: x\r\n",
            "X y: z\r\n",
            ": z\r\n",
            "Foo\r\n",
            "Keep-Alive: timeout=5\r\n",
            "Proxy-Connection: close\r\n",
            "TE: trailers\r\n",
            "http://b/");

    private final PlainRequestCheck check = new PlainRequestCheck();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void requestOfABrowserIsPlain() {
        assertTrue(check.check(bytes(BROWSER)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                "HEAD /a/b?c#",
                "GET /old HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a\r\n\r\n",
                "GET /old HTTP/1.0\r\n\r\n",
                "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            })
    void plainRequestsAreAcceptedWithTheFollowingBytes(String wire) {
        assertEquals(!wire.endsWith("#"), check.check(bytes(wire)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 0\r\n",
                "Transfer-Encoding: chunked\r\n",
                "Upgrade: h2c\r\n",
                "Expect: 100-continue\r\n",
                "Range: bytes=0-1\r\n",
                "Trailer: x\r\n",
                "HTTP2-Settings: AAAA\r\n",
                "Connection: upgrade\r\n",
                "Connection: keep-alive, x\r\n",
                "Connection: keep-alive\r\nConnection: close\r\n",
                "X: a\r\n b\r\n",
                "X : a\r\n",
                "X: \u00e4\r\n",
                "X: \u0001\r\n",
                "Host: b\r\n"
            })
    void framingProtocolAndRangeFieldsAreLeftToTheChannel(String field) {
        assertFalse(check.check(bytes("GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n")));
    }

    @Test
    void headBeyondALimitIsLeftToTheChannel() {
        String line = "GET /" + "a".repeat(256 - 16) + " HTTP/1.1\r\n";
        assertEquals(256, line.length());
        String fields = "Host: a\r\nX: " + "x".repeat(1024 - 15) + "\r\n\r\n";
        assertEquals(1025, fields.length());
        assertFalse(check.check(bytes(line + fields)));
        assertTrue(check.check(bytes(line + fields.replace("xx\r\n", "x\r\n"))));
        assertFalse(check.check(bytes(line.replace("aa", "aaa") + "Host: a\r\n\r\n")));
    }

    @Test
    void unfinishedHeadIsNotPlainYet() {
        byte[] whole = bytes(BROWSER);
        for (int length = 0; length < whole.length; length++) {
            assertFalse(check.check(Arrays.copyOf(whole, length)), "of length " + length);
        }
    }

    @ParameterizedTest
    @MethodSource("io.millrace.proxy.RawRequests#refused")
    void nothingIsTakenThatIsRefused(RawRequests.Case request) {
        check.check(bytes(request.wire()));
    }

    /** Random changes of requests: an accepted plain request is the one that the channel lane reads. */
    @Test
    void plainRequestsAreReadEquallyInBothLanes() {
        long seed = Long.getLong("millrace.test.seed", System.nanoTime());
        System.out.println("PlainRequestTest: -Dmillrace.test.seed=" + seed);
        Random random = new Random(seed);
        int plain = 0;
        for (int i = 0; i < CASES; i++) {
            StringBuilder wire = new StringBuilder(SEEDS.get(random.nextInt(SEEDS.size())));
            for (int changes = random.nextInt(4); changes > 0; changes--) {
                change(wire, random);
            }
            plain += check.check(bytes(wire.toString())) ? 1 : 0;
        }
        assertTrue(plain > CASES / 5 && plain < CASES * 4 / 5, "plain: " + plain);
    }

    private static void change(StringBuilder wire, Random random) {
        int at = random.nextInt(wire.length() + 1);
        int to = Math.min(wire.length(), at + 1 + random.nextInt(8));
        switch (random.nextInt(6)) {
            case 0 -> wire.insert(at, PIECES.get(random.nextInt(PIECES.size())));
            case 1 -> wire.delete(at, to);
            case 2 -> wire.insert(at, wire.substring(at, to));
            case 3 -> wire.insert(at, (char) random.nextInt(256));
            case 4 -> {
                if (at < wire.length()) {
                    wire.setCharAt(at, (char) (wire.charAt(at) ^ 1 << random.nextInt(8)));
                }
            }
            default -> {
                int line = wire.indexOf("\r\n", at);
                wire.insert(line < 0 ? wire.length() : line + 2, PIECES.get(random.nextInt(PIECES.size())));
            }
        }
    }
}
