package io.millrace.proxy.purge;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.lookup.Collapser;
import io.millrace.store.CacheStore;
import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreKey;
import java.util.concurrent.Executor;
import java.util.function.Function;

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
    private final Function<TargetUri, CacheKey> keys;
    private final RecentPurges recent = new RecentPurges();

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
        recent.add(cacheKey.bytes());
        StoreKey key = store.key(cacheKey.bytes());
        collapser.detach(key);
        store.remove(key, replyOn, reply);
    }

    /**
     * A point in time to a key: what came from an origin before a purge must not be stored after it. A fetch takes it at its
     * start.
     *
     * @param primaryKey bytes of a URL's primary key
     */
    public PurgePoint point(byte[] primaryKey) {
        return recent.latest(primaryKey);
    }

    /** Whether the URL with that primary key was purged after {@link #point} gave {@code point}. */
    public boolean isPurgedSince(byte[] primaryKey, PurgePoint point) {
        return recent.isAnySince(primaryKey, point);
    }
}
