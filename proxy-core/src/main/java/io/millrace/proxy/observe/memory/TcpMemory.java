package io.millrace.proxy.observe.memory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.StringTokenizer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Detects that the kernel's memory for TCP is nearly exhausted. When it is exhausted, the kernel slows down all
 * connections. The usual cause is data for slow clients in the kernel's send buffers.
 *
 * <p>Reads {@code /proc} at most twice a second, which takes some microseconds. Thread-safe.
 */
public final class TcpMemory {
    private static final Path USED = Path.of("/proc/net/sockstat");
    private static final Path LIMITS = Path.of("/proc/sys/net/ipv4/tcp_mem");
    private static final int READ_BYTES_MAX = 4096;
    private static final long READ_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final LongSupplier nanoTime;
    private final AtomicLong readAtNanos;
    private final long pagesMax;
    private volatile boolean tight;

    /**
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    public TcpMemory(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        readAtNanos = new AtomicLong(nanoTime.getAsLong());
        pagesMax = pagesMax();
    }

    private static long pagesMax() {
        try {
            return pagesMax(readOnce(LIMITS));
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Reads a small file with one read call. A file in {@code /proc/sys} returns its content to the first read
     * only. {@link Files#readString} would read one byte first, because the file has size 0, and would miss the
     * other bytes.
     */
    static String readOnce(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = new byte[READ_BYTES_MAX];
            int count = in.read(bytes);
            return new String(bytes, 0, Math.max(0, count), StandardCharsets.US_ASCII);
        }
    }

    /**
     * Returns the number of pages at which memory counts as tight. This is seven eighths of the first value of
     * {@code tcp_mem}. Below that value, the kernel never slows TCP down.
     */
    static long pagesMax(String tcpMem) {
        StringTokenizer words = new StringTokenizer(tcpMem);
        long low = words.hasMoreTokens() ? number(words.nextToken()) : 0;
        return low <= 0 ? Long.MAX_VALUE : low / 8 * 7;
    }

    /** Returns the number of TCP pages in the text of {@code sockstat}; 0 if the text has no such number. */
    static long pages(String sockstat) {
        for (String line : sockstat.lines().toList()) {
            if (line.startsWith("TCP:")) {
                int at = line.indexOf(" mem ");
                return at < 0 ? 0 : Math.max(0, number(line.substring(at + 5).trim()));
            }
        }
        return 0;
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Returns true if memory is tight, as of at most half a second ago. */
    public boolean isTight() {
        if (pagesMax == Long.MAX_VALUE) {
            return false;
        }
        long now = nanoTime.getAsLong();
        long before = readAtNanos.get();
        if (now - before >= READ_INTERVAL_NANOS && readAtNanos.compareAndSet(before, now)) {
            try {
                tight = pages(readOnce(USED)) >= pagesMax;
            } catch (IOException e) {
                tight = false;
            }
        }
        return tight;
    }
}
