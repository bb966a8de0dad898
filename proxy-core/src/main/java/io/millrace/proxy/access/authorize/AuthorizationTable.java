package io.millrace.proxy.access.authorize;

import io.millrace.proxy.access.CredentialDigest;
import io.netty.util.concurrent.EventExecutor;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Remembers decisions of authorisation servers by a keyed digest of the parts of the request and the settings, and
 * joins equal requests that wait for the same decision.
 *
 * <p>Bounds: {@value #RESULTS_MAX} remembered results of each kind with at most {@value #WEIGHT_MAX} bytes,
 * {@value #PENDING_MAX} requests to servers in progress, {@value #FOLLOWERS_MAX} requests that wait for each.
 * Thread-safe. No method blocks.
 */
public final class AuthorizationTable {
    /** Limit of remembered results of each kind; a new result replaces one whose digest has the same low bits. */
    static final int RESULTS_MAX = 1 << 13;

    /** Limit of the bytes of a remembered result. */
    static final int WEIGHT_MAX = 4096;

    /** Limit of requests to authorisation servers in progress. */
    static final int PENDING_MAX = 4096;

    /** Limit of requests that wait for one decision, including the first one. */
    static final int FOLLOWERS_MAX = 1024;

    private static final int SECRET_BYTES = 32;

    /** The role of a request among the equal requests that need the same decision. */
    public enum Place {
        /** The first request. Its caller asks the server, and then calls {@link #finish}. */
        FIRST,
        /** Waits for the decision about an equal request. */
        FOLLOWER,
        /** Cannot wait, because a limit is reached. */
        REFUSED
    }

    private record Remembered(CredentialDigest digest, AuthorizationResult result, long untilMillis) {}

    /** A request that waits for the decision about an equal request. */
    private record Follower(EventExecutor loop, Consumer<AuthorizationResult> then, Runnable ifUnshared) {}

    private final byte[] secret = new byte[SECRET_BYTES];
    // There are two tables, so that refused requests do not displace the results of allowed requests.
    private final AtomicReferenceArray<@Nullable Remembered> allowed = new AtomicReferenceArray<>(RESULTS_MAX);
    private final AtomicReferenceArray<@Nullable Remembered> refused = new AtomicReferenceArray<>(RESULTS_MAX);
    private final ConcurrentHashMap<CredentialDigest, List<Follower>> pending = new ConcurrentHashMap<>();
    /** Number of requests to servers in progress that no other request may join; not in {@link #pending}. */
    private final AtomicInteger unsharedRequests = new AtomicInteger();

    /** Creates a table without results. */
    public AuthorizationTable() {
        new SecureRandom().nextBytes(secret);
    }

    /**
     * Returns the digest under which a decision is remembered.
     *
     * @param with the digest function of the calling thread
     * @param settings digest of the settings
     * @param bytes array that begins with the parts of the request
     * @param length number of these bytes
     */
    public CredentialDigest digest(MessageDigest with, byte[] settings, byte[] bytes, int length) {
        return CredentialDigest.of(with, secret, settings, bytes, 0, length);
    }

    /** Returns the remembered result; null if none is known. */
    public @Nullable AuthorizationResult remembered(CredentialDigest digest, long nowMillis) {
        int slot = (int) digest.low() & (RESULTS_MAX - 1);
        AuthorizationResult result = of(allowed.get(slot), digest, nowMillis);
        return result == null ? of(refused.get(slot), digest, nowMillis) : result;
    }

    private static @Nullable AuthorizationResult of(
            @Nullable Remembered known, CredentialDigest digest, long nowMillis) {
        return known != null && known.digest().equals(digest) && nowMillis < known.untilMillis()
                ? known.result()
                : null;
    }

    /**
     * Joins a request to an equal request that waits for a decision, or makes it the first request.
     *
     * @param loop the event loop on which the callbacks run
     * @param then receives the result, if the place is {@link Place#FOLLOWER}
     * @param ifUnshared runs instead if the result is for another client only
     */
    public Place join(
            CredentialDigest digest, EventExecutor loop, Consumer<AuthorizationResult> then, Runnable ifUnshared) {
        Place[] place = {Place.REFUSED};
        boolean full = isFull();
        pending.compute(digest, (key, followers) -> {
            if (followers == null) {
                place[0] = full ? Place.REFUSED : Place.FIRST;
                return full ? null : new ArrayList<>();
            }
            if (followers.size() < FOLLOWERS_MAX - 1) {
                place[0] = Place.FOLLOWER;
                followers.add(new Follower(loop, then, ifUnshared));
            }
            return followers;
        });
        return place[0];
    }

    /**
     * Returns true if no further request to a server may begin. Event loops may check the limit at the same time.
     * Therefore the limit may be exceeded by the number of event loops.
     */
    private boolean isFull() {
        return pending.size() + unsharedRequests.get() >= PENDING_MAX;
    }

    /** Begins a request to a server that no other request joins. Returns false if there are too many in progress. */
    public boolean begin() {
        if (isFull()) {
            return false;
        }
        unsharedRequests.incrementAndGet();
        return true;
    }

    /** Ends a request for which {@link #begin} returned true, and remembers its result as {@link #finish} does. */
    public void end(CredentialDigest digest, AuthorizationResult result, long untilMillis, long nowMillis) {
        unsharedRequests.decrementAndGet();
        remember(digest, result, untilMillis, nowMillis);
    }

    /**
     * Passes a result to the followers of the first request, and remembers it.
     *
     * @param untilMillis end of its validity; now or earlier if it is not remembered
     * @param nowMillis the time now, in epoch milliseconds
     */
    public void finish(CredentialDigest digest, AuthorizationResult result, long untilMillis, long nowMillis) {
        remember(digest, result, untilMillis, nowMillis);
        List<Follower> followers = pending.remove(digest);
        for (Follower follower : followers == null ? List.<Follower>of() : followers) {
            Runnable next = result.isForOneClient()
                    ? follower.ifUnshared()
                    : () -> follower.then().accept(result);
            try {
                follower.loop().execute(next);
            } catch (RejectedExecutionException e) {
                // The event loop of the follower has ended, and with it the request.
            }
        }
    }

    private void remember(CredentialDigest digest, AuthorizationResult result, long untilMillis, long nowMillis) {
        if (untilMillis > nowMillis
                && !result.isForOneClient()
                && result.weight() <= WEIGHT_MAX
                && (result.kind() == AuthorizationResult.Kind.ALLOWED
                        || result.kind() == AuthorizationResult.Kind.REFUSED)) {
            AtomicReferenceArray<@Nullable Remembered> table =
                    result.kind() == AuthorizationResult.Kind.ALLOWED ? allowed : refused;
            table.set((int) digest.low() & (RESULTS_MAX - 1), new Remembered(digest, result, untilMillis));
        }
    }
}
