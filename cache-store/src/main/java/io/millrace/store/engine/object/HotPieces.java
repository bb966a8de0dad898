package io.millrace.store.engine.object;

import io.millrace.store.StoredObject;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Pieces of bodies too long for the RAM tier, kept in RAM when they are read again soon after they were read: a send from
 * RAM takes half the time of one that reads first.
 *
 * <p>They have up to a quarter of the budget, which objects in RAM give up for them. What decides is what decides of
 * objects (W-TinyLFU), after a first look: a piece read once is remembered by its hash alone.
 *
 * <p>A piece's bytes never change: an object id stands for one representation on one volume.
 *
 * <p>Thread-safe. Lookups never block.
 */
public final class HotPieces {
    /** As much as one read gives: pieces begin at multiples of it. */
    static final int PIECE_BYTES = StoredObject.READ_LENGTH_MAX;

    private static final int RAM_SHARE = 4;
    /** A tier for fewer is none. */
    private static final int PIECES_MIN = 16;
    /** So many pieces read once are remembered for each that fits. */
    private static final int SEEN_SHARE = 4;

    private static final int SEEN_MAX = 1 << 16;
    /** Of as many that hash to the same place the one seen first is forgotten. */
    private static final int SEEN_WAYS = 8;

    private static final int KEY_BYTES = 3 * Long.BYTES + Integer.BYTES;

    private final RamTier<ResidentPiece> tier;
    /** Hashes of pieces read lately; raced for: a lost one is read once more. */
    private final AtomicLongArray seen;

    /** A tier that takes a share of {@code ramBytes} bytes within the budget; {@code housekeeping} runs its evictions. */
    public HotPieces(long ramBytes, MemoryBudget budget, Executor housekeeping) {
        long share = ramBytes / RAM_SHARE;
        long fits = share / PIECE_BYTES;
        tier = RamTier.besideOthers(fits < PIECES_MIN ? 0 : share, PIECE_BYTES, budget, housekeeping);
        long remembered = Math.max(SEEN_WAYS, Math.min(SEEN_MAX, fits * SEEN_SHARE));
        seen = new AtomicLongArray(Integer.highestOneBit((int) remembered));
    }

    /** Returns cached bytes of a body from {@code position} on, at most {@code count}, retained for the caller; null for none. */
    @Nullable
    ByteBuf find(UUID volume, long objectId, long position, int count) {
        if (!tier.isEnabled()) {
            return null;
        }
        int number = (int) (position / PIECE_BYTES);
        ResidentPiece piece = tier.get(DiskKey.blockHashLow(objectId, number), key(volume, objectId, number));
        if (piece == null) {
            return null;
        }
        try {
            return piece.slice((int) (position % PIECE_BYTES), count);
        } finally {
            piece.releaseEntry();
        }
    }

    /** A whole piece was read from disk; borrows the content, and retains it if that was not the first time. */
    void read(UUID volume, long objectId, long position, ByteBuf content) {
        if (!tier.isEnabled()) {
            return;
        }
        int number = (int) (position / PIECE_BYTES);
        long hash = DiskKey.blockHashLow(objectId, number);
        if (!wasSeen(hash)) {
            return;
        }
        byte[] key = key(volume, objectId, number);
        if (tier.peek(hash, key) != null) {
            return;
        }
        ResidentPiece piece = new ResidentPiece(key, hash, content.retain());
        tier.put(piece);
        piece.releaseEntry();
    }

    /** Whether the piece was read lately; from now on it was. */
    private boolean wasSeen(long hash) {
        int first = (int) hash & (seen.length() - SEEN_WAYS);
        for (int i = first; i < first + SEEN_WAYS; i++) {
            if (seen.get(i) == hash) {
                return true;
            }
        }
        for (int i = first + SEEN_WAYS - 1; i > first; i--) {
            seen.set(i, seen.get(i - 1));
        }
        seen.set(first, hash);
        return false;
    }

    private static byte[] key(UUID volume, long objectId, int number) {
        byte[] key = new byte[KEY_BYTES];
        ByteBuffer.wrap(key)
                .putLong(volume.getMostSignificantBits())
                .putLong(volume.getLeastSignificantBits())
                .putLong(objectId)
                .putInt(number);
        return key;
    }

    /** They may have their whole share again, after they gave way; to be called now and then. */
    public void grow() {
        tier.grow();
    }

    /** Applies the hits of this thread and pending evictions now. */
    public void settle() {
        tier.settle();
    }

    /** Drops all pieces. */
    public void clear() {
        tier.clear();
    }

    /** Bytes in use. */
    public long bytes() {
        return tier.bytes();
    }
}
