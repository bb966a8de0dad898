package io.millrace.proxy.http2;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import io.millrace.proxy.observe.field.CacheStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of the two field blocks (compressed header fields) of an HTTP/2 hit. It decodes a browser's request and
 * encodes the response head. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FieldBlockBenchmark {
    private static final int LIST_MAX = 64 * 1024;

    private final HpackDecoder hpack = new HpackDecoder();
    private final RequestFields fields = new RequestFields();
    private final byte[] block = requestBlock();
    private final HeadEncoder encoder = new HeadEncoder();
    private final StoredHead stored = StoredResponses.storedHead();
    private final OutboundHead head = new OutboundHead();
    private final CacheStatus cacheStatus = new CacheStatus("millrace");
    private final AsciiString via = AsciiString.cached("2.0 millrace");
    private final ByteBuf out = Unpooled.directBuffer(1024);
    private final long nowMillis = StoredResponses.STORED_MILLIS + 12_000;

    /**
     * Returns a block of literal fields without references to the HPACK tables. This encoding is the most expensive,
     * because each byte is copied.
     */
    private static byte[] requestBlock() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        field(bytes, ":method", "GET");
        field(bytes, ":scheme", "http");
        field(bytes, ":authority", "www.example.com");
        field(bytes, ":path", "/assets/site.css?v=12");
        for (String line : StoredResponses.browserRequestText().split("\r\n", -1)) {
            int colon = line.indexOf(": ");
            if (colon > 0 && !line.startsWith("Host") && !line.startsWith("Connection")) {
                field(bytes, line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 2));
            }
        }
        return bytes.toByteArray();
    }

    private static void field(ByteArrayOutputStream bytes, String name, String value) {
        bytes.write(0);
        bytes.write(name.length());
        bytes.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        bytes.write(Math.min(value.length(), 127));
        if (value.length() >= 127) {
            bytes.write(value.length() - 127);
        }
        bytes.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** Decodes one request to a validated head. */
    @Benchmark
    public RequestHead request() throws Http2Exception {
        fields.begin(LIST_MAX, false);
        hpack.decode(block, 0, block.length, fields);
        RequestHead request = fields.head(false);
        if (request == null) {
            throw new IllegalStateException("refused: " + fields.malformed());
        }
        return request;
    }

    /** Encodes one response head into a reused buffer. */
    @Benchmark
    public int response() {
        out.clear();
        head.resetWire(stored.status(), stored.wireBytes(), true)
                .contentLength(stored.contentLength())
                .ageSeconds(stored.currentAgeSeconds(nowMillis))
                .via(via);
        cacheStatus.hit(head.cacheStatus(), stored.ttlSeconds(nowMillis));
        encoder.encode(head, false);
        Frames.headers(out, 1, encoder.block(), encoder.length(), false);
        return out.readableBytes();
    }

    /** Releases the buffer. */
    @TearDown
    public void release() {
        out.release();
    }
}
