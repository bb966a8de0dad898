package io.millrace.bench.store;

import com.sun.management.OperatingSystemMXBean;
import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Benchmark of O_DIRECT on a block device or file, with the sizes of the store. It writes batches of 256 KiB in
 * succession, and reads objects at random places. It reports CPU and wall-clock time of the process, through the
 * page cache and with O_DIRECT. It needs root, because it empties the page cache before the reads from the device.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.store.DirectIoDriver DEVICE [MEBIBYTES]
 * </pre>
 *
 * The content of the device is lost.
 */
public final class DirectIoDriver {
    private static final int BATCH_BYTES = 256 << 10;
    private static final int OBJECT_BYTES = 16 << 10;
    private static final int ALIGNMENT = 4096;
    private static final int READS = 20_000;
    private static final int ROUNDS = 3;
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    private static final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Path device;
    private final long bytes;

    private DirectIoDriver(Path device, long bytes) {
        this.device = device;
        this.bytes = bytes;
    }

    /** Runs the benchmark; see the class for the arguments. */
    public static void main(String[] args) throws IOException {
        long mebibytes = args.length < 2 ? 2048 : Long.parseLong(args[1]);
        DirectIoDriver driver = new DirectIoDriver(Path.of(args[0]), mebibytes << 20);
        for (int round = 0; round < ROUNDS; round++) {
            driver.run("buffered");
            driver.run("direct", ExtendedOpenOption.DIRECT);
        }
    }

    private void run(String name, OpenOption... more) throws IOException {
        List<OpenOption> options = new ArrayList<>(List.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
        options.addAll(List.of(more));
        try (FileChannel channel = FileChannel.open(device, options.toArray(new OpenOption[0]))) {
            report(name, "write", bytes >> 20, "MiB", () -> write(channel));
            Files.writeString(DROP_CACHES, "3");
            report(name, "first reads", READS, "read", () -> read(channel));
            report(name, "same reads again", READS, "read", () -> read(channel));
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void report(String name, String what, long count, String unit, Work work) throws IOException {
        long cpu = system.getProcessCpuTime();
        long wall = System.nanoTime();
        work.run();
        double wallMicros = (System.nanoTime() - wall) / 1e3 / count;
        double cpuMicros = (system.getProcessCpuTime() - cpu) / 1e3 / count;
        System.out.printf(
                Locale.ROOT, "%-8s %-16s %8.1f us of CPU, %8.1f us per %s%n", name, what, cpuMicros, wallMicros, unit);
    }

    private static ByteBuffer aligned(int length) {
        return ByteBuffer.allocateDirect(length + ALIGNMENT)
                .alignedSlice(ALIGNMENT)
                .limit(length);
    }

    private void write(FileChannel channel) throws IOException {
        ByteBuffer batch = aligned(BATCH_BYTES);
        for (long at = 0; at < bytes; at += BATCH_BYTES) {
            batch.clear().limit(BATCH_BYTES);
            while (batch.hasRemaining()) {
                channel.write(batch, at + batch.position());
            }
        }
        channel.force(false);
    }

    private void read(FileChannel channel) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        ByteBuffer object = aligned(OBJECT_BYTES);
        for (int i = 0; i < READS; i++) {
            object.clear().limit(OBJECT_BYTES);
            long at = random.nextLong((bytes - OBJECT_BYTES) / ALIGNMENT) * ALIGNMENT;
            while (object.hasRemaining() && channel.read(object, at + object.position()) > 0) {
                // Continues after a short read.
            }
        }
    }
}
