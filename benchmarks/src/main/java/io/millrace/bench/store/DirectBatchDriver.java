package io.millrace.bench.store;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Benchmark of three ways to append batches of records whose lengths are not multiples of a block. It writes batches of
 * several lengths in succession, forces the device once per second as the store does, and reports CPU and wall-clock
 * time per MiB.
 *
 * <ul>
 *   <li>{@code CACHE}: all bytes through the page cache
 *   <li>{@code REWRITE}: all bytes with O_DIRECT; the last block of a batch is written again with the next batch
 *   <li>{@code EDGES}: whole blocks with O_DIRECT, the bytes before and after them through the page cache
 * </ul>
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.store.DirectBatchDriver DEVICE [MEBIBYTES]
 * </pre>
 *
 * The content of the device is lost.
 */
public final class DirectBatchDriver {
    private static final int BLOCK_BYTES = 4096;
    private static final int[] BATCH_BYTES = {8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10};
    /** Subtracted from each batch, so that batches begin at every offset in a block at which a record may begin. */
    private static final int UNEVEN_BYTES = 17 * 64;

    private static final int ROUNDS = 3;
    private static final long FORCE_NANOS = 1_000_000_000;

    private enum Way {
        CACHE,
        REWRITE,
        EDGES
    }

    private final FileChannel cached;
    private final FileChannel direct;
    private final ByteBuffer buffer = aligned(BATCH_BYTES[BATCH_BYTES.length - 1] + 2 * BLOCK_BYTES);
    private final ByteBuffer last = aligned(BLOCK_BYTES);

    private DirectBatchDriver(FileChannel cached, FileChannel direct) {
        this.cached = cached;
        this.direct = direct;
    }

    /** Runs the benchmark; see the class for the arguments. */
    public static void main(String[] args) throws IOException {
        Path device = Path.of(args[0]);
        long mebibytes = args.length < 2 ? 512 : Long.parseLong(args[1]);
        Machine.say("%-8s %-8s %14s %14s %12s", "batch", "way", "process us/MiB", "machine us/MiB", "wall us/MiB");
        try (FileChannel cached = FileChannel.open(device, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileChannel direct = FileChannel.open(device, StandardOpenOption.WRITE, ExtendedOpenOption.DIRECT)) {
            DirectBatchDriver driver = new DirectBatchDriver(cached, direct);
            for (int batchBytes : BATCH_BYTES) {
                for (int round = 0; round < ROUNDS; round++) {
                    for (Way way : Way.values()) {
                        driver.run(way, batchBytes, mebibytes);
                    }
                }
            }
        }
    }

    private void run(Way way, int batchBytes, long mebibytes) throws IOException {
        double process = Machine.cpuSeconds();
        double machine = Machine.machineCpuSeconds();
        long start = System.nanoTime();
        long forced = start;
        int length = batchBytes - UNEVEN_BYTES;
        for (long at = 64; at + length < mebibytes << 20; at += length) {
            switch (way) {
                case CACHE -> write(cached, 0, length, at);
                case REWRITE -> rewrite(length, at);
                case EDGES -> edges(length, at);
            }
            if (System.nanoTime() - forced > FORCE_NANOS) {
                cached.force(false);
                forced = System.nanoTime();
            }
        }
        cached.force(false);
        Machine.say(
                "%-8d %-8s %14.0f %14.0f %12.0f",
                batchBytes,
                way,
                (Machine.cpuSeconds() - process) * 1e6 / mebibytes,
                (Machine.machineCpuSeconds() - machine) * 1e6 / mebibytes,
                (System.nanoTime() - start) / 1e3 / mebibytes);
    }

    private void rewrite(int length, long at) throws IOException {
        int phase = (int) (at % BLOCK_BYTES);
        int blocks = (phase + length + BLOCK_BYTES - 1) / BLOCK_BYTES;
        write(direct, 0, blocks * BLOCK_BYTES, at - phase);
    }

    private void edges(int length, long at) throws IOException {
        int phase = (int) (at % BLOCK_BYTES);
        int before = (BLOCK_BYTES - phase) % BLOCK_BYTES;
        int whole = (length - before) / BLOCK_BYTES * BLOCK_BYTES;
        if (whole > 0) {
            write(direct, phase + before, phase + before + whole, at + before);
        }
        int after = length - before - Math.max(0, whole);
        if (after > 0) {
            last.clear();
            cached.write(last, at + length - after);
        }
        write(cached, phase, phase + before, at);
    }

    private void write(FileChannel channel, int from, int to, long at) throws IOException {
        buffer.clear().limit(to).position(from);
        while (buffer.hasRemaining()) {
            channel.write(buffer, at + buffer.position() - from);
        }
    }

    private static ByteBuffer aligned(int length) {
        return ByteBuffer.allocateDirect(length + BLOCK_BYTES)
                .alignedSlice(BLOCK_BYTES)
                .limit(length)
                .slice();
    }
}
