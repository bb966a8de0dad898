package io.millrace.bench.http1;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http1.Http1HeadWriter;
import io.millrace.proxy.http1.Http1HeadWriter.Framing;
import io.millrace.proxy.http1.Http1HeadWriter.Persistence;
import io.millrace.proxy.observe.field.CacheStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of writing the response head of a hit. It writes the stored bytes of the head, and then Age, Via and
 * Cache-Status. Two variants also write the constant fields of rules or extensions. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StoredHeadWriteBenchmark {
    private final StoredHead stored = StoredResponses.storedHead();
    private final OutboundHead head = new OutboundHead();
    private final CacheStatus cacheStatus = new CacheStatus("millrace");
    private final AsciiString via = AsciiString.cached("1.1 millrace");
    private final ByteBuf out = Unpooled.directBuffer(1024);
    private final FieldEdits added = edits("X-A", "X-Bcd", "X-Content-Type-Options", "X-Frame-Options", "X-Served");
    private final FieldEdits replaced = edits("X-A", "X-Bcd", "X-Content-Type-Options", "Cache-Control", "Server");
    private final long nowMillis = StoredResponses.STORED_MILLIS + 12_000;

    /** Writes one head into a reused buffer. */
    @Benchmark
    public int hit() {
        return write(null);
    }

    /** Like {@link #hit}, with five constant fields, none of which is in the stored head. */
    @Benchmark
    public int hitWithFiveNewFields() {
        return write(added);
    }

    /** Like {@link #hit}, with five constant fields, two of which replace fields of the stored head. */
    @Benchmark
    public int hitWithFiveFields() {
        return write(replaced);
    }

    private static FieldEdits edits(String... names) {
        List<FieldName> removed = new ArrayList<>();
        FieldSection.Builder fields = FieldSection.builder();
        for (String name : names) {
            byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
            removed.add(Objects.requireNonNull(FieldName.of(bytes, 0, bytes.length)));
            fields.add(name, "a constant value");
        }
        return FieldEdits.of(removed, fields.build()).encoded();
    }

    private int write(@Nullable FieldEdits edits) {
        out.clear();
        head.resetWire(stored.status(), stored.wireBytes(), true)
                .contentLength(stored.contentLength())
                .ageSeconds(stored.currentAgeSeconds(nowMillis))
                .via(via);
        cacheStatus.hit(head.cacheStatus(), stored.ttlSeconds(nowMillis));
        if (edits != null) {
            head.edit(edits);
        }
        Http1HeadWriter.write(head, Framing.LENGTH, Persistence.DEFAULT, out);
        return out.readableBytes();
    }

    /** Releases the buffer. */
    @TearDown
    public void release() {
        out.release();
    }
}
