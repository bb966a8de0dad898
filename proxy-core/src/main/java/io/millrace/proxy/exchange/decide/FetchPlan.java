package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.remap.Mapped;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * What a fetch is to fetch and what may become of the answer.
 *
 * <p>Immutable, but for the reference to the stored object, which the fetch releases once, and for what the origin was last asked by.
 */
public final class FetchPlan {
    private final RequestHead request;
    private final ClientConnection client;
    private final Mapped mapped;
    private final CacheSettings cacheSettings;
    private final TargetUri originUrl;
    private final TargetUri keyUrl;
    private final long stamp;
    private final long contentLength;
    private final @Nullable StoreKey primaryKey;
    private final @Nullable StoredHead marker;
    private final @Nullable StoreKey key;
    private final @Nullable StoreKey collapseKey;
    private final boolean mayStore;
    private final @Nullable String upgrade;
    private final @Nullable StoredHead standIn;
    private @Nullable RangeRequest range;
    private @Nullable StoredObject<StoredHead> stale;
    private @Nullable AccessRules told;

    private FetchPlan(
            Decision decision,
            ClientConnection client,
            long contentLength,
            @Nullable StoreKey collapseKey,
            boolean mayStore,
            @Nullable StoredObject<StoredHead> stale) {
        this.request = decision.request();
        this.client = client;
        this.mapped = decision.mapped();
        this.cacheSettings = decision.cacheSettings();
        this.originUrl = decision.originUrl();
        this.keyUrl = decision.keyUrl();
        this.stamp = decision.stamp();
        this.contentLength = contentLength;
        this.primaryKey = decision.primaryKey();
        this.marker = decision.marker();
        this.key = mayStore ? decision.key() : null;
        this.collapseKey = collapseKey;
        this.mayStore = mayStore;
        this.upgrade = decision.upgrade();
        this.stale = stale;
        this.standIn = stale == null ? decision.standIn() : stale.head();
    }

    /** The request goes as it came, its conditions and ranges included, and nobody joins. */
    public static FetchPlan pass(Decision decision, ClientConnection client, long contentLength) {
        return new FetchPlan(decision, client, contentLength, null, false, decision.takeObjectOrNull());
    }

    /**
     * The whole representation is fetched, to be kept where the rules allow it.
     *
     * @param shared whether other exchanges may join
     */
    public static FetchPlan fill(Decision decision, ClientConnection client, boolean shared) {
        return new FetchPlan(decision, client, 0, shared ? decision.key() : null, true, null);
    }

    /**
     * The same, with the stored response's validators.
     *
     * @param stale takes over the caller's reference
     */
    public static FetchPlan validate(
            Decision decision, ClientConnection client, StoredObject<StoredHead> stale, boolean shared) {
        return new FetchPlan(decision, client, 0, shared ? decision.key() : null, true, stale);
    }

    /** As {@link #fill}, of a part. */
    public static FetchPlan part(Decision decision, ClientConnection client, boolean shared, RangeRequest range) {
        FetchPlan plan = fill(decision, client, shared);
        plan.range = range;
        return plan;
    }

    /**
     * The rest of a representation whose first part is stored.
     *
     * @param firstPart takes over the caller's reference
     */
    public static FetchPlan rest(
            Decision decision, ClientConnection client, StoredObject<StoredHead> firstPart, RangeRequest range) {
        FetchPlan plan = validate(decision, client, firstPart, true);
        plan.range = range;
        return plan;
    }

    public RequestHead request() {
        return request;
    }

    /** The part to ask for, null for the whole. */
    public @Nullable RangeRequest range() {
        return range;
    }

    /** What the origin is asked for, before it is mapped: the URL that the key stands for, where there is a key. */
    public TargetUri originUrl() {
        return originUrl;
    }

    /** The URL that the key stands for, which invalidations are about. */
    public TargetUri keyUrl() {
        return keyUrl;
    }

    /** The stamp of invalidations before anything was looked at for this; any thread. */
    public long stamp() {
        return stamp;
    }

    /**
     * A head as it is stored: with the stamp under which it was asked for.
     *
     * @param before the head of which it is a new edition, or of the part that it completes, which the origin has confirmed
     */
    public StoredHead stamped(StoredHead head, @Nullable StoredHead before) {
        return restamped(head, before == null ? stamp : Math.max(stamp, before.stamp()));
    }

    /** A head with that stamp, its groups and tags being those of this URL and its site. */
    public StoredHead restamped(StoredHead head, long number) {
        return head.withStamp(number, keyUrl, mapped.rule().config().site());
    }

    /** The protocols that the connection may switch to, as Upgrade has them; null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    public ClientConnection client() {
        return client;
    }

    public Mapped mapped() {
        return mapped;
    }

    public CacheSettings cacheSettings() {
        return cacheSettings;
    }

    /** Bytes of request content, 0 for none, {@link RequestReceiver#CHUNKED}. */
    public long contentLength() {
        return contentLength;
    }

    /** Whether the request is sent as the client made it. */
    public boolean isPass() {
        return !mayStore;
    }

    @Nullable
    StoreKey primaryKey() {
        return primaryKey;
    }

    /** The bytes of the URL's primary key, also where nothing was looked for; borrowed. */
    public byte[] primaryBytes() {
        return primaryKey == null ? mapped.key(request.target()).bytes() : primaryKey.bytes();
    }

    /** The variant marker that was found under the primary key. */
    @Nullable
    StoredHead marker() {
        return marker;
    }

    /** The key that was looked for, null when nothing may be stored. */
    public @Nullable StoreKey key() {
        return key;
    }

    /** The key under which others may join, null when nobody may. */
    public @Nullable StoreKey collapseKey() {
        return collapseKey;
    }

    public boolean mayStore() {
        return mayStore;
    }

    /**
     * Whether the answer is one to POST, which may stand for later GETs where it says so (RFC 9110 s9.3.3). Not where the URL
     * has something that the key has not: a POST is sent as it came.
     */
    public boolean isPost() {
        return request.method() == Method.POST
                && cacheSettings().enabled()
                && mapped.keyUrl(request.target()) == request.target();
    }

    /** The stored response to validate; borrowed. */
    public @Nullable StoredObject<StoredHead> stale() {
        return mayStore && range == null ? stale : null;
    }

    /** The stored response that the answer to HEAD says something about (RFC 9111 s4.3.5); borrowed. */
    public @Nullable StoredObject<StoredHead> comparedToHead() {
        return mayStore ? null : stale;
    }

    /** The head of the stored response that an error must not replace, also when the object is given up; null without one. */
    public @Nullable StoredHead standIn() {
        return standIn;
    }

    /** The stored part whose rest is asked for; borrowed. */
    public @Nullable StoredObject<StoredHead> firstPart() {
        return range == null ? null : stale;
    }

    /** The origin is asked, and told of the client what these rules say. */
    public void told(AccessRules by) {
        told = by;
    }

    /** By which rules the origin was told of the client, whatever holds now. */
    public AccessRules told() {
        if (told == null) {
            throw new IllegalStateException("the origin was not asked");
        }
        return told;
    }

    /** Gives up the stored object: what is asked for next is the whole, without conditions. */
    public void release() {
        range = null;
        StoredObject<StoredHead> object = stale;
        stale = null;
        if (object != null) {
            object.release();
        }
    }
}
