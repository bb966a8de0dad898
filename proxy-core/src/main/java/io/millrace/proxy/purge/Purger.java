package io.millrace.proxy.purge;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.lookup.Collapser;
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
 * Makes stored responses unfindable, for an operator's purge and for the invalidation by unsafe methods (RFC 9111 s4.4) alike.
 * What is stored under a URL's primary key goes, and with it every variant, since their keys are made from what was there; a
 * fetch in flight is cut off from later requests and from the store.
 *
 * <p>Thread-safe.
 */
public final class Purger {
    private final CacheStore<StoredHead> store;
    private final Collapser<?> collapser;
    private final Function<TargetUri, List<CacheKey>> keys;
    private final RecentPurges recent = new RecentPurges();

    /**
     * An engine over one store.
     *
     * @param keys the primary keys that a client's URL may have, as the rules that may map it make them now; at least one
     */
    public Purger(CacheStore<StoredHead> store, Collapser<?> collapser, Function<TargetUri, List<CacheKey>> keys) {
        this.store = store;
        this.collapser = collapser;
        this.keys = keys;
    }

    /**
     * Purges one URL as the client writes it. When this returns nothing stored before is found any more; {@code reply} comes when
     * that survives a crash, and says whether something was stored.
     */
    public void purge(TargetUri url, Executor replyOn, RemoveCallback reply) {
        List<CacheKey> all = keys.apply(url);
        RemoveCallback each = all.size() == 1 ? reply : new AllRemoved(all.size(), reply);
        for (CacheKey cacheKey : all) {
            recent.add(cacheKey.bytes());
            StoreKey key = store.key(cacheKey.bytes());
            collapser.detach(key);
            store.remove(key, replyOn, each);
        }
    }

    /** A key is purged elsewhere: fetches of it that are in flight are cut off from later requests and from the store. */
    public void detach(StoreKey key) {
        recent.add(key.bytes());
        collapser.detach(key);
    }

    /** One reply for several keys. Thread-safe. */
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
     * A point in time to a key: what came from an origin before a purge must not be stored after it. A fetch takes it at its
     * start.
     *
     * @param keyHash {@link #keyHash} of a URL's primary key
     */
    public PurgePoint point(int keyHash) {
        return recent.latest(keyHash);
    }

    /**
     * What a fetch keeps of its URL's primary key to ask for purges.
     *
     * @param primaryKey the key's bytes; borrowed
     */
    public static int keyHash(byte[] primaryKey) {
        return RecentPurges.hash(primaryKey);
    }

    /** Whether the URL with a primary key of that {@link #keyHash} was purged after {@link #point} gave {@code point}. */
    public boolean isPurgedSince(int keyHash, PurgePoint point) {
        return recent.isAnySince(keyHash, point);
    }
}
