package io.millrace.proxy.memory;

/** How scarce the memory for bytes in flight is. In ascending order. */
public enum MemoryLevel {
    /** Less than half of the budget is in use. */
    PLENTY,
    /** Half is in use: receive buffers are small. */
    SCARCE,
    /** Three quarters are in use: clients that take nothing are closed. */
    TIGHT,
    /** Fifteen sixteenths are in use: any slow client may be closed, and new fetches are refused if that does not help. */
    FULL;

    /** Parts of the budget that the thresholds are given in. */
    private static final long PARTS = 16;

    private static final long SCARCE_PARTS = 8;
    private static final long TIGHT_PARTS = 12;
    private static final long FULL_PARTS = 15;

    /** The level of a budget of which this many bytes are in use. */
    static MemoryLevel of(long usedBytes, long budgetBytes) {
        if (usedBytes < threshold(budgetBytes, SCARCE_PARTS)) {
            return PLENTY;
        }
        if (usedBytes < threshold(budgetBytes, TIGHT_PARTS)) {
            return SCARCE;
        }
        return usedBytes < threshold(budgetBytes, FULL_PARTS) ? TIGHT : FULL;
    }

    /** The bytes that closing slow clients brings the use down to: between {@link #SCARCE} and {@link #TIGHT}. */
    static long relievedBytes(long budgetBytes) {
        return threshold(budgetBytes, TIGHT_PARTS - 1);
    }

    boolean isAtLeast(MemoryLevel other) {
        return compareTo(other) >= 0;
    }

    private static long threshold(long budgetBytes, long parts) {
        return budgetBytes / PARTS * parts;
    }
}
