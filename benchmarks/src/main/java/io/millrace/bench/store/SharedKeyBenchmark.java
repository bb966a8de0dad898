package io.millrace.bench.store;

import io.millrace.store.ResidentReader;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Benchmark of two threads that request the same key, compared with a separate key for each thread. A hit is a lookup,
 * a copy of 500 bytes, and a release if the object is retained. The parameter {@code tokens} sets the other work of
 * each thread between two hits.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Threads(2)
public class SharedKeyBenchmark {
    private static final int LENGTH = 500;

    /** The requested keys: one for both threads, or one for each. */
    @Param({"one", "own"})
    public String keys = "one";

    /**
     * The kind of access: {@code held} retains the object during the copy; {@code read} reads it in an epoch-based read
     * section, without a reference.
     */
    @Param({"held", "read"})
    public String way = "read";

    /**
     * Work between two hits, as an argument of JMH's {@code Blackhole.consumeCPU}: 0 for none; 2000 for about the time
     * of a real hit with its system calls.
     */
    @Param({"0", "2000"})
    public int tokens;

    @SuppressWarnings("NullAway.Init") // by the setup
    private BenchStore bench;

    private final AtomicInteger threads = new AtomicInteger();

    /** The key of one thread, and the target of its copies. Confined to one thread. */
    @State(Scope.Thread)
    public static class Loop {
        private final ByteBuf to = Unpooled.directBuffer(LENGTH);

        @SuppressWarnings("NullAway.Init") // by the setup
        private StoreKey key;

        @SuppressWarnings("NullAway.Init") // by the setup
        private ResidentReader<PlainHead> reader;

        /** Chooses the key and opens the reader. */
        @Setup(Level.Trial)
        public void choose(SharedKeyBenchmark shared) {
            int number = shared.threads.getAndIncrement();
            key = shared.bench.key("one".equals(shared.keys) ? 0 : number % 2);
            reader = shared.bench.store().residentReader();
        }

        /** Closes the reader. */
        @TearDown(Level.Trial)
        public void close() {
            reader.close();
        }
    }

    /** Stores the objects. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        bench = new BenchStore(StoreConfig.builder().ramBytes(64 << 20));
        bench.put(0, LENGTH);
        bench.put(1, LENGTH);
    }

    /** Closes the store. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        bench.close();
    }

    /** Runs one hit. */
    @Benchmark
    public long hit(Loop loop) {
        Blackhole.consumeCPU(tokens);
        if ("read".equals(way)) {
            loop.reader.begin();
            try {
                return copied(loop, loop.reader.get(loop.key));
            } finally {
                loop.reader.end();
            }
        }
        StoredObject<PlainHead> object = bench.store().get(loop.key);
        try {
            return copied(loop, object);
        } finally {
            if (object != null) {
                object.release();
            }
        }
    }

    private static long copied(Loop loop, @Nullable StoredObject<PlainHead> object) {
        ByteBuf body = object == null ? null : object.residentBody();
        if (object == null || body == null) {
            throw new IllegalStateException("the object is not in RAM");
        }
        loop.to.clear().writeBytes(body, body.readerIndex(), LENGTH);
        return object.head().number();
    }
}
