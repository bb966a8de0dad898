package io.millrace.store.inventory;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The inventory entries of a volume that are not in an {@link ObjectList} yet. The volume's thread adds them, and the
 * inventory's thread takes them, both without a lock.
 *
 * <pre>
 *   chunk of segment 7 -> chunk of segment 7 -> chunk of segment 8
 *   |taken|published|     |published        |   |published | free |
 *         ^ next take                                      ^ next add
 * </pre>
 *
 * <p>Thread-safe: one thread calls {@link #add}, another one {@link #nextRun}; all other methods may be called from any
 * thread.
 */
public final class RecentEntries {
    /** Bytes of a chunk; longer if a single entry needs more. */
    static final int CHUNK_BYTES = 64 * 1024;
    /** Limit of chunks that were not taken yet: 8 MiB of heap. */
    public static final int CHUNKS_MAX = 128;
    /** Number of chunks after which the taking thread should be woken. */
    static final int CHUNKS_DUE = 16;

    private static final int COUNT_SHIFT = 32;
    private static final long ONE_ENTRY = 1L << COUNT_SHIFT;

    private final int chunkBytes;
    private final AtomicInteger chunks = new AtomicInteger(1);
    /** Confined to the adding thread. */
    private Chunk last;
    /** Confined to the taking thread. */
    private Chunk first;
    /** The entries that were taken from the first chunk, like {@link Chunk#published}. Confined to the taking thread. */
    private long taken;

    private static final class Chunk {
        final long segment;
        final long tag;
        final byte[] bytes;
        /** The entries that may be taken: their number in the upper 32 bits, their bytes in the lower. */
        volatile long published;

        volatile @Nullable Chunk next;

        Chunk(long segment, long tag, int bytes) {
            this.segment = segment;
            this.tag = tag;
            this.bytes = new byte[bytes];
        }
    }

    /**
     * Entries of one segment that were added one after another.
     *
     * @param segment sequence number of the segment
     * @param tag tag of the segment
     * @param bytes contains the encoded entries; the receiver must not change it
     * @param from index of the first entry
     * @param length bytes of the entries
     * @param count number of entries
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Run(long segment, long tag, byte[] bytes, int from, int length, int count) {}

    /** Creates an empty queue. */
    public RecentEntries() {
        this(CHUNK_BYTES);
    }

    /** Creates an empty queue with chunks of this size. */
    RecentEntries(int chunkBytes) {
        this.chunkBytes = chunkBytes;
        first = new Chunk(0, 0, 0);
        last = first;
    }

    /**
     * Adds an entry. Returns false if the limit is reached.
     *
     * @param segment sequence number of the segment with the object's record
     * @param tag tag of that segment
     * @param entry the encoded entry; copied
     */
    public boolean add(long segment, long tag, byte[] entry) {
        Chunk chunk = last;
        long published = chunk.published;
        if (chunk.segment != segment || chunk.bytes.length - (int) published < entry.length) {
            if (chunks.get() >= CHUNKS_MAX) {
                return false;
            }
            Chunk next = new Chunk(segment, tag, Math.max(chunkBytes, entry.length));
            chunks.incrementAndGet();
            chunk.next = next;
            last = next;
            chunk = next;
            published = 0;
        }
        System.arraycopy(entry, 0, chunk.bytes, (int) published, entry.length);
        chunk.published = published + ONE_ENTRY + entry.length;
        return true;
    }

    /** Returns true if enough entries wait to wake the taking thread. */
    public boolean isDue() {
        return chunks.get() > CHUNKS_DUE;
    }

    /** Removes and returns the next entries; null if there are none. */
    public @Nullable Run nextRun() {
        while (true) {
            Chunk chunk = first;
            // The successor is read first: if there is one, nothing is published in this chunk any more.
            Chunk next = chunk.next;
            long published = chunk.published;
            if (published > taken) {
                int from = (int) taken;
                int count = (int) ((published - taken) >>> COUNT_SHIFT);
                taken = published;
                return new Run(chunk.segment, chunk.tag, chunk.bytes, from, (int) published - from, count);
            }
            if (next == null) {
                return null;
            }
            first = next;
            taken = 0;
            chunks.decrementAndGet();
        }
    }
}
