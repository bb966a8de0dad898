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
    /** Heap of an entry besides key and head: its object, its place in the table, and that in the policy. */
    private static final int OVERHEAD_BYTES = 320;

    private static final AtomicIntegerFieldUpdater<RamEntry> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "references");
    private static final AtomicIntegerFieldUpdater<RamEntry> LINKS =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "links");

    private static final int NEW = 0;
    private static final int LINKED = 1;
    private static final int UNLINKED = 2;

    private final byte[] keyBytes;
    private final long hashLow;
    private final ByteBuf body;
    /** The body when the budget counts it; null otherwise. */
    private final @Nullable CountedBuffer counted;

    private final int weight;
    /** Of the weight, what is heap. */
    private final int heapBytes;

    /** Hits that the policy heard of, halved each time that somebody asks who is hottest. Raced for: a rough figure. */
    int hits;

    private volatile int references = 1;
    private volatile int links = NEW;
    /** Next entry of the table's chain; written under the chain's lock, kept when this one leaves it. */
    volatile @Nullable RamEntry next;

    /**
     * Takes ownership of the body; the caller holds the first reference.
     *
     * @param headBytes heap that the head retains
     */
    protected RamEntry(byte[] keyBytes, long hashLow, ByteBuf body, int headBytes) {
        this.keyBytes = keyBytes;
        this.hashLow = hashLow;
        this.body = body;
        this.counted = body instanceof CountedBuffer buffer ? buffer : null;
        this.heapBytes = keyBytes.length + headBytes + OVERHEAD_BYTES;
        // What the allocator set aside, which its size classes make more than the capacity.
        long allocated = (long) body.writerIndex() + Math.max(0, body.maxFastWritableBytes());
        this.weight = (int) Math.min(Integer.MAX_VALUE, Math.max(allocated, body.capacity()) + heapBytes);
    }

    /** The whole body; borrowed. */
    protected final ByteBuf body() {
        return body;
    }

    /** Bytes that it takes: allocated buffer, key, head and overhead. */
    public final int weight() {
        return weight;
    }

    /** Of the weight, key, head and overhead. */
    final int heapBytes() {
        return heapBytes;
    }

    /** Of the weight, the body. */
    final int bodyBytes() {
        return weight - heapBytes;
    }

    final long hashLow() {
        return hashLow;
    }

    final boolean hasKey(long low, byte[] bytes) {
        return hashLow == low && Arrays.equals(keyBytes, bytes);
    }

    final byte[] keyBytes() {
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

    /** Becomes linked; false when it ever was. */
    final boolean link() {
        boolean linked = LINKS.compareAndSet(this, NEW, LINKED);
        if (linked && counted != null) {
            counted.moveIn();
        }
        return linked;
    }

    /** Stops being linked; true for the one caller that made it so. */
    final boolean unlink() {
        boolean unlinked = LINKS.compareAndSet(this, LINKED, UNLINKED);
        if (unlinked && counted != null) {
            counted.moveOut();
        }
        return unlinked;
    }

    final boolean isLinked() {
        return links == LINKED;
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
