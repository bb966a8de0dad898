package io.millrace.store;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a store holds and has done, at one moment. Counters count since the store was opened.
 *
 * <p>Immutable.
 *
 * @param ram the RAM tier
 * @param memory who has the store's memory
 * @param volumes one per configured volume, in the order of the configuration
 * @param counters what happened
 */
public record StoreStatistics(Ram ram, Memory memory, List<Volume> volumes, Counters counters) {
    /**
     * The RAM tier.
     *
     * @param bytes allocated buffers (their size class, not their content) and heap of entries
     * @param bytesMax the budget
     * @param entries number of objects
     * @param evictions objects that made room for others or were not admitted
     * @param pieceBytes pieces of longer objects, at most a quarter of the budget and not in {@code bytes}
     */
    public record Ram(long bytes, long bytesMax, long entries, long evictions, long pieceBytes) {}

    /**
     * What was written to a volume. Write amplification is {@code bytesWritten / (bytesWritten - bytesCarried)}.
     *
     * @param bytesWritten bytes of records appended
     * @param bytesCarried bytes among them that were kept from segments given up, and not appended for any caller
     * @param segmentsReclaimed segments given up
     * @param objectsRefused new objects that were not taken
     * @param bytesPinned bytes of pinned records, those replaced or removed since included until their segment is given up
     * @param pinsBroken pinned records that were given up because more was pinned than may be carried
     */
    public record Ring(
            long bytesWritten,
            long bytesCarried,
            long segmentsReclaimed,
            long objectsRefused,
            long bytesPinned,
            long pinsBroken) {
        /** Nothing written. */
        public static final Ring NONE = new Ring(0, 0, 0, 0, 0, 0);
    }

    /**
     * Who has the store's memory. All but the entries is direct memory.
     *
     * @param bytesMax the budget of all parts together, which {@code idleBytes} is not one of
     * @param residentBytes bodies in the RAM tier
     * @param entryBytes heap of the RAM tier's entries: keys, heads, links
     * @param entryBytesMax the most of it that they may have: with that the RAM tier is full, however few its bodies are
     * @param fillingBytes bodies being received or waiting for the disk
     * @param readingBytes what was read from disk and is being sent
     * @param writingBytes heads on their way to the disk
     * @param idleBytes what the pool holds beyond the buffers cut from it
     * @param refusedFills bodies not stored for want of memory
     * @param refusedReads reads and opens that found no memory; a read that waited for some counts too
     */
    public record Memory(
            long bytesMax,
            long residentBytes,
            long entryBytes,
            long entryBytesMax,
            long fillingBytes,
            long readingBytes,
            long writingBytes,
            long idleBytes,
            long refusedFills,
            long refusedReads) {}

    /**
     * One volume.
     *
     * @param path its directory
     * @param name whose objects it takes
     * @param placement its part, 0 to 1, of the new objects of that name: by size among those that work
     * @param state whether it works
     * @param bytes bytes of its segments that hold records
     * @param bytesMax bytes of its segments
     * @param entries number of objects, those being rebuilt not counted
     * @param pinnedSegments segments that readers hold
     * @param queuedBytes bytes waiting to be written
     * @param indexEvictions entries that went because the index was full and could not grow
     * @param errors I/O errors so far
     * @param lastError message of the last of them
     * @param ring what was written to it
     */
    public record Volume(
            Path path,
            String name,
            double placement,
            State state,
            long bytes,
            long bytesMax,
            long entries,
            int pinnedSegments,
            long queuedBytes,
            long indexEvictions,
            long errors,
            @Nullable String lastError,
            Ring ring) {}

    /** Whether a volume works. */
    public enum State {
        /** Its index is being rebuilt from the segments; lookups wait. */
        OPENING,
        /** It reads and writes. */
        ONLINE,
        /** Handed over: another store may own it. */
        SUSPENDED,
        /** Given up after I/O errors; the store goes on without it. */
        OFFLINE
    }

    /**
     * What happened.
     *
     * @param ramHits {@code get}s that found an object
     * @param ramMisses {@code get}s that did not
     * @param diskHits {@code open}s answered with an object that was read from disk
     * @param diskMisses {@code open}s answered with null
     * @param opensRefused {@code open}s answered with null because a queue was full or an index not ready in time
     * @param writesCompleted writers that completed
     * @param writesFailed writers that failed
     * @param updates heads replaced
     * @param removals keys removed
     * @param recordsDamaged records that did not pass their checks when read
     * @param objectsRefilled objects loaded into RAM again after a start because they were hot before
     * @param segmentsReclaimed segments given back to the ring
     * @param bytesScrubbed bytes of records verified in the background
     * @param recordsDamagedByScrub records that did not pass their checks then
     * @param removalsRefused removals forgotten because too many were to be remembered while the volumes were handed over
     * @param claimsRefused claims of a writer refused because too many of its body's are remembered
     * @param rangesRefused readers told at once that a range is not to be expected, as too many waited for the body
     */
    public record Counters(
            long ramHits,
            long ramMisses,
            long diskHits,
            long diskMisses,
            long opensRefused,
            long writesCompleted,
            long writesFailed,
            long updates,
            long removals,
            long recordsDamaged,
            long objectsRefilled,
            long segmentsReclaimed,
            long bytesScrubbed,
            long recordsDamagedByScrub,
            long removalsRefused,
            long claimsRefused,
            long rangesRefused) {}
}
