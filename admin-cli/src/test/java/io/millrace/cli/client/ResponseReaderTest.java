package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ResponseReaderTest {
    private static AdminResponse read(String bytes) throws IOException {
        ByteArrayInputStream stream = new ByteArrayInputStream(bytes.getBytes(StandardCharsets.ISO_8859_1));
        return new ResponseReader(Channels.newChannel(stream)).read();
    }

    @Test
    void rfc9110Section15Point2SkipsInterimResponses() throws IOException {
        AdminResponse response =
                read("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        assertEquals(200, response.status());
        assertEquals("ok", response.text());
    }

    @Test
    void rfc9112Section6Point3ReadsToTheEndOfTheConnectionWithoutALength() throws IOException {
        assertEquals("all of it", read("HTTP/1.0 200 OK\n\nall of it").text());
    }

    @Test
    void rfc9112Section6Point3TakesNoBodyFor204() throws IOException {
        assertArrayEquals(
                new byte[0],
                read("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n").body());
    }

    @Test
    void readsABodyLongerThanItsBuffer() throws IOException {
        String body = "0123456789".repeat(10_000);
        assertEquals(
                body,
                read("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body + "rest")
                        .text());
        assertEquals(
                body + body,
                read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186A0\r\n" + body + "\r\n186a0\r\n" + body
                                + "\r\n0\r\n\r\n")
                        .text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/2 200 OK\r\n\r\n",
                "HTTP/1.1 2000 OK\r\n\r\n",
                "HTTP/1.1 99 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"
            })
    void rejectsInvalidFraming(String bytes) {
        assertThrows(ProtocolException.class, () -> read(bytes));
    }

    @Test
    void refusesAHeadWithoutEnd() {
        String endless = "HTTP/1.1 200 OK\r\nX: " + "x".repeat(ResponseReader.HEAD_LENGTH_MAX);
        assertThrows(ProtocolException.class, () -> read(endless));
    }

    @Test
    void refusesEveryTruncation() throws IOException {
        String whole = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: t\r\n\r\n";
        assertEquals("abc", read(whole).text());
        for (int length = 0; length < whole.length(); length++) {
            String truncated = whole.substring(0, length);
            assertThrows(EOFException.class, () -> read(truncated), truncated);
        }
    }
}
