package io.millrace.proxy.observe;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * What this process has in memory, read from {@code /proc/self} when asked, at most every two seconds. Where there is no
 * such thing all figures are 0.
 *
 * <p>Thread-safe. Takes some milliseconds: not for event loops.
 */
public final class ProcessMemory {
    private static final Path SMAPS = Path.of("/proc/self/smaps");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final long AGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(2);
    private static final long KIB = 1024;

    /** Where the JVM had its memory before any proxy of this process had buffers. */
    private static final List<MemoryMap.Range> JVM = jvm();

    private final ReentrantLock reading = new ReentrantLock();
    private @Nullable MemoryMap last;
    private long lastNanos;
    private MemoryMap.@Nullable Range heap;

    /** Has the JVM's own memory noted, once in a process: to be called before the first proxy allocates buffers. */
    public static void noteJvm() {
        assert JVM != null; // the call has loaded the class
    }

    /** The mappings, summed up. */
    public MemoryMap map() {
        reading.lock();
        try {
            long now = System.nanoTime();
            MemoryMap known = last;
            if (known == null || now - lastNanos > AGE_NANOS_MAX) {
                known = read();
                last = known;
                lastNanos = now;
            }
            return known;
        } finally {
            reading.unlock();
        }
    }

    private static List<MemoryMap.Range> jvm() {
        try {
            return MemoryMap.unnamed(Files.readAllLines(SMAPS, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return List.of();
        }
    }

    private MemoryMap read() {
        MemoryMap.Range heapRange = heap;
        if (heapRange == null) {
            heapRange = MemoryMap.Range.of(ask("gcHeapInfo"));
            heap = heapRange;
        }
        try {
            return MemoryMap.of(
                    Files.readAllLines(SMAPS, StandardCharsets.ISO_8859_1),
                    heapRange,
                    MemoryMap.Range.of(ask("compilerCodecache")),
                    JVM);
        } catch (IOException e) {
            return MemoryMap.NONE;
        }
    }

    /** What the JVM tells of itself, as {@code jcmd} would; empty when it does not. */
    private static String ask(String command) {
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

    /** Metaspace that was committed, class space included. */
    public static long metaspaceBytes() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if ("Metaspace".equals(pool.getName())) {
                return pool.getUsage().getCommitted();
            }
        }
        return 0;
    }

    /** The kernel's own figure for anonymous memory (RssAnon). */
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
