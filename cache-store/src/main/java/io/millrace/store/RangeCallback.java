package io.millrace.store;

/** Receives the result of {@link StoredObject#onRange}, once, on the executor passed to that call. */
@FunctionalInterface
public interface RangeCallback {
    /** {@code readable} is true if the range can be read now. If false, no writer is filling the missing blocks. */
    void onRange(boolean readable);
}
