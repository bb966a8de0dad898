package io.millrace.proxy.origin;

/**
 * The input of a load-balancing policy: the current weight and load of each host. All arrays are in the order of the
 * configuration. Also holds the state of the policy between selections. Not thread-safe.
 */
final class Candidates {
    /** Value in {@link #weights} of the configured weight 1. Slow start uses lower values. */
    static final int WEIGHT_UNIT = 100;

    /** Weight of each host, in hundredths; 0 for a host that must not be selected. */
    final int[] weights;
    /** Number of requests in progress at each host. */
    final int[] underWay;
    /** Hash of each host's name, for policies that hash. */
    final long[] hashes;
    /** State of weighted round robin: the credit of each host. The host with the highest credit is selected next. */
    final long[] credit;
    /** Index of the last selected host; -1 before the first selection. */
    int last = -1;

    Candidates(long[] hashes) {
        this.hashes = hashes;
        weights = new int[hashes.length];
        underWay = new int[hashes.length];
        credit = new long[hashes.length];
    }

    /** Returns a copy with the same policy state. */
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
