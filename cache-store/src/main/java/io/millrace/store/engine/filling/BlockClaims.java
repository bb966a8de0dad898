package io.millrace.store.engine.filling;

import java.util.ArrayList;
import java.util.List;

/**
 * The claims of writers on blocks of one body.
 *
 * <p>Not thread-safe: the caller holds the lock of the body.
 */
final class BlockClaims {
    /** Limit of claims per body. Beyond it claims are refused until a writer ends. */
    private static final int RUNS_MAX = 1024;

    private final List<Run> runs = new ArrayList<>(2);
    private final List<Object> writers = new ArrayList<>(2);
    /** Number of writers without any claim, which are assumed to fill all missing blocks. */
    private int undeclared;

    /** Blocks {@code [from, to)}. */
    private record Run(Object writer, int from, int to) {
        boolean has(int block) {
            return from <= block && block < to;
        }
    }

    /** Adds a writer. */
    void begin(Object writer) {
        writers.add(writer);
        undeclared++;
    }

    /** Removes a writer and its claims. */
    void end(Object writer) {
        undeclared -= isDeclared(writer) ? 0 : 1;
        writers.remove(writer);
        runs.removeIf(run -> run.writer() == writer);
    }

    /** Returns true if the writer has not ended. */
    boolean isAtWork(Object writer) {
        return writers.contains(writer);
    }

    private boolean isDeclared(Object writer) {
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).writer() == writer) {
                return true;
            }
        }
        return false;
    }

    /** Returns the end of the adjoining claims from {@code block} on; {@code block} itself if it is not claimed. */
    int claimedUntil(int block) {
        int until = block;
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).has(until)) {
                until = runs.get(i).to();
                i = -1;
            }
        }
        return until;
    }

    /** Returns the first claimed block after {@code block}, or {@code limit}. */
    int nextClaimed(int block, int limit) {
        int next = limit;
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).from() > block) {
                next = Math.min(next, runs.get(i).from());
            }
        }
        return next;
    }

    /** Claims these blocks, none of which is claimed yet, for the writer; false if the limit of claims is reached. */
    boolean claim(Object writer, int from, int to) {
        if (runs.size() >= RUNS_MAX) {
            return false;
        }
        undeclared -= isDeclared(writer) ? 0 : 1;
        runs.add(new Run(writer, from, to));
        return true;
    }

    /** Returns true if an active writer may still fill the block. */
    boolean isExpected(int block) {
        return undeclared > 0 || claimedUntil(block) > block;
    }
}
