package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.encoding.EncodedHeads;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.edge.CorsFields;
import io.millrace.proxy.extension.FetchHooks;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.rules.RequestView;
import io.millrace.proxy.rules.RuleProgram;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a fetch: the request to the origin, and the permitted use of the response.
 *
 * <p>Not thread-safe, except where a method says so. Owns a reference to the stored object. The fetch releases it
 * exactly once.
 */
public final class FetchPlan implements StoringTarget {
    private final RequestHead request;
    private final ClientConnection client;
    private final Mapped mapped;
    private final CacheSettings cacheSettings;
    private final TargetUri originUrl;
    private final TargetUri keyUrl;
    private final long lookupStamp;
    private final long contentLength;
    private final @Nullable StoreKey primaryKey;
    private final @Nullable StoredHead marker;
    private final @Nullable StoreKey key;
    private final @Nullable StoreKey collapseKey;
    private final boolean mayStore;
    private final @Nullable String upgrade;
    private final @Nullable StoredHead fallbackHead;
    private final @Nullable RuleProgram rules;
    private final int random;
    private final long decidedMillis;
    private final @Nullable Rewrite rewrite;
    private final boolean isPassedByMethod;
    private final @Nullable ExchangeTrace trace;
    private final @Nullable FetchHooks hooks;
    private final boolean setsCorsFields;
    /** Number of spans of this plan so far. */
    private int spans;

    private volatile @Nullable ClientSpan span;
    private @Nullable RangeRequest range;
    private boolean asksForWhole;
    /** The stored response to validate, to complete, or to compare with a response to HEAD; null for none. */
    private @Nullable StoredObject<StoredHead> stale;

    private @Nullable AccessRules forwardingRules;
    private @Nullable StoredHead sourceHead;
    /** The settings with the lifetime that extensions have set for the response; null without one. */
    private @Nullable CacheSettings settingsAfterHooks;

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
        this.lookupStamp = decision.lookupStamp();
        this.contentLength = contentLength;
        this.primaryKey = decision.primaryKey();
        this.marker = decision.marker();
        this.key = mayStore ? decision.key() : null;
        this.collapseKey = collapseKey;
        this.mayStore = mayStore;
        this.upgrade = decision.upgrade();
        this.stale = stale;
        this.rules = decision.rules();
        this.isPassedByMethod = decision.forwardReason() == ForwardReason.METHOD;
        this.random = decision.random();
        this.decidedMillis = decision.decidedMillis();
        this.rewrite = decision.rewrite();
        this.trace = decision.trace();
        this.hooks = FetchHooks.of(decision.hooks());
        this.setsCorsFields = decision.cors() != null;
        // A byte range of the origin's content is not the same range of the transformed content.
        this.asksForWhole = hooks != null && hooks.transformsBodies();
        this.fallbackHead = stale == null ? decision.fallbackHead() : stale.head();
    }

    /** Sends the request unchanged, with its conditions and ranges. No other exchange can join. */
    public static FetchPlan pass(Decision decision, ClientConnection client, long contentLength) {
        return new FetchPlan(decision, client, contentLength, null, false, decision.takeObjectOrNull());
    }

    /**
     * Fetches the whole representation, to be stored if the rules permit it.
     *
     * @param shared whether other exchanges may join
     */
    public static FetchPlan fill(Decision decision, ClientConnection client, boolean shared) {
        return new FetchPlan(decision, client, 0, shared ? decision.key() : null, true, null);
    }

    /**
     * Fetches like {@link #fill}, with the validators of the stored response.
     *
     * @param stale takes over the caller's reference
     */
    public static FetchPlan validate(
            Decision decision, ClientConnection client, StoredObject<StoredHead> stale, boolean shared) {
        return new FetchPlan(decision, client, 0, shared ? decision.key() : null, true, stale);
    }

    /** Fetches a range, otherwise like {@link #fill}. */
    public static FetchPlan part(Decision decision, ClientConnection client, boolean shared, RangeRequest range) {
        FetchPlan plan = fill(decision, client, shared);
        plan.range = range;
        return plan;
    }

    /**
     * Fetches the bytes after a stored first part of a representation.
     *
     * @param firstPart takes over the caller's reference
     */
    public static FetchPlan rest(
            Decision decision, ClientConnection client, StoredObject<StoredHead> firstPart, RangeRequest range) {
        FetchPlan plan = validate(decision, client, firstPart, true);
        plan.range = range;
        return plan;
    }

    @Override
    public RequestHead request() {
        return request;
    }

    /** The range to request; null for the whole. */
    public @Nullable RangeRequest range() {
        return range;
    }

    /**
     * Returns true if the client's Range field is not sent. This is the case if extensions transform the content, or if
     * the plan was {@linkplain #resetToFullFetch reset} because an earlier response was unusable.
     */
    public boolean asksForWhole() {
        return asksForWhole;
    }

    /**
     * The URL to request from the origin, before the remap rule is applied. If the request has a cache key, this is the
     * URL of the key.
     */
    public TargetUri originUrl() {
        return originUrl;
    }

    /** The URL of the cache key, to which invalidations refer. */
    public TargetUri keyUrl() {
        return keyUrl;
    }

    /**
     * The newest purge stamp (an increasing number) before the first lookup for this request. Callable from any thread.
     */
    public long lookupStamp() {
        return lookupStamp;
    }

    /**
     * Returns a copy of a head with the stamp at which its fetch began.
     *
     * @param before the confirmed stored head that the new head updates or completes; null for none
     */
    public StoredHead withFetchStamp(StoredHead head, @Nullable StoredHead before) {
        return withStamp(head, before == null ? lookupStamp : Math.max(lookupStamp, before.stamp()));
    }

    /**
     * Returns the stored head of a response to the request, with the stamp at which the fetch began.
     *
     * @param requestMillis time when the request was sent, in epoch milliseconds
     * @param responseMillis time when the response's head arrived, in epoch milliseconds
     */
    public StoredHead stored(ResponseHead response, long requestMillis, long responseMillis) {
        StoredHead head = StoredHead.of(
                request,
                response,
                requestMillis,
                responseMillis,
                cacheSettings,
                lookupStamp,
                keyUrl,
                mapped.rule().config().site());
        StoredHead source = sourceHead;
        return source == null
                ? afterHooks(head)
                : head.imported(source.lifetimeSeconds(), source.tags().packed());
    }

    /**
     * Notes that the response is made from a stored variant. The response then gets all tags of that variant, including
     * tags whose fields are not stored. Its lifetime does not exceed that of the variant.
     */
    public void sourceHead(StoredHead head) {
        sourceHead = head;
    }

    /** Returns true if the response is made from a stored variant. */
    public boolean isFromVariant() {
        return sourceHead != null;
    }

    /** Returns a copy of a head with the given stamp. Its cache groups and tags belong to this URL and its site. */
    public StoredHead withStamp(StoredHead head, long stamp) {
        return afterHooks(head.withStamp(stamp, keyUrl, mapped.rule().config().site()));
    }

    /** Returns a head with the lifetime and the tags that extensions have set. */
    private StoredHead afterHooks(StoredHead head) {
        if (hooks == null) {
            return head;
        }
        StoredHead marked = hooks.transformsBodies() ? head.withWeakDate() : head;
        return hooks.ttlSeconds() < 0 && hooks.tags().length == 0
                ? marked
                : marked.withLifetime(hooks.ttlSeconds(), hooks.tags());
    }

    /** The hooks of extensions for this fetch; null if its rule has none. */
    public @Nullable FetchHooks hooks() {
        return hooks;
    }

    /** The Upgrade field for the origin; null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    public ClientConnection client() {
        return client;
    }

    @Override
    public Mapped mapped() {
        return mapped;
    }

    @Override
    public CacheSettings cacheSettings() {
        CacheSettings changed = settingsAfterHooks;
        return changed == null ? cacheSettings : changed;
    }

    /** Bytes of request content; 0 for none, {@link RequestReceiver#CHUNKED} when unknown. */
    public long contentLength() {
        return contentLength;
    }

    /** Returns true if the request is sent to the origin unchanged. */
    public boolean isPass() {
        return !mayStore;
    }

    @Override
    public @Nullable StoreKey primaryKey() {
        return primaryKey;
    }

    @Override
    public byte[] primaryBytes() {
        return primaryKey == null ? mapped.key(request.target()).bytes() : primaryKey.bytes();
    }

    @Override
    public @Nullable StoredHead marker() {
        return marker;
    }

    /** The key of the lookup; null when nothing may be stored. */
    public @Nullable StoreKey key() {
        return key;
    }

    /** The key under which other exchanges may join; null when none may. */
    public @Nullable StoreKey collapseKey() {
        return collapseKey;
    }

    public boolean mayStore() {
        return mayStore;
    }

    /**
     * Returns true if this is a POST whose response may be stored for later GETs (RFC 9110 s9.3.3). The response's
     * fields must permit it too. False if the URL differs from the URL of its cache key, since a POST is sent
     * unchanged. Also false for requests that bypass the cache or whose URL a rule rewrites, and if rules or extensions
     * may treat a GET differently from this POST.
     */
    public boolean mayStorePost() {
        return request.method() == Method.POST
                && isPassedByMethod
                && rewrite == null
                && (hooks == null || !hooks.distinguishesPost())
                && (rules == null || !rules.distinguishesPost())
                && cacheSettings().enabled()
                && mapped.keyUrl(request.target()) == request.target();
    }

    /** The stored response to validate. Borrowed. */
    public @Nullable StoredObject<StoredHead> stale() {
        return mayStore && range == null ? stale : null;
    }

    /** The stored response to GET that a response to HEAD may update (RFC 9111 s4.3.5); null for none. Borrowed. */
    public @Nullable StoredObject<StoredHead> storedForHeadMethod() {
        return mayStore ? null : stale;
    }

    /**
     * The head of the stored response that an error must not replace; null for none. The head stays valid after the
     * object was released.
     */
    public @Nullable StoredHead fallbackHead() {
        return fallbackHead;
    }

    /** The stored first part whose following bytes are requested; null for none. Borrowed. */
    public @Nullable StoredObject<StoredHead> firstPart() {
        return range == null ? null : stale;
    }

    /** Returns the request target for the origin, as the remap rule or a rewriting rule defines it. */
    public byte[] originTarget() {
        byte[] target = mapped.originTarget(originUrl);
        return rewrite == null ? target : rewrite.applyTo(target);
    }

    /** Returns the complete URL for a parent proxy, as {@link #originTarget}. */
    public byte[] originUrlBytes() {
        byte[] url = mapped.originUrlBytes(originUrl);
        return rewrite == null ? url : rewrite.applyTo(url);
    }

    /**
     * Returns the origin's response head after the changes by rules and then by extensions. If the remap rule sets the
     * CORS fields, the head has no CORS fields of the origin. Conditions of rules see the status of the whole
     * representation: for a 304 the stored status, for a 206 the status 200. For a 304, conditions see the updated
     * stored fields.
     *
     * @throws FetchHooks.ClosedResponseException if the failure of an extension refuses the response
     */
    public ResponseHead headAfterRules(ResponseHead received) {
        ResponseHead head = setsCorsFields ? CorsFields.withoutCors(received) : received;
        boolean isRuled = rules != null && rules.changesOriginResponses();
        FetchHooks called = hooks;
        boolean isHooked = called != null && called.changesResponses();
        if (!isRuled && !isHooked) {
            return head;
        }
        int status = head.status();
        FieldSection seen = head.fields();
        StoredObject<StoredHead> validated = stale();
        if (status == 304 && validated != null) {
            status = validated.head().status();
            seen = Validation.updatedFields(validated.head().fields(), seen);
        } else if (status == 206 && range != null) {
            status = 200;
        }
        ResponseHead ruled = isRuled ? headAfterRules(head, status, seen) : head;
        return called != null && isHooked ? headAfterHooks(called, ruled, status, validated) : ruled;
    }

    private ResponseHead headAfterRules(ResponseHead head, int status, FieldSection seen) {
        if (rules == null) {
            return head;
        }
        RequestView view = new RequestView(ZoneId.systemDefault())
                .begin(request, client, decidedMillis, random)
                .received(status, seen);
        FieldSection fields = rules.receivedFields(view, head.fields());
        return fields == head.fields() ? head : head.withFields(fields);
    }

    private ResponseHead headAfterHooks(
            FetchHooks called, ResponseHead head, int status, @Nullable StoredObject<StoredHead> validated) {
        FieldSection seen = head.status() == 304 && validated != null
                ? Validation.updatedFields(validated.head().fields(), head.fields())
                : head.fields();
        ResponseHead changed = called.originResponse(
                head, keyUrl, status, seen, request.method() != Method.HEAD && EncodedHeads.mayTransform(head));
        long ttl = called.ttlSeconds();
        settingsAfterHooks = ttl < 0
                ? null
                : cacheSettings.toBuilder()
                        .forced(new LifetimeRules.Forced(-1, ttl))
                        .build();
        return changed;
    }

    /** Returns the fields for the origin after the changes of the rules and then of the extensions. */
    public FieldSection fieldsAfterRules(FieldSection fields) {
        // Origin is removed only if the response may be stored. Other requests, such as those with an unsafe method,
        // keep it: origins use it to detect cross-site request forgery.
        FieldSection ruled = setsCorsFields && mayStore ? CorsFields.withoutOrigin(fields) : fields;
        if (rules != null && rules.changesOriginRequests()) {
            RequestView view = new RequestView(ZoneId.systemDefault()).begin(request, client, decidedMillis, random);
            ruled = rules.originFields(view, ruled);
        }
        return hooks == null ? ruled : hooks.originFields(ruled);
    }

    /** Notes the access rules that determine which client fields the request to the origin contains. */
    public void forwardingRules(AccessRules accessRules) {
        forwardingRules = accessRules;
    }

    /**
     * The access rules that applied when the request to the origin was composed. A reload may have replaced them since.
     */
    public AccessRules forwardingRules() {
        if (forwardingRules == null) {
            throw new IllegalStateException("no request to the origin was composed");
        }
        return forwardingRules;
    }

    /** The trace of the request for which this plan was made; null if it is not traced. */
    public @Nullable ExchangeTrace trace() {
        return trace;
    }

    /**
     * Begins the span of the next request of this plan to an origin. Returns null if the plan is not traced.
     *
     * @param isSecure whether the origin's connection uses TLS
     * @param authority host and port of the origin
     */
    public @Nullable ClientSpan beginSpan(boolean isSecure, String authority) {
        ExchangeTrace requestTrace = trace;
        ClientSpan next = requestTrace == null
                ? null
                : new ClientSpan(requestTrace, spans++, request.methodName(), isSecure, authority, originTarget());
        span = next;
        return next;
    }

    /** The span of the last request to an origin; null if there is none. Callable from any thread. */
    public @Nullable ClientSpan span() {
        return span;
    }

    /**
     * Releases the stored object. The next request of this plan is for the whole representation, without conditions.
     */
    public void resetToFullFetch() {
        range = null;
        asksForWhole = true;
        releaseStoredObject();
    }

    /** Releases the stored object, if there is one. Call at the end of the fetch. */
    public void releaseStoredObject() {
        StoredObject<StoredHead> object = stale;
        stale = null;
        if (object != null) {
            object.release();
        }
    }
}
