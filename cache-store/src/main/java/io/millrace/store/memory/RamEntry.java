package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * An object in RAM: its key, a body in one off-heap buffer, and a reference count. Subclasses add the fields of the
 * object.
 *
 * <p>The body is released with the last reference; the RAM tier holds one while the entry is in its table. Equality is
 * identity, but the hash code is that of the key. Therefore the admission policy counts a key across successive
 * entries.
 *
 * <p>Thread-safe.
 */
public abstract class RamEntry {
    /**
     * Heap bytes of an entry without key and head: its object, its buffer, and its slots in the table and the policy.
     */
    private static final int OVERHEAD_BYTES = 256;

    private static final AtomicIntegerFieldUpdater<RamEntry> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "references");
    private static final AtomicIntegerFieldUpdater<RamEntry> STATE =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "state");

    /** Result of {@link #link} and {@link #unlink} if the call did not change the state. */
    static final int NOT = -1;

    /** Number of low bits of the state that hold the heap bytes. */
    private static final int HEAP_BITS = 30;

    private static final int HEAP_BYTES_MAX = (1 << HEAP_BITS) - 1;

    private static final int NEW = 0;
    private static final int LINKED = 1;
    private static final int UNLINKED = 2;

    private final byte[] keyBytes;
    private final long hashLow;
    private final ByteBuf body;
    /** Allocated bytes of the body. */
    private final int bodyBytes;

    /** Hits that the policy received, halved at each call of {@link RamTier#hottest}. Racy: an approximate number. */
    int hits;

    private volatile int references = 1;
    /** Phase in the upper bits and heap bytes in the lower bits, so that both change atomically. */
    private volatile int state;
    /** Next entry of the table's chain; written under the chain's lock, kept when this entry leaves the chain. */
    volatile @Nullable RamEntry next;

    /**
     * Takes ownership of the body; the caller holds the first reference.
     *
     * @param headBytes heap bytes that the decoded head retains; 0 if it is not decoded
     */
    protected RamEntry(byte[] keyBytes, long hashLow, ByteBuf body, int headBytes) {
        this.keyBytes = keyBytes;
        this.hashLow = hashLow;
        this.body = body;
        this.bodyBytes = (int) Math.min(Integer.MAX_VALUE, allocatedBytes(body));
        this.state = state(NEW, (long) keyBytes.length + headBytes + OVERHEAD_BYTES);
    }

    private static int state(int phase, long heapBytes) {
        return phase << HEAP_BITS | (int) Math.min(HEAP_BYTES_MAX, heapBytes);
    }

    /** Returns the allocated bytes of a buffer, which exceed its capacity. */
    private static long allocatedBytes(ByteBuf buffer) {
        if (buffer instanceof CountedBuffer counted) {
            return counted.bytes();
        }
        return Math.max(buffer.capacity(), (long) buffer.writerIndex() + Math.max(0, buffer.maxFastWritableBytes()));
    }

    /** Returns the whole body; borrowed. */
    protected final ByteBuf body() {
        return body;
    }

    /** Returns the bytes that the entry uses: allocated buffer, key, head and overhead. */
    public final int weight() {
        return (int) Math.min(Integer.MAX_VALUE, (long) bodyBytes + heapBytes());
    }

    /** Returns the heap part of the weight: key, head and overhead. */
    final int heapBytes() {
        return state & HEAP_BYTES_MAX;
    }

    /** Returns the body part of the weight. */
    final int bodyBytes() {
        return bodyBytes;
    }

    /** Returns the lower half of the key's hash. */
    public final long hashLow() {
        return hashLow;
    }

    final boolean hasKey(long low, byte[] bytes) {
        return hashLow == low && Arrays.equals(keyBytes, bytes);
    }

    /** Returns the key's bytes; borrowed, never to be changed. */
    protected final byte[] keyBytes() {
        return keyBytes;
    }

    /** Adds a reference unless the last one was released. */
    public final boolean tryRetain() {
        int count = references;
        while (count > 0) {
            if (REFERENCES.compareAndSet(this, count, count + 1)) {
                return true;
            }
            count = references;
        }
        return false;
    }

    /** Adds a reference; only a holder of a reference may call it. */
    protected final void retainEntry() {
        if (!tryRetain()) {
            throw new IllegalReferenceCountException("an entry was retained after its last release");
        }
    }

    /** Releases a reference; returns true if it was the last. */
    public final boolean releaseEntry() {
        int left = REFERENCES.decrementAndGet(this);
        if (left < 0) {
            throw new IllegalReferenceCountException(left, -1);
        }
        if (left == 0) {
            body.release();
            return true;
        }
        return false;
    }

    /** Links the entry. Returns its heap bytes at that time, {@link #NOT} if it was linked before. */
    final int link() {
        int heapBytes = pass(NEW, LINKED);
        if (heapBytes != NOT && body instanceof CountedBuffer counted) {
            counted.addResidency();
        }
        return heapBytes;
    }

    /** Unlinks the entry. Returns its heap bytes if this call unlinked it, otherwise {@link #NOT}. */
    final int unlink() {
        int heapBytes = pass(LINKED, UNLINKED);
        if (heapBytes != NOT && body instanceof CountedBuffer counted) {
            counted.removeResidency();
        }
        return heapBytes;
    }

    private int pass(int from, int to) {
        int now = state;
        while (now >>> HEAP_BITS == from) {
            int heapBytes = now & HEAP_BYTES_MAX;
            if (STATE.compareAndSet(this, now, state(to, heapBytes))) {
                return heapBytes;
            }
            now = state;
        }
        return NOT;
    }

    /** Adds heap bytes. Returns the number of bytes that the tier must count: 0 if the entry is not linked. */
    final int grow(int bytes) {
        while (true) {
            int now = state;
            int phase = now >>> HEAP_BITS;
            int before = now & HEAP_BYTES_MAX;
            int after = (int) Math.min(HEAP_BYTES_MAX, (long) before + bytes);
            if (STATE.compareAndSet(this, now, state(phase, after))) {
                return phase == LINKED ? after - before : 0;
            }
        }
    }

    final boolean isLinked() {
        return state >>> HEAP_BITS == LINKED;
    }

    @Override
    public final boolean equals(Object other) {
        return this == other;
    }

    @Override
    public final int hashCode() {
        return Long.hashCode(hashLow);
    }
}
