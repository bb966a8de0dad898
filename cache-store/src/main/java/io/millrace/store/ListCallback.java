package io.millrace.store;

/** Is told how a listing ended. */
@FunctionalInterface
public interface ListCallback {
    /** The listing ended; called once. */
    void listed(ListResult result);
}
