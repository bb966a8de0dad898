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
 * Removes the stored responses of single URLs, for purges and for invalidation by unsafe methods (RFC 9111 section
 * 4.4). The removal of the entry under a URL's primary key also removes all variants, because their keys contain its
 * nonce. A fetch in flight is not shared with later requests, and its response is not stored.
 *
 * <p>Thread-safe.
 */
public final class Purger {
    private final CacheStore<StoredHead> store;
    private final Collapser<?> collapser;
    private final Function<TargetUri, List<CacheKey>> keys;
    private final RemovalTimes times;
    private final RecentPurges recent = new RecentPurges();

    /**
     * Creates a purger for a store.
     *
     * @param keys returns the primary keys of a client's URL under the present remap rules; at least one
     * @param times receives the time of each removal
     */
    public Purger(
            CacheStore<StoredHead> store,
            Collapser<?> collapser,
            Function<TargetUri, List<CacheKey>> keys,
            RemovalTimes times) {
        this.times = times;
        this.store = store;
        this.collapser = collapser;
        this.keys = keys;
    }

    /**
     * Purges a client's URL. When this returns, no response stored before is found. The reply comes when the purge is
     * durable, and tells whether a response was stored.
     */
    public void purge(TargetUri url, Executor replyOn, RemoveCallback reply) {
        List<CacheKey> all = keys.apply(url);
        RemoveCallback each = all.size() == 1 ? reply : new AllRemoved(all.size(), reply);
        for (CacheKey cacheKey : all) {
            recent.add(cacheKey.bytes());
            times.removed(cacheKey.bytes());
            StoreKey key = store.key(cacheKey.bytes());
            collapser.detach(key);
            store.remove(key, replyOn, each);
        }
    }

    /**
     * Handles a purge of a key by another process. Fetches in flight are not shared with later requests, and their
     * responses are not stored.
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
     * Returns the latest purge at the start of a fetch, for {@link #isPurgedSince}. If a later purge covers the key,
     * the response of the fetch must not be stored.
     *
     * @param keyHash {@link #keyHash} of a URL's primary key
     */
    public PurgePoint point(int keyHash) {
        return recent.latest(keyHash);
    }

    /**
     * Returns the hash of a URL's primary key for {@link #point} and {@link #isPurgedSince}.
     *
     * @param primaryKey the key's bytes; borrowed
     */
    public static int keyHash(byte[] primaryKey) {
        return RecentPurges.hash(primaryKey);
    }

    /** Returns whether the URL with a {@link #keyHash} was purged after {@link #point} returned {@code point}. */
    public boolean isPurgedSince(int keyHash, PurgePoint point) {
        return recent.isAnySince(keyHash, point);
    }
}
