package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http1.Http1HeadWriter.Framing;
import io.millrace.proxy.http1.Http1HeadWriter.Persistence;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Http1HeadWriterTest {
    private final OutboundHead head = new OutboundHead();

    @Test
    void writesStatusFieldsAndFraming() {
        FieldSection fields =
                FieldSection.builder().add("Content-Type", "text/plain").build();
        head.reset(200, "OK", fields).contentLength(5).ageSeconds(12).via(AsciiString.of("1.1 millrace"));
        head.cacheStatus().writeCharSequence("millrace; hit", StandardCharsets.US_ASCII);
        assertEquals(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAge: 12\r\nVia: 1.1 millrace\r\n"
                        + "Cache-Status: millrace; hit\r\nContent-Length: 5\r\n\r\n",
                written(Framing.LENGTH, Persistence.DEFAULT));
    }

    @Test
    void doesNotRepeatTheLengthOfAWireHead() {
        byte[] wire = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n".getBytes(StandardCharsets.US_ASCII);
        head.resetWire(200, wire, true).contentLength(5);
        assertEquals(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
                written(Framing.LENGTH, Persistence.CLOSE));
    }

    @Test
    void saysChunkedAndKeepAlive() {
        head.reset(200, "OK", FieldSection.EMPTY);
        assertEquals(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n",
                written(Framing.CHUNKED, Persistence.KEEP_ALIVE));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 10, 99, 100, 12345678901L, Long.MAX_VALUE})
    void writesDecimals(long value) {
        ByteBuf out = Unpooled.buffer();
        Http1HeadWriter.writeDecimal(out, value);
        assertEquals(Long.toString(value), out.toString(StandardCharsets.US_ASCII));
    }

    private String written(Framing framing, Persistence persistence) {
        ByteBuf out = Unpooled.buffer();
        Http1HeadWriter.write(head, framing, persistence, out);
        return out.toString(StandardCharsets.US_ASCII);
    }
}
