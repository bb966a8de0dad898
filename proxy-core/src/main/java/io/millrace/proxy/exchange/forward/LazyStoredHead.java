package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.CurrentAge;
import io.millrace.proxy.caching.StoredHead;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The head that an origin's response would be stored with: a client's conditions and range are answered from it, and others who wait are told by
 * it. Most responses that are not stored are passed on whole to one client, who needs their age only: theirs is built when it is asked for.
 *
 * <p>Thread-safe: two threads that ask for it first build two that are equal.
 */
public final class LazyStoredHead {
    private final long initialAgeMillis;
    private final long responseMillis;
    private final @Nullable Supplier<StoredHead> building;

    /** Safe without a lock: a stored head is immutable. */
    private @Nullable StoredHead head;

    private LazyStoredHead(
            long initialAgeMillis,
            long responseMillis,
            @Nullable Supplier<StoredHead> building,
            @Nullable StoredHead head) {
        this.initialAgeMillis = initialAgeMillis;
        this.responseMillis = responseMillis;
        this.building = building;
        this.head = head;
    }

    /** One that there is already. */
    public static LazyStoredHead of(StoredHead head) {
        return new LazyStoredHead(head.initialAgeMillis(), head.responseTimeMillis(), null, head);
    }

    /**
     * One to be built.
     *
     * @param initialAgeMillis the age that the response came with (RFC 9111 s4.2.3)
     * @param responseMillis when it came, epoch milliseconds
     */
    public static LazyStoredHead later(long initialAgeMillis, long responseMillis, Supplier<StoredHead> building) {
        return new LazyStoredHead(initialAgeMillis, responseMillis, building, null);
    }

    /** The head; any thread. */
    StoredHead head() {
        StoredHead known = head;
        if (known == null) {
            known = Objects.requireNonNull(building, "one or the other").get();
            head = known;
        }
        return known;
    }

    /** The head, null when nobody has needed it yet; any thread. */
    public @Nullable StoredHead known() {
        return head;
    }

    /** The response's age in whole seconds, as the head's. */
    long currentAgeSeconds(long nowMillis) {
        return CurrentAge.seconds(initialAgeMillis, responseMillis, nowMillis);
    }
}
