package io.millrace.proxy.admin.status;

import java.util.List;

/** Source of the process's memory use. Thread-safe; may read files. */
@FunctionalInterface
public interface MemorySource {
    /** Returns the present use, at most two seconds old. */
    MemoryReport memory();

    /**
     * Bytes of one part of the memory. Its name is a label value of the metric {@code millrace_memory_bytes} or {@code
     * millrace_memory_mapped_bytes}.
     */
    record Part(String name, long bytes) {}

    /**
     * Bytes in flight, and the clients and fetches that were stopped because the bytes reached the budget.
     *
     * @param bytes buffers of connections in use
     * @param bytesMax the budget
     * @param slowClientsClosed connections closed since the start, because their clients received responses too slowly
     * @param refusedFetches requests answered with 503 since the start, because the budget was used up
     */
    record InFlight(long bytes, long bytesMax, long slowClientsClosed, long refusedFetches) {
        /** Unknown values. */
        public static final InFlight NONE = new InFlight(0, 0, 0, 0);
    }

    /**
     * Memory use at one time. Immutable.
     *
     * @param anonymousBytes anonymous resident memory as the kernel counts it (RssAnon)
     * @param accountedBytes sum of the parts without {@code unaccounted}
     * @param storeBytes bytes that the store uses
     * @param storeBytesMax budget of the store
     * @param parts parts of the anonymous memory, each measured separately
     * @param mapped pages of files, which the kernel can reclaim
     * @param refusedFills responses not stored since the start, because the budget was used up
     * @param refusedReads disk reads that waited or failed since the start, because the budget was used up
     * @param inFlight bytes in flight
     */
    record MemoryReport(
            long anonymousBytes,
            long accountedBytes,
            long storeBytes,
            long storeBytesMax,
            List<Part> parts,
            List<Part> mapped,
            long refusedFills,
            long refusedReads,
            InFlight inFlight) {}
}
