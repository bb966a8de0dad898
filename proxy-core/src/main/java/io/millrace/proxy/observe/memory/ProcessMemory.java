package io.millrace.proxy.observe.memory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The memory usage of this process, read from {@code /proc/self}. All values are 0 on systems without {@code /proc}.
 *
 * <p>Thread-safe. A call must not run on event loops: the kernel visits each page of the process, which takes about
 * 30 ms for 1 GiB in pages of 4 KiB.
 */
public final class ProcessMemory {
    private static final Path SMAPS = Path.of("/proc/self/smaps");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final long KIB = 1024;

    /** The memory ranges of the JVM, recorded before the first proxy of this process allocated buffers. */
    private static final List<MemoryMap.Range> JVM = jvm();

    /** Largest age limit that {@link #costFactor} can lead to. */
    private static final Duration AGE_LIMIT = Duration.ofMinutes(1);

    private final long ageNanosMax;
    private final long costFactor;
    private final LongSupplier clock;
    private final Supplier<Reading> source;
    private final ReentrantLock reading = new ReentrantLock();
    private @Nullable MemoryMap last;
    private long lastNanos;

    /** CPU time of the last read. 0 before the second read, because the first one also loads classes. */
    private long costNanos;

    /**
     * A memory map, and the CPU time for reading it.
     *
     * @param cpuNanos CPU time of the calling thread in nanoseconds
     */
    record Reading(MemoryMap map, long cpuNanos) {}

    /**
     * Creates a reader whose memory map is read again when it is older than the larger of two limits.
     *
     * @param ageMax the first limit
     * @param costFactor the second limit, as a multiple of the CPU time of the last read, at most one minute. 0 for
     *     none. With 500, reads of up to 120 ms use at most 0.2 % of a processor
     */
    public ProcessMemory(Duration ageMax, long costFactor) {
        this(ageMax, costFactor, System::nanoTime, new Smaps()::read);
    }

    /**
     * @param clock time in nanoseconds
     * @param source reads the memory map
     */
    ProcessMemory(Duration ageMax, long costFactor, LongSupplier clock, Supplier<Reading> source) {
        ageNanosMax = ageMax.toNanos();
        this.costFactor = costFactor;
        this.clock = clock;
        this.source = source;
    }

    /** Records the memory ranges of the JVM, once per process. Call before the first proxy allocates buffers. */
    public static void recordJvm() {
        assert JVM != null; // calling this method has initialized the class and thus the constant
    }

    /** Returns the memory by purpose, not older than the limits. Blocks while another thread reads. */
    public MemoryMap map() {
        reading.lock();
        try {
            long now = clock.getAsLong();
            MemoryMap known = last;
            if (known == null || now - lastNanos > ageLimitNanos()) {
                Reading read = source.get();
                costNanos = known == null ? 0 : read.cpuNanos();
                known = read.map();
                last = known;
                lastNanos = now;
            }
            return known;
        } finally {
            reading.unlock();
        }
    }

    private long ageLimitNanos() {
        return Math.max(ageNanosMax, Math.min(AGE_LIMIT.toNanos(), costFactor * costNanos));
    }

    private static List<MemoryMap.Range> jvm() {
        try {
            return MemoryMap.unnamed(Files.readAllLines(SMAPS, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Reads {@code /proc/self/smaps}. Not thread-safe. */
    private static final class Smaps {
        private MemoryMap.@Nullable Range heap;

        Reading read() {
            MemoryMap.Range heapRange = heap;
            if (heapRange == null) {
                heapRange = MemoryMap.Range.of(runCommand("gcHeapInfo"));
                heap = heapRange;
            }
            MemoryMap.Range code = MemoryMap.Range.of(runCommand("compilerCodecache"));
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadCpuTime();
            try {
                MemoryMap map =
                        MemoryMap.of(Files.readAllLines(SMAPS, StandardCharsets.ISO_8859_1), heapRange, code, JVM);
                return new Reading(map, threads.getCurrentThreadCpuTime() - before);
            } catch (IOException e) {
                return new Reading(MemoryMap.NONE, 0);
            }
        }
    }

    /** Runs a diagnostic command of the JVM, as {@code jcmd} does. Returns an empty text if it fails. */
    private static String runCommand(String command) {
        try {
            Object answer = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            command,
                            new Object[] {null},
                            new String[] {String[].class.getName()});
            return String.valueOf(answer);
        } catch (JMException | RuntimeException e) {
            return "";
        }
    }

    /** Returns the committed metaspace in bytes, including class space. */
    public static long metaspaceBytes() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if ("Metaspace".equals(pool.getName())) {
                return pool.getUsage().getCommitted();
            }
        }
        return 0;
    }

    /** Returns the kernel's value of anonymous memory in bytes (RssAnon). */
    public static long anonymousBytes() {
        try {
            for (String line : Files.readAllLines(STATUS, StandardCharsets.ISO_8859_1)) {
                if (line.startsWith("RssAnon:")) {
                    String number = line.substring(line.indexOf(':') + 1, line.lastIndexOf(' '));
                    return Long.parseLong(number.trim()) * KIB;
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return 0;
    }
}
