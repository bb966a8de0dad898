package io.millrace.proxy.memory;

/** Levels of memory use by bytes in flight, in ascending order. */
public enum MemoryLevel {
    /** Less than half of the budget is in use. */
    PLENTY,
    /** Half of the budget is in use: receive buffers are small. */
    SCARCE,
    /** Three quarters are in use: clients that receive nothing are closed. */
    TIGHT,
    /** Fifteen sixteenths are in use: any slow client may be closed. If that does not help, new fetches are refused. */
    FULL;

    /** Denominator of the thresholds, which are fractions of the budget. */
    private static final long PARTS = 16;

    private static final long SCARCE_PARTS = 8;
    private static final long TIGHT_PARTS = 12;
    private static final long FULL_PARTS = 15;

    /** Returns the level for this number of used bytes. */
    static MemoryLevel of(long usedBytes, long budgetBytes) {
        if (usedBytes < threshold(budgetBytes, SCARCE_PARTS)) {
            return PLENTY;
        }
        if (usedBytes < threshold(budgetBytes, TIGHT_PARTS)) {
            return SCARCE;
        }
        return usedBytes < threshold(budgetBytes, FULL_PARTS) ? TIGHT : FULL;
    }

    /** Number of used bytes at which closing slow clients stops: between {@link #SCARCE} and {@link #TIGHT}. */
    static long lowWaterBytes(long budgetBytes) {
        return threshold(budgetBytes, TIGHT_PARTS - 1);
    }

    boolean isAtLeast(MemoryLevel other) {
        return compareTo(other) >= 0;
    }

    private static long threshold(long budgetBytes, long parts) {
        return budgetBytes / PARTS * parts;
    }
}
