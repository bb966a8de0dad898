package io.millrace.proxy.caching.settings;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A set of status codes. Immutable. */
public final class StatusSet {

    private final BitSet codes = new BitSet();

    private StatusSet(List<Integer> statuses) {
        for (int status : statuses) {
            Bounds.require(status >= 200 && status <= 999, status + " is not a status code from 200 to 999");
            codes.set(status);
        }
    }

    /**
     * Returns a set of those codes.
     *
     * @throws IllegalArgumentException when one is not within 200 to 999
     */
    public static StatusSet of(List<Integer> statuses) {
        return new StatusSet(statuses);
    }

    /** Returns a set of those codes. */
    public static StatusSet of(Integer... statuses) {
        return new StatusSet(List.of(statuses));
    }

    public boolean contains(int status) {
        return codes.get(status);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StatusSet that && codes.equals(that.codes);
    }

    @Override
    public int hashCode() {
        return codes.hashCode();
    }

    /** Returns a text such as {@code {500, 502}}. */
    @Override
    public String toString() {
        return codes.toString();
    }
}
