package io.millrace.proxy.origin;

/**
 * What a policy chooses from: the hosts of a group in the order of the configuration, as one event loop sees them at one moment;
 * and what it remembers between two choices. Confined to one thread.
 */
final class Candidates {
    /** Weight 1 of the configuration, so that slow start has room below it. */
    static final int WEIGHT_UNIT = 100;

    /** Weight of each, in hundredths; 0 for one that is not to be chosen. */
    final int[] weights;
    /** Requests of each that are under way. */
    final int[] underWay;
    /** Hash of each. */
    final long[] hashes;
    /** Of round robin: what each is owed. */
    final long[] credit;
    /** The one chosen last, -1 before the first. */
    int last = -1;

    Candidates(long[] hashes) {
        this.hashes = hashes;
        weights = new int[hashes.length];
        underWay = new int[hashes.length];
        credit = new long[hashes.length];
    }

    /** Another with what this one remembers. */
    Candidates copy() {
        Candidates copy = new Candidates(hashes);
        System.arraycopy(credit, 0, copy.credit, 0, credit.length);
        copy.last = last;
        return copy;
    }

    int size() {
        return hashes.length;
    }
}
