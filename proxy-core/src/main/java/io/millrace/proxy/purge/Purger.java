package io.millrace.proxy.purge;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.lookup.Collapser;
import io.millrace.store.CacheStore;
import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreKey;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;

/**
 * Makes stored responses unfindable, for an operator's purge and for the invalidation by unsafe methods (RFC 9111 s4.4) alike.
 * What is stored under a URL's primary key goes, and with it every variant, since their keys are made from what was there; a
 * fetch in flight is cut off from later requests and from the store.
 *
 * <p>Thread-safe.
 */
public final class Purger {
    /** Stamps are shared by the keys of one slot: a purge of another key then keeps a fill from being stored, no more. */
    private static final int STAMPS = 4096;

    private final CacheStore<StoredHead> store;
    private final Collapser<?> collapser;
    private final Function<TargetUri, CacheKey> keys;
    private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);

    /**
     * An engine over one store.
     *
     * @param keys the primary key of a client's URL, as the rule that maps it makes it now
     */
    public Purger(CacheStore<StoredHead> store, Collapser<?> collapser, Function<TargetUri, CacheKey> keys) {
        this.store = store;
        this.collapser = collapser;
        this.keys = keys;
    }

    /**
     * Purges one URL as the client writes it. When this returns nothing stored before is found any more; {@code reply} comes when
     * that survives a crash, and says whether something was stored.
     */
    public void purge(TargetUri url, Executor replyOn, RemoveCallback reply) {
        CacheKey cacheKey = keys.apply(url);
        stamps.incrementAndGet(slot(cacheKey.bytes()));
        StoreKey key = store.key(cacheKey.bytes());
        collapser.detach(key);
        store.remove(key, replyOn, reply);
    }

    /**
     * A number that changes when the URL with that primary key is purged. A fetch remembers it at its start: what came from an
     * origin before a purge must not be stored after it.
     */
    public long stamp(byte[] primaryKey) {
        return stamps.get(slot(primaryKey));
    }

    private static int slot(byte[] primaryKey) {
        int hash = Arrays.hashCode(primaryKey);
        return (hash ^ (hash >>> 16)) & (STAMPS - 1);
    }
}
