package io.millrace.store.engine.filling;

import java.util.ArrayList;
import java.util.List;

/**
 * Which writer fills which blocks of a body.
 *
 * <p>Confined to whoever guards the body.
 */
final class BlockClaims {
    /** Runs remembered for one body; beyond it nothing can be claimed until a writer ends. */
    private static final int RUNS_MAX = 1024;

    private final List<Run> runs = new ArrayList<>(2);
    private final List<Object> writers = new ArrayList<>(2);
    /** Of the writers, those that never claimed: they are taken to fill everything. */
    private int undeclared;

    /** Blocks {@code [from, to)}. */
    private record Run(Object writer, int from, int to) {
        boolean has(int block) {
            return from <= block && block < to;
        }
    }

    /** A writer is at work. */
    void begin(Object writer) {
        writers.add(writer);
        undeclared++;
    }

    /** A writer has ended. */
    void end(Object writer) {
        undeclared -= isDeclared(writer) ? 0 : 1;
        writers.remove(writer);
        runs.removeIf(run -> run.writer() == writer);
    }

    /** Whether the writer has not ended. */
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

    /** Where the claims at {@code block} end; {@code block} itself when it is not claimed. */
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

    /** The first claimed block behind {@code block}, or {@code limit}. */
    int nextClaimed(int block, int limit) {
        int next = limit;
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).from() > block) {
                next = Math.min(next, runs.get(i).from());
            }
        }
        return next;
    }

    /** The writer fills these blocks, none of which is claimed; false when no more can be remembered. */
    boolean claim(Object writer, int from, int to) {
        if (runs.size() >= RUNS_MAX) {
            return false;
        }
        undeclared -= isDeclared(writer) ? 0 : 1;
        runs.add(new Run(writer, from, to));
        return true;
    }

    /** Whether a writer at work may still fill the block. */
    boolean isExpected(int block) {
        return undeclared > 0 || claimedUntil(block) > block;
    }
}
