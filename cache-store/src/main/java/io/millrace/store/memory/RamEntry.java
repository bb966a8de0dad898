package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * An object resident in RAM: its key, a body in one off-heap buffer, and a count of who holds it. Subclasses add what
 * the object is.
 *
 * <p>The body is released when the last holder lets go; the RAM tier is one of them for as long as the entry is in its
 * table. Equality is identity, the hash code is that of the key: so the admission policy remembers a key across the
 * entries that carried it.
 *
 * <p>Thread-safe.
 */
public abstract class RamEntry {
    /** Heap of an entry besides key and head: its object, its buffer's, its place in the table, and that in the policy. */
    private static final int OVERHEAD_BYTES = 256;

    private static final AtomicIntegerFieldUpdater<RamEntry> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "references");
    private static final AtomicIntegerFieldUpdater<RamEntry> STATE =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "state");

    /** Answer of {@link #link} and {@link #unlink} to who was not the one. */
    static final int NOT = -1;

    /** Of the state, bytes of heap. */
    private static final int HEAP_BITS = 30;

    private static final int HEAP_BYTES_MAX = (1 << HEAP_BITS) - 1;

    private static final int NEW = 0;
    private static final int LINKED = 1;
    private static final int UNLINKED = 2;

    private final byte[] keyBytes;
    private final long hashLow;
    private final ByteBuf body;
    /** What was set aside for the body. */
    private final int bodyBytes;

    /** Hits that the policy heard of, halved each time that somebody asks who is hottest. Raced for: a rough figure. */
    int hits;

    private volatile int references = 1;
    /** Whether it is linked, and below that what it has of the heap: so one sees what the other was when it changed. */
    private volatile int state;
    /** Next entry of the table's chain; written under the chain's lock, kept when this one leaves it. */
    volatile @Nullable RamEntry next;

    /**
     * Takes ownership of the body; the caller holds the first reference.
     *
     * @param headBytes heap that the head retains, as far as it is there
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

    /** What was set aside for a buffer, which is more than the capacity. */
    private static long allocatedBytes(ByteBuf buffer) {
        if (buffer instanceof CountedBuffer counted) {
            return counted.bytes();
        }
        return Math.max(buffer.capacity(), (long) buffer.writerIndex() + Math.max(0, buffer.maxFastWritableBytes()));
    }

    /** The whole body; borrowed. */
    protected final ByteBuf body() {
        return body;
    }

    /** Bytes that it takes: allocated buffer, key, head and overhead. */
    public final int weight() {
        return (int) Math.min(Integer.MAX_VALUE, (long) bodyBytes + heapBytes());
    }

    /** Of the weight, key, head and overhead. */
    final int heapBytes() {
        return state & HEAP_BYTES_MAX;
    }

    /** Of the weight, the body. */
    final int bodyBytes() {
        return bodyBytes;
    }

    /** The lower half of the key's hash. */
    public final long hashLow() {
        return hashLow;
    }

    final boolean hasKey(long low, byte[] bytes) {
        return hashLow == low && Arrays.equals(keyBytes, bytes);
    }

    /** The key's bytes; borrowed, never to be changed. */
    protected final byte[] keyBytes() {
        return keyBytes;
    }

    /** Adds a reference unless the last one is gone already. */
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

    /** Adds a reference; only for who holds one. */
    protected final void retainEntry() {
        if (!tryRetain()) {
            throw new IllegalReferenceCountException("retain of an entry that was released");
        }
    }

    /** Gives up a reference; true when it was the last. */
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

    /** Becomes linked; what it has of the heap then, {@link #NOT} when it ever was. */
    final int link() {
        int heapBytes = pass(NEW, LINKED);
        if (heapBytes != NOT && body instanceof CountedBuffer counted) {
            counted.addResidency();
        }
        return heapBytes;
    }

    /** Stops being linked; what it had of the heap then for the one caller that made it so, {@link #NOT} else. */
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

    /** It has so much more of the heap from now on; how much of that is to be counted: nothing when it is not linked. */
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
