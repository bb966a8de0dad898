package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * An entry of the RAM tier: a key, a body in one off-heap buffer, and a reference count. Subclasses add further fields
 * of the object.
 *
 * <p>The body is released with the last reference. The RAM tier holds one reference while the entry is in its table.
 * Two entries of the same key are not equal.
 *
 * <p>Thread-safe.
 */
public abstract class RamEntry {
    /**
     * Heap bytes of an entry without key and head: the entry, its buffer object, and its slots in the table and the
     * policy.
     */
    private static final int OVERHEAD_BYTES = 256;

    private static final AtomicIntegerFieldUpdater<RamEntry> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "references");
    private static final AtomicIntegerFieldUpdater<RamEntry> STATE =
            AtomicIntegerFieldUpdater.newUpdater(RamEntry.class, "state");

    /** Result of {@link #link} and {@link #unlink} if the entry was not in the expected phase. */
    static final int NO_CHANGE = -1;

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

    /**
     * Hit count, halved and rounded up at each call of {@link RamTier#hottest}. Approximate, because threads change it
     * without synchronization.
     */
    int hits;

    private volatile int references = 1;
    /**
     * Phase in the upper bits and heap bytes in the lower bits, so that both change atomically. The phase is
     * {@link #NEW}, {@link #LINKED} or {@link #UNLINKED}.
     */
    private volatile int state;
    /**
     * Number of the entry in {@link EntrySlots}; {@link EntrySlots#NONE} until the entry is put into the tier. Not
     * cleared when the entry leaves the tier.
     */
    private int slot = EntrySlots.NONE;

    /**
     * Creates an entry, which takes ownership of the body. The caller holds the first reference.
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

    /** Returns the allocated bytes of a buffer, which are at least its capacity. */
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

    /** Returns the bytes that the entry uses: the body's allocated buffer, key, head and overhead. */
    public final int weight() {
        return (int) Math.min(Integer.MAX_VALUE, (long) bodyBytes + heapBytes());
    }

    /** Returns the bytes that the entry uses in compact form: the body's allocated buffer, and the slot. */
    final int compactWeight() {
        return (int) Math.min(Integer.MAX_VALUE, (long) bodyBytes + CompactEntries.HEAP_BYTES);
    }

    /**
     * Returns the bytes that an entry uses or used in the tier. An entry that was put and is not linked is kept in
     * compact form.
     */
    final int weightInTier() {
        return state >>> HEAP_BITS == NEW ? compactWeight() : weight();
    }

    /** Returns the heap part of the weight: key, head and overhead. */
    final int heapBytes() {
        return state & HEAP_BYTES_MAX;
    }

    /** Returns the body part of the weight. */
    final int bodyBytes() {
        return bodyBytes;
    }

    final int slot() {
        return slot;
    }

    /** Sets the number of the entry. Call once, before the entry is published. */
    final void slot(int number) {
        slot = number;
    }

    /** Returns the lower half of the key's hash. */
    public final long hashLow() {
        return hashLow;
    }

    /** Counts a hit. Called before the entry is put into the tier, for an object that was read for a request. */
    public final void markRequestedAgain() {
        hits++;
    }

    final boolean hasKey(long low, byte[] bytes) {
        return hashLow == low && Arrays.equals(keyBytes, bytes);
    }

    /** Returns the key's bytes; borrowed, never to be changed. */
    protected final byte[] keyBytes() {
        return keyBytes;
    }

    /**
     * Returns the number of bytes behind the body that belong to the entry. Returns -1 if the entry cannot be created
     * again from its buffer, its key and {@link #writeDetails}, so that the tier must keep this object.
     */
    protected int bytesAfterBody() {
        return -1;
    }

    /** Writes at most 16 bytes, from which an {@link EntryFactory} can create the entry again. */
    protected void writeDetails(ByteBuf out) {
        throw new IllegalStateException("the entry has no details");
    }

    /** Returns the upper half of the key's hash; 0 if the entry does not know it. */
    protected long hashHigh() {
        return 0;
    }

    /** Adds a reference. Returns false if the last reference was already released. */
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
        int remaining = REFERENCES.decrementAndGet(this);
        if (remaining < 0) {
            throw new IllegalReferenceCountException(remaining, -1);
        }
        if (remaining == 0) {
            body.release();
            return true;
        }
        return false;
    }

    /**
     * Changes the phase from new to linked (in the table). Returns the heap bytes at that time, or {@link #NO_CHANGE}
     * if the entry was linked before.
     */
    final int link() {
        int heapBytes = linkToOwnedBody();
        if (heapBytes != NO_CHANGE && body instanceof CountedBuffer counted) {
            counted.addResidency();
        }
        return heapBytes;
    }

    /** Like {@link #link}, for an entry whose body the tier owns already, in compact form. */
    final int linkToOwnedBody() {
        return changePhase(NEW, LINKED);
    }

    /**
     * Changes the phase from linked to unlinked. Returns the heap bytes at that time, or {@link #NO_CHANGE} if the
     * entry was not linked.
     */
    final int unlink() {
        int heapBytes = changePhase(LINKED, UNLINKED);
        if (heapBytes != NO_CHANGE && body instanceof CountedBuffer counted) {
            counted.removeResidency();
        }
        return heapBytes;
    }

    private int changePhase(int from, int to) {
        int current = state;
        while (current >>> HEAP_BITS == from) {
            int heapBytes = current & HEAP_BYTES_MAX;
            if (STATE.compareAndSet(this, current, state(to, heapBytes))) {
                return heapBytes;
            }
            current = state;
        }
        return NO_CHANGE;
    }

    /**
     * Adds heap bytes to the entry. Returns the number of bytes that the tier must add to its own count; 0 if the entry
     * is not linked.
     */
    final int grow(int bytes) {
        while (true) {
            int current = state;
            int phase = current >>> HEAP_BITS;
            int before = current & HEAP_BYTES_MAX;
            int after = (int) Math.min(HEAP_BYTES_MAX, (long) before + bytes);
            if (STATE.compareAndSet(this, current, state(phase, after))) {
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
