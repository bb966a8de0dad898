package io.millrace.store;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a store's sizes and counters. Counters start at 0 when the store is opened.
 *
 * <p>Immutable.
 *
 * @param ram the RAM tier
 * @param memory usage of the store's memory
 * @param volumes one per configured volume, in the order of the configuration
 * @param counters event counts
 */
public record StoreStatistics(Ram ram, Memory memory, List<Volume> volumes, Counters counters) {
    /**
     * Statistics of the RAM tier.
     *
     * @param bytes bytes of allocated buffers (rounded up to size classes) and heap bytes of entries
     * @param bytesMax the budget
     * @param entries number of objects
     * @param evictions number of objects that were evicted or not admitted
     * @param pieceBytes bytes of single pieces of long bodies that are kept in RAM, because a whole such body is too
     *     long for the RAM tier; at most a quarter of the budget, not included in {@code bytes}
     */
    public record Ram(long bytes, long bytesMax, long entries, long evictions, long pieceBytes) {}

    /**
     * Write statistics of a volume, whose segments form a ring. Write amplification is
     * {@code bytesWritten / (bytesWritten - bytesCarried)}.
     *
     * @param bytesWritten bytes of appended records
     * @param bytesCarried part of {@code bytesWritten}: bytes copied from reclaimed segments, because their objects
     *     were kept
     * @param segmentsReclaimed number of reclaimed segments
     * @param objectsRefused number of new objects that were not admitted
     * @param bytesPinned bytes of the records of pinned objects ({@link HeadCodec#pinnedUntilSeconds}), including
     *     replaced and removed ones until their segment is reclaimed
     * @param pinsBroken number of pinned records dropped at reclaim, because they exceeded the limit of bytes that
     *     reclaim may copy
     */
    public record Ring(
            long bytesWritten,
            long bytesCarried,
            long segmentsReclaimed,
            long objectsRefused,
            long bytesPinned,
            long pinsBroken) {
        /** Statistics without any write. */
        public static final Ring NONE = new Ring(0, 0, 0, 0, 0, 0);
    }

    /**
     * Usage of the store's memory. All of it is direct memory, except the entries.
     *
     * @param bytesMax limit of all parts together; {@code idleBytes} is not one of these parts
     * @param residentBytes bodies in the RAM tier
     * @param entryBytes heap of the RAM tier's entries: keys, heads, links
     * @param entryBytesMax limit of {@code entryBytes}; at this limit the RAM tier is full even if its bodies are few
     * @param fillingBytes bodies being received or waiting for the disk
     * @param readingBytes content read from disk and being sent
     * @param writingBytes heads being written to disk
     * @param idleBytes memory of the pool that is not used by buffers
     * @param refusedFills number of bodies not stored for lack of memory
     * @param refusedReads number of reads and opens that found no memory, including reads that waited for memory
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
     * Statistics of one volume.
     *
     * @param path its directory
     * @param name name, shared by the volumes of all storage paths that store the same responses
     * @param placement fraction (0 to 1) of the new objects of this name that this volume receives. It is the size of
     *     this volume divided by the size of all working volumes of the name
     * @param state operating state
     * @param bytes bytes of the segments that contain records
     * @param bytesMax bytes of all its segments
     * @param entries number of objects; objects that a rebuild of the index has not found yet are missing
     * @param pinnedSegments number of segments that readers hold; not related to pinned objects
     * @param queuedBytes bytes waiting to be written
     * @param indexEvictions number of entries evicted because the index was full and could not grow
     * @param errors number of I/O errors
     * @param lastError message of the last I/O error; for a volume that a command took offline, the reason given in the
     *     command
     * @param ring write statistics
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
            Ring ring) {
        /**
         * Returns why an offline volume is out of use, and what that means for requests. The text does not begin with
         * the path of the volume, because the events and alarms that use the text name the path separately.
         */
        public String outOfUse() {
            String reason = lastError == null ? "taken offline by an operator" : lastError;
            String prefix = path + ": ";
            return "out of use: " + (reason.startsWith(prefix) ? reason.substring(prefix.length()) : reason)
                    + "; its responses are not available, all others are served";
        }
    }

    /** The operating state of a volume. */
    public enum State {
        /** The index is being rebuilt from the segments; lookups wait. */
        OPENING,
        /** The volume reads and writes. */
        ONLINE,
        /** The volume was released; another store may own it. */
        SUSPENDED,
        /** The volume is out of use, after I/O errors or {@link CacheStore#offline}; the store continues without it. */
        OFFLINE
    }

    /**
     * Event counts of a store.
     *
     * @param ramHits number of {@code get} calls that found an object
     * @param ramMisses number of {@code get} calls that found no object
     * @param diskHits number of {@code open} calls answered with an object read from disk
     * @param diskMisses number of {@code open} calls answered with null
     * @param opensRefused number of {@code open} calls answered with null because a queue was full or an index not
     *     ready in time
     * @param writesCompleted writers that completed
     * @param writesFailed writers that failed
     * @param updates replaced heads
     * @param removals removed keys
     * @param recordsDamaged records that failed their checks when read
     * @param objectsRefilled objects loaded into RAM after a start because they were hot before it
     * @param segmentsReclaimed reclaimed segments
     * @param bytesScrubbed bytes of records verified in the background
     * @param recordsDamagedByScrub records that failed their checks during this verification
     * @param removalsRefused removals that were discarded because too many were waiting while another process owned the
     *     volumes
     * @param claimsRefused {@link ObjectWriter#claim} calls (promises to fill blocks) refused at the limit of claims
     *     per body
     * @param rangesRefused {@link StoredObject#onRange} calls refused at the limit of waiting readers per body
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

    /**
     * Progress of the simulation of other RAM tier sizes. The simulation begins with empty caches, so that its first
     * figures are wrong.
     */
    public enum CurveStage {
        /** Too few requests were simulated. */
        REQUESTS,
        /** The simulated cache of the present size is not full yet. */
        FILL,
        /**
         * The gains of larger sizes (their hit ratio minus that of the present size) still change by a percentage point
         * or more.
         */
        CHANGE,
        /** The figures are usable. */
        READY
    }

    /**
     * The estimated hit ratios of other sizes of the RAM tier, from a simulation.
     *
     * @param stage READY if the ratios are usable; any other stage names the missing condition
     * @param sinceMillis time at which the simulation began, in milliseconds since 1970
     * @param requestsTotal requests since the simulation began, exact
     * @param ramHits share of the recent requests that were hits in the RAM tier itself, from 0 to 1; measured
     * @param evictsByRecency true if the RAM tier evicts by LRU; false if it evicts by W-TinyLFU
     * @param ramBytes present size of the RAM tier, in bytes
     * @param sampleRate share of the keys that is simulated, above 0 and at most 1
     * @param sampledKeys number of keys in the simulation
     * @param requests estimated number of recent requests that the ratios describe; old requests count less
     * @param lost number of sampled requests since the simulation began that were not simulated, because their queue
     *     was full
     * @param points one for each simulated size, in ascending order
     * @param groups the groups of keys with the most requests, in descending order
     */
    public record HitRatioCurve(
            CurveStage stage,
            long sinceMillis,
            long requestsTotal,
            double ramHits,
            boolean evictsByRecency,
            long ramBytes,
            double sampleRate,
            int sampledKeys,
            long requests,
            long lost,
            List<CurvePoint> points,
            List<CurveGroup> groups) {}

    /**
     * Hit ratios of one simulated size, from 0 to 1.
     *
     * @param scale multiple of the present size
     * @param ramBytes the simulated size in bytes
     * @param hits share of the requests that are hits with W-TinyLFU
     * @param hitBytes share of the requested bytes that are hits with W-TinyLFU
     * @param lruHits share of the requests that are hits with LRU
     * @param lruHitBytes share of the requested bytes that are hits with LRU
     * @param s3FifoHits share of the requests that are hits with S3-FIFO
     * @param s3FifoHitBytes share of the requested bytes that are hits with S3-FIFO
     */
    public record CurvePoint(
            double scale,
            long ramBytes,
            double hits,
            double hitBytes,
            double lruHits,
            double lruHitBytes,
            double s3FifoHits,
            double s3FifoHitBytes) {}

    /**
     * Hit ratios of one group of keys, such as a host. The simulated cache is shared by all groups.
     *
     * @param requests estimated number of recent requests
     * @param hits share of these requests that are hits, for each simulated size
     */
    public record CurveGroup(String name, long requests, List<Double> hits) {}
}
