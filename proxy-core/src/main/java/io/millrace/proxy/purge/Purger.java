package io.millrace.proxy.purge;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.lookup.Collapser;
import io.millrace.proxy.purge.record.RemovalTimes;
import io.millrace.store.CacheStore;
import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreKey;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Removes the stored responses of single URLs. Used for purges, and after unsafe methods (RFC 9111 section 4.4).
 * Removing the entry under the primary key makes all variants unreachable, because their keys contain the nonce (random
 * number) of this entry. Fetches in flight are not shared with later requests, and their responses are not stored.
 *
 * <p>Thread-safe.
 */
public final class Purger {
    private final CacheStore<StoredHead> store;
    private final Collapser<?> collapser;
    private final Function<TargetUri, List<CacheKey>> keys;
    private final Function<TargetUri, List<InvalidationScope>> scopes;
    private final Invalidator invalidator;
    private final RemovalTimes times;
    private final RecentPurges recent = new RecentPurges();

    /**
     * Creates a purger for a store.
     *
     * @param keys returns the primary keys of a client's URL under the current remap rules; at least one
     * @param scopes returns the scopes of a URL whose responses have several primary keys; usually empty
     * @param invalidator invalidates these scopes
     * @param times receives the time of each removal
     */
    public Purger(
            CacheStore<StoredHead> store,
            Collapser<?> collapser,
            Function<TargetUri, List<CacheKey>> keys,
            Function<TargetUri, List<InvalidationScope>> scopes,
            Invalidator invalidator,
            RemovalTimes times) {
        this.times = times;
        this.scopes = scopes;
        this.invalidator = invalidator;
        this.store = store;
        this.collapser = collapser;
        this.keys = keys;
    }

    /**
     * Purges a client's URL. When this method returns, lookups find no response that was stored before. The reply
     * is called when the purge is durable, and says whether a response was stored.
     */
    public void purge(TargetUri url, Executor replyOn, RemoveCallback reply) {
        List<CacheKey> all = keys.apply(url);
        List<InvalidationScope> ofOtherKeys = scopes.apply(url);
        int replies = all.size() + (ofOtherKeys.isEmpty() ? 0 : 1);
        RemoveCallback each = replies == 1 ? reply : new AllRemoved(replies, reply);
        if (!ofOtherKeys.isEmpty()) {
            // It is unknown whether a response was stored under one of the other keys.
            invalidator.invalidate(ofOtherKeys, false, replyOn, (entries, failure) -> each.onRemove(true, failure));
        }
        for (CacheKey cacheKey : all) {
            recent.add(cacheKey.bytes());
            times.removed(cacheKey.bytes());
            StoreKey key = store.key(cacheKey.bytes());
            collapser.detach(key);
            store.remove(key, replyOn, each);
        }
    }

    /**
     * Applies another process's purge of a key to the fetches in flight of this process. These fetches are not shared
     * with later requests, and their responses are not stored.
     */
    public void detach(StoreKey key) {
        recent.add(key.bytes());
        times.removed(key.bytes());
        collapser.detach(key);
    }

    /** Combines the replies for several keys. Thread-safe. */
    private static final class AllRemoved implements RemoveCallback {
        private final RemoveCallback reply;
        private final AtomicInteger outstanding;
        private final AtomicBoolean found = new AtomicBoolean();
        private final AtomicReference<@Nullable IOException> problem = new AtomicReference<>();

        AllRemoved(int keys, RemoveCallback reply) {
            this.reply = reply;
            outstanding = new AtomicInteger(keys);
        }

        @Override
        public void onRemove(boolean wasPresent, @Nullable IOException failure) {
            if (wasPresent) {
                found.set(true);
            }
            if (failure != null) {
                problem.compareAndSet(null, failure);
            }
            if (outstanding.decrementAndGet() == 0) {
                reply.onRemove(found.get(), problem.get());
            }
        }
    }

    /**
     * Returns the latest purge. A fetch calls this at its start, and passes the result to {@link #isPurgedSince}
     * before it stores the response.
     *
     * @param keyHash {@link #keyHash} of a URL's primary key
     */
    public PurgePoint point(int keyHash) {
        return recent.latest(keyHash);
    }

    /**
     * Returns the hash of a primary key, for {@link #point} and {@link #isPurgedSince}.
     *
     * @param primaryKey the key's bytes; borrowed
     */
    public static int keyHash(byte[] primaryKey) {
        return RecentPurges.hash(primaryKey);
    }

    /** Returns true if the URL may have been purged after {@link #point} returned {@code point}. */
    public boolean isPurgedSince(int keyHash, PurgePoint point) {
        return recent.isAnySince(keyHash, point);
    }
}
