package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadScannerTest {
    @ParameterizedTest
    @CsvSource({
        "'GET / HTTP/1.1\r\nA: b\r\n\r\nrest', 24, 16",
        "'GET / HTTP/1.1\r\n\r\n', 18, 16",
        "'GET / HTTP/1.1\n\n', 16, 15",
        "'\r\nGET', 2, 2",
        "'GET / HTTP/1.1\r\nA: b\r\n', -1, 16",
        "'GET / HT', -1, 0",
    })
    void findsTheEmptyLine(String text, int length, int startLineLength) {
        HeadScanner scanner = new HeadScanner();
        assertEquals(length, scanner.scan(bytes(text)));
        assertEquals(startLineLength, scanner.startLineLength());
    }

    @Test
    void findsItHoweverTheBytesArrive() {
        String text = "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
        HeadScanner scanner = new HeadScanner();
        ByteBuf in = Unpooled.buffer();
        for (int i = 0; i < text.length() - 1; i++) {
            in.writeByte(text.charAt(i));
            assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in));
        }
        in.writeByte('\n');
        assertEquals(text.length(), scanner.scan(in));
        scanner.reset();
        assertEquals(text.length(), scanner.scan(bytes(text + text)));
    }

    /** A reload may lower the limit of a partly received head below the received length. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aLimitMayBeBelowTheScannedLength() {
        HeadScanner scanner = new HeadScanner();
        ByteBuf in = bytes("GET / HTTP/1.1\r\nA: b\r\nC: d\r\n");
        assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in, 1000));
        in.writeBytes(bytes("E: f\r\n\r\n"));
        assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in, 17));
        assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in, 27));
        assertEquals(in.readableBytes(), scanner.scan(in, 1000));
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
