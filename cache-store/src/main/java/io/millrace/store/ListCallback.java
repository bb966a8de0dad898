package io.millrace.store;

/** Receives the result of {@link CacheStore#list}. */
@FunctionalInterface
public interface ListCallback {
    /** Called once, when the listing has ended. */
    void listed(ListResult result);
}
