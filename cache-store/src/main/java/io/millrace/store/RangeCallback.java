package io.millrace.store;

/** Receives the answer of {@link StoredObject#onRange}, once, on the executor that was given with the question. */
@FunctionalInterface
public interface RangeCallback {
    /** {@code readable} says whether the range can be read now; if not, nobody is filling what is missing. */
    void onRange(boolean readable);
}
