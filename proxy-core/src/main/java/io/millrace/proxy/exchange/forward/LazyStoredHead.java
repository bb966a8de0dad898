package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.CurrentAge;
import io.millrace.proxy.caching.StoredHead;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The stored head of an origin's response, built on first use. A client's conditions and range are evaluated against
 * the stored head, and other exchanges that share the fetch use it. A response that is not stored usually needs only
 * its age, so building the head immediately would be wasteful.
 *
 * <p>Thread-safe: threads that race at the first use build equal heads.
 */
public final class LazyStoredHead {
    private final long initialAgeMillis;
    private final long responseMillis;
    private final @Nullable Supplier<StoredHead> builder;

    /** Safe without a lock, since a stored head is immutable. */
    private @Nullable StoredHead head;

    private LazyStoredHead(
            long initialAgeMillis,
            long responseMillis,
            @Nullable Supplier<StoredHead> builder,
            @Nullable StoredHead head) {
        this.initialAgeMillis = initialAgeMillis;
        this.responseMillis = responseMillis;
        this.builder = builder;
        this.head = head;
    }

    /** Wraps an existing head. */
    public static LazyStoredHead of(StoredHead head) {
        return new LazyStoredHead(head.initialAgeMillis(), head.responseTimeMillis(), null, head);
    }

    /**
     * Returns a head that is built on first use.
     *
     * @param initialAgeMillis the age of the response at its receipt (RFC 9111 s4.2.3)
     * @param responseMillis time of receipt, in epoch milliseconds
     */
    public static LazyStoredHead later(long initialAgeMillis, long responseMillis, Supplier<StoredHead> builder) {
        return new LazyStoredHead(initialAgeMillis, responseMillis, builder, null);
    }

    /** Returns the head, built on first use. Callable from any thread. */
    StoredHead head() {
        StoredHead known = head;
        if (known == null) {
            known = Objects.requireNonNull(builder, "created without a head and without a supplier of it")
                    .get();
            head = known;
        }
        return known;
    }

    /** Returns the head; null when it was not built yet. Callable from any thread. */
    public @Nullable StoredHead known() {
        return head;
    }

    /** The response's current age in whole seconds. Does not build the head. */
    long currentAgeSeconds(long nowMillis) {
        return CurrentAge.seconds(initialAgeMillis, responseMillis, nowMillis);
    }
}
