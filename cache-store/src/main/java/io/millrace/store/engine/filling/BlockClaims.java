package io.millrace.store.engine.filling;

import java.util.ArrayList;
import java.util.List;

/**
 * The block ranges of one body that writers have claimed, which means promised to fill.
 *
 * <p>Not thread-safe: the caller holds the lock of the body.
 */
final class BlockClaims {
    /** Maximum number of claims per body. Further claims are refused until a writer ends. */
    private static final int CLAIMS_MAX = 1024;

    private final List<Claim> claims = new ArrayList<>(2);
    private final List<Object> writers = new ArrayList<>(2);
    /** Number of writers without any claim, which are assumed to fill all missing blocks. */
    private int writersWithoutClaim;

    /** A claim of one writer on the blocks {@code [from, to)}. */
    private record Claim(Object writer, int from, int to) {
        boolean has(int block) {
            return from <= block && block < to;
        }
    }

    /** Adds a writer. */
    void begin(Object writer) {
        writers.add(writer);
        writersWithoutClaim++;
    }

    /** Removes a writer and its claims. */
    void end(Object writer) {
        writersWithoutClaim -= hasClaim(writer) ? 0 : 1;
        writers.remove(writer);
        claims.removeIf(claim -> claim.writer() == writer);
    }

    /** Returns true if the writer has not ended. */
    boolean isActive(Object writer) {
        return writers.contains(writer);
    }

    private boolean hasClaim(Object writer) {
        for (int i = 0; i < claims.size(); i++) {
            if (claims.get(i).writer() == writer) {
                return true;
            }
        }
        return false;
    }

    /** Returns the end of the contiguous claims from {@code block}, or {@code block} if it is unclaimed. */
    int claimedUntil(int block) {
        int until = block;
        for (int i = 0; i < claims.size(); i++) {
            if (claims.get(i).has(until)) {
                until = claims.get(i).to();
                i = -1;
            }
        }
        return until;
    }

    /** Returns the first block after {@code block} at which a claim begins, but at most {@code limit}. */
    int nextClaimed(int block, int limit) {
        int next = limit;
        for (int i = 0; i < claims.size(); i++) {
            if (claims.get(i).from() > block) {
                next = Math.min(next, claims.get(i).from());
            }
        }
        return next;
    }

    /** Claims unclaimed blocks for the writer. Returns false if the limit of claims is reached. */
    boolean claim(Object writer, int from, int to) {
        if (claims.size() >= CLAIMS_MAX) {
            return false;
        }
        writersWithoutClaim -= hasClaim(writer) ? 0 : 1;
        claims.add(new Claim(writer, from, to));
        return true;
    }

    /** Returns true if an active writer may still fill the block. */
    boolean isExpected(int block) {
        return writersWithoutClaim > 0 || claimedUntil(block) > block;
    }
}
