package io.millrace.proxy.exchange.esi;

/**
 * The reserved memory of one ESI document and its fragments, from the first byte of the document until the page is
 * sent.
 *
 * <p>Confined to one event loop.
 */
final class HeldMemory {
    private final PageAssembler assembler;
    private long bytes;
    private boolean isClosed;

    HeldMemory(PageAssembler assembler) {
        this.assembler = assembler;
    }

    /** Reserves bytes. Returns false if {@code limits.memory_esi} is reached, or if this object is closed. */
    boolean reserve(long count) {
        if (isClosed || !assembler.memory().reserve(count, assembler.memoryBytesMax())) {
            return false;
        }
        bytes += count;
        return true;
    }

    /** Releases a part of the reserved bytes. */
    void release(long count) {
        if (!isClosed) {
            bytes -= count;
            assembler.memory().release(count);
        }
    }

    /** Releases all bytes. Nothing can be reserved afterwards. */
    void close() {
        if (!isClosed) {
            isClosed = true;
            assembler.memory().release(bytes);
        }
    }

    /** Returns a text with the memory in use and its limit, for error messages. */
    String text() {
        return "all pages in assembly together hold " + assembler.memory().usedBytes() + " bytes of at most "
                + assembler.memoryBytesMax() + " (limits.memory_esi)";
    }
}
