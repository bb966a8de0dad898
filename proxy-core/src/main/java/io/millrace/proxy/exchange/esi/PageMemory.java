package io.millrace.proxy.exchange.esi;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that pages in assembly hold in the Java heap, for all event loops of one proxy. These bytes do not count
 * towards {@code limits.memory_in_flight}, which measures buffers of direct memory.
 *
 * <p>Thread-safe.
 */
public final class PageMemory {
    private final AtomicLong used = new AtomicLong();

    /**
     * Reserves bytes. Returns false, and reserves nothing, if the limit would be exceeded.
     *
     * @param limit limit of the bytes of all pages
     */
    boolean reserve(long bytes, long limit) {
        long now;
        do {
            now = used.get();
            if (bytes > limit - now) {
                return false;
            }
        } while (!used.compareAndSet(now, now + bytes));
        return true;
    }

    /** Releases reserved bytes. */
    void release(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Bytes that are reserved now. */
    public long usedBytes() {
        return used.get();
    }
}
