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
 * A RAM cache of pieces of bodies that are too long for the RAM tier. A send from RAM is faster than a send that reads
 * from disk first.
 *
 * <p>The pieces use up to a quarter of the RAM budget; objects in RAM get less. The first read of a piece only records
 * its hash. If the piece is read again soon, it enters the cache. The policy of the RAM tier (W-TinyLFU) then decides
 * which pieces stay.
 *
 * <p>The bytes of a piece never change, because an object id identifies one representation on one volume.
 *
 * <p>Thread-safe. Lookups never block.
 */
public final class HotPieces {
    /** Bytes of a piece, and maximum bytes of one read; pieces begin at multiples of it. */
    static final int PIECE_BYTES = StoredObject.READ_LENGTH_MAX;

    /** Divisor of the RAM budget: the result is the maximum size of this cache in bytes. */
    private static final int RAM_DIVISOR = 4;
    /** Minimum number of pieces; the cache is disabled if fewer fit into its share of the budget. */
    private static final int PIECES_MIN = 16;
    /** Number of hashes to record for each piece that fits into the cache. */
    private static final int HASHES_PER_PIECE = 4;

    /** Maximum number of recorded hashes. */
    private static final int SEEN_MAX = 1 << 16;
    /** Slots per hash bucket; the oldest hash is replaced. */
    private static final int SEEN_WAYS = 8;

    private static final int KEY_BYTES = 3 * Long.BYTES + Integer.BYTES;

    private final RamTier<ResidentPiece> tier;
    /**
     * Hashes of recently read pieces. Concurrent writes without a lock may lose a hash; the piece then needs one more
     * read before it enters the cache.
     */
    private final AtomicLongArray seen;

    /**
     * Creates a cache for at most a quarter of {@code ramBytes}. {@code budget} counts its memory, and {@code
     * housekeeping} runs its evictions.
     */
    public HotPieces(long ramBytes, MemoryBudget budget, Executor housekeeping) {
        long share = ramBytes / RAM_DIVISOR;
        long fits = share / PIECE_BYTES;
        tier = RamTier.withSharedBudget(fits < PIECES_MIN ? 0 : share, PIECE_BYTES, budget, housekeeping);
        long remembered = Math.max(SEEN_WAYS, Math.min(SEEN_MAX, fits * HASHES_PER_PIECE));
        seen = new AtomicLongArray(Integer.highestOneBit((int) remembered));
    }

    /**
     * Returns at most {@code count} cached bytes of a body from {@code position} on; null if there are none. The caller
     * releases them.
     */
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

    /**
     * Called when a whole piece was read from disk. Borrows the content, and retains it if it is not the first read of
     * the piece.
     */
    void onPieceRead(UUID volume, long objectId, long position, ByteBuf content) {
        if (!tier.isEnabled()) {
            return;
        }
        int number = (int) (position / PIECE_BYTES);
        long hash = DiskKey.blockHashLow(objectId, number);
        if (!recordRead(hash)) {
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

    /** Records a read of the piece. Returns true if the piece was also read recently. */
    private boolean recordRead(long hash) {
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

    /** Restores the cache's maximum size after the budget reduced it. Called periodically. */
    public void restoreLimit() {
        tier.restoreLimit();
    }

    /** Applies the hits of this thread and pending evictions now. */
    public void drainHits() {
        tier.drainHits();
    }

    /** Drops all pieces. */
    public void clear() {
        tier.clear();
    }

    /** Returns the bytes in use. */
    public long bytes() {
        return tier.bytes();
    }
}
