package io.millrace.store;

/** Receives the result of {@link StoredObject#onRange}, once, on the executor passed to that call. */
@FunctionalInterface
public interface RangeCallback {
    /** Called with true if the range can be read now. Called with false if no writer is filling the missing blocks. */
    void onRange(boolean readable);
}
