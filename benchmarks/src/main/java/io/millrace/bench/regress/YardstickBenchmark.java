package io.millrace.bench.regress;

import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of fixed work that measures the current speed of the machine. The work does not depend on the product: it
 * reads bytes with one branch per byte, as parsers do, and computes a checksum. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class YardstickBenchmark {
    private static final int LENGTH = 512;

    private final byte[] bytes = bytes();
    private final CRC32C checksum = new CRC32C();

    private static byte[] bytes() {
        byte[] bytes = new byte[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            bytes[i] = (byte) (i * 31 + (i >>> 3));
        }
        return bytes;
    }

    /** Reads all bytes and computes the checksum once. */
    @Benchmark
    public long round() {
        long hash = 0;
        for (byte b : bytes) {
            hash = b < 0 ? hash * 31 + b : hash ^ b;
        }
        checksum.reset();
        checksum.update(bytes, 0, LENGTH);
        return hash + checksum.getValue();
    }
}
