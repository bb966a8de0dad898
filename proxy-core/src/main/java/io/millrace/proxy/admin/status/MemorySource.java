package io.millrace.proxy.admin.status;

import java.util.List;

/** Says where the process's memory is. Thread-safe; may read files. */
@FunctionalInterface
public interface MemorySource {
    /** The parts now, or as of two seconds ago. */
    MemoryReport memory();

    /** Bytes of one part, by its name in {@code millrace_memory_bytes} or {@code millrace_memory_mapped_bytes}. */
    record Part(String name, long bytes) {}

    /**
     * Bytes in flight, and the outcome of clients and fetches that did not fit into memory.
     *
     * @param bytes buffers of connections in use
     * @param bytesMax the most that there may be
     * @param slowClientsClosed connections closed since the start, since their clients took responses too slowly
     * @param refusedFetches requests answered 503 since the start, since the budget was used up
     */
    record InFlight(long bytes, long bytesMax, long slowClientsClosed, long refusedFetches) {
        /** Nothing is known of it. */
        public static final InFlight NONE = new InFlight(0, 0, 0, 0);
    }

    /**
     * Memory of one moment. Immutable.
     *
     * @param anonymousBytes anonymous resident memory as the kernel counts it (RssAnon)
     * @param accountedBytes what the parts have of it, without {@code unaccounted}
     * @param storeBytes what the store has of its budget
     * @param storeBytesMax the budget
     * @param parts of the anonymous memory, each measured or counted by itself
     * @param mapped pages of files, which the kernel can take back
     * @param refusedFills responses passed on unstored since the start, since the budget was used up
     * @param refusedReads reads from disk that had to wait or failed for that
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
