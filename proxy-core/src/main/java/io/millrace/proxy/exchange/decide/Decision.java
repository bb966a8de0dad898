package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.key.FillConfig;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.ForwardReason;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RuledSettings;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done with one request, and what was found on the way to knowing it. Filled by {@link RequestDecider}, which both
 * lanes start with; the fast lane uses one for all that it answers.
 *
 * <p>Confined to one event loop.
 */
public final class Decision {
    /** What is to be done. */
    public enum Kind {
        /** Refused; {@link #deniedStatus} says how. */
        DENIED,
        /** This proxy answers in the origin's place, since the request may go no further (RFC 9110 s7.6.2). */
        FINAL_RECIPIENT,
        /** The request may ask for the answer to an ACME challenge: look for it, then decide again. */
        CHALLENGE,
        /** No rule maps it. */
        NOT_MAPPED,
        /** The client is sent to {@link #location}, by {@link #redirectStatus}. */
        REDIRECTED,
        /** Join the client to the host that it names. */
        TUNNEL,
        /** Send it to the origin as it is; nothing is stored or reused. */
        PASS,
        /** The disk knows the key: read it, then decide again. */
        OPEN,
        /** The object answers as it is. */
        FRESH,
        /** The object answers although it is stale, as client or origin allow; it is validated aside where they ask for it. */
        SERVE_STALE,
        /** The object must be validated first. */
        VALIDATE,
        /** The object has a part of what is wanted: fetch what is missing. */
        COMPLETE,
        /** Nothing usable is stored: fetch it. */
        MISS,
        /** Nothing usable is stored, and the client wants nothing else (RFC 9111 s5.2.1.7). */
        UNAVAILABLE
    }

    /** What a client is told whose request a filter refuses. */
    public static final String FILTERED = "a filter of this proxy refuses the request";

    private RequestHead request;
    private Kind kind = Kind.PASS;
    private @Nullable Mapped mapped;
    private @Nullable RuledSettings ruled;
    private TargetUri originUrl;
    private TargetUri keyUrl;
    private long stamp;
    private @Nullable Outdated outdated;
    private int localStatus;
    private @Nullable String location;
    private String reason = "";
    private @Nullable String allow;
    private @Nullable String filter;
    private @Nullable String upgrade;
    private ForwardReason forwardReason = ForwardReason.BYPASS;
    private @Nullable StoreKey primaryKey;
    private @Nullable StoreKey key;
    private @Nullable StoredHead marker;
    private @Nullable StoredObject<StoredHead> object;
    private @Nullable StoredHead standIn;
    private boolean validatingAside;
    private boolean readFromDisk;
    private boolean underLoad;
    private boolean pastChallenges;
    /** Where objects are looked for without holding them; null when what is found is retained. */
    private @Nullable UnretainedReader residents;

    public Decision(RequestHead request) {
        this.request = request;
        this.originUrl = request.target();
        this.keyUrl = request.target();
    }

    /** Forgets everything, for another request. */
    public void begin(RequestHead another) {
        request = another;
        kind = Kind.PASS;
        mapped = null;
        ruled = null;
        originUrl = another.target();
        keyUrl = another.target();
        stamp = 0;
        outdated = null;
        localStatus = 0;
        location = null;
        reason = "";
        allow = null;
        filter = null;
        upgrade = null;
        forwardReason = ForwardReason.BYPASS;
        primaryKey = null;
        key = null;
        marker = null;
        object = null;
        standIn = null;
        validatingAside = false;
        readFromDisk = false;
        underLoad = false;
        pastChallenges = false;
        residents = null;
    }

    /** Until {@link #hold} what is found is theirs, and good for as long as they say. */
    public void borrowFrom(UnretainedReader borrowed) {
        residents = borrowed;
    }

    /** What was found is retained, if it was not: nothing is borrowed any more. */
    public void hold() {
        if (residents != null && object != null) {
            object.retain();
        }
        residents = null;
    }

    /** What is in RAM under the key; to be given to {@link #serve} or {@link #letGo}. */
    @Nullable
    StoredObject<StoredHead> find(CacheStore<StoredHead> store, StoreKey wanted) {
        return residents == null ? store.get(wanted) : residents.find(store, wanted);
    }

    /** Under the key lies a response that this request does not get as it is: should the origin fail, it may serve others. */
    void standIn(StoredHead stored) {
        standIn = stored;
    }

    /** The head of the stored response that an error must not replace; null without one. */
    @Nullable
    StoredHead standIn() {
        return standIn;
    }

    /** What was found is of no use. */
    void letGo(StoredObject<StoredHead> found) {
        if (residents == null) {
            found.release();
        }
    }

    /** The stamp of invalidations before anything was looked at. */
    void stamp(long before) {
        stamp = before;
    }

    Decision denied(int status, String why) {
        kind = Kind.DENIED;
        localStatus = status;
        reason = why;
        return this;
    }

    /**
     * Refused for a reason that has a name.
     *
     * @param what the reason as the log names it
     */
    Decision denied(int status, String why, String what) {
        filter = what;
        return denied(status, why);
    }

    /** Refused by a filter. */
    Decision filtered(String by) {
        return denied(403, FILTERED, by);
    }

    /** The methods that the URL takes, for an answer that names them. */
    Decision allow(String methods) {
        allow = methods;
        return this;
    }

    Decision finalRecipient(String methods) {
        kind = Kind.FINAL_RECIPIENT;
        return allow(methods);
    }

    /** The request is not for an ACME challenge that is known here. */
    public Decision passChallenges() {
        pastChallenges = true;
        return this;
    }

    boolean isPastChallenges() {
        return pastChallenges;
    }

    Decision challenge() {
        kind = Kind.CHALLENGE;
        return this;
    }

    Decision notMapped(String why) {
        kind = Kind.NOT_MAPPED;
        reason = why;
        return this;
    }

    Decision redirected(int status, String to, String why) {
        kind = Kind.REDIRECTED;
        localStatus = status;
        location = to;
        reason = why;
        return this;
    }

    Decision mapped(Mapped rule, RuledSettings settings) {
        mapped = rule;
        ruled = settings;
        return this;
    }

    /** The URL that the origin is asked for instead of the client's. */
    Decision originUrl(TargetUri url) {
        originUrl = url;
        return this;
    }

    /** The URL that the key stands for. */
    Decision keyUrl(TargetUri url) {
        keyUrl = url;
        return this;
    }

    /** Something is stored that an invalidation has outdated. */
    Decision outdated(Outdated by) {
        outdated = by;
        return this;
    }

    /** The client offers these protocols for its connection, and the rule allows them. */
    Decision upgrade(String protocols) {
        upgrade = protocols;
        return this;
    }

    Decision forward(Kind what, ForwardReason why) {
        kind = what;
        forwardReason = why;
        return this;
    }

    Decision primaryKey(StoreKey primary) {
        primaryKey = primary;
        key = primary;
        return this;
    }

    Decision variant(StoredHead variantMarker, StoreKey variantKey) {
        marker = variantMarker;
        key = variantKey;
        return this;
    }

    /** Takes over the reference, where it is not borrowed. */
    Decision serve(Kind what, StoredObject<StoredHead> found) {
        kind = what;
        object = found;
        return this;
    }

    Decision validatingAside() {
        validatingAside = true;
        return this;
    }

    Decision underLoad() {
        underLoad = true;
        return this;
    }

    /** Whether the object that answers is served for longer than it should because of overload. */
    public boolean isUnderLoad() {
        return underLoad;
    }

    Decision readFromDisk() {
        readFromDisk = true;
        return this;
    }

    /** Whether the object had to be read for this request: then it is no hit in RAM, whatever it is by now. */
    public boolean isReadFromDisk() {
        return readFromDisk;
    }

    /** Whether the object that answers is to be validated in the background (RFC 5861 s3). */
    public boolean isValidatingAside() {
        return validatingAside;
    }

    public Kind kind() {
        return kind;
    }

    public RequestHead request() {
        return request;
    }

    public boolean isMapped() {
        return mapped != null;
    }

    public Mapped mapped() {
        if (mapped == null) {
            throw new IllegalStateException("not mapped: " + kind);
        }
        return mapped;
    }

    /** What the origin is asked for, before it is mapped. */
    public TargetUri originUrl() {
        return originUrl;
    }

    /** The URL that the key stands for, which invalidations are about. */
    public TargetUri keyUrl() {
        return keyUrl;
    }

    /** Stamp of the invalidations in force when a fetch of this decision begins. */
    long stamp() {
        return stamp;
    }

    /** What has outdated the stored response, null when nothing has. */
    public @Nullable Outdated outdated() {
        return outdated;
    }

    public CacheSettings cacheSettings() {
        return ruled().settings();
    }

    /** The cache rules that match, for people; null when there are none. */
    public @Nullable String cacheRules() {
        return ruled().text();
    }

    private RuledSettings ruled() {
        if (ruled == null) {
            throw new IllegalStateException("not mapped: " + kind);
        }
        return ruled;
    }

    public FillConfig fillConfig() {
        return mapped().rule().config().cache().fill();
    }

    public int deniedStatus() {
        return localStatus;
    }

    public int redirectStatus() {
        return localStatus;
    }

    /** Where the client is sent. */
    public String location() {
        if (location == null) {
            throw new IllegalStateException("not redirected: " + kind);
        }
        return location;
    }

    /** The value of Allow in the answer; null for none. */
    public @Nullable String allow() {
        return allow;
    }

    /** The filter, or the part of the forward proxy's rules, that denied it, as the log names it; null when none did. */
    public @Nullable String filter() {
        return filter;
    }

    /** Why it is denied, redirected or not mapped. */
    public String reason() {
        return reason;
    }

    /** The protocols that the origin is offered, as Upgrade has them; null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    public ForwardReason forwardReason() {
        return forwardReason;
    }

    public @Nullable StoreKey primaryKey() {
        return primaryKey;
    }

    /** The key under which the response is, or would be, as far as is known now. */
    public StoreKey key() {
        if (key == null) {
            throw new IllegalStateException("no key: " + kind);
        }
        return key;
    }

    public @Nullable StoredHead marker() {
        return marker;
    }

    /** The object found, if any, which stays the decision's. */
    public @Nullable StoredObject<StoredHead> object() {
        return object;
    }

    /** The same request over bytes that stay: nothing else changes. */
    public void keep(RequestHead sameRequest) {
        request = sameRequest;
    }

    /** The object found, if any; the caller takes over the reference. */
    public @Nullable StoredObject<StoredHead> takeObjectOrNull() {
        StoredObject<StoredHead> found = object;
        object = null;
        return found;
    }

    /** The object found; the caller takes over the reference. */
    public StoredObject<StoredHead> takeObject() {
        StoredObject<StoredHead> found = object;
        object = null;
        if (found == null) {
            throw new IllegalStateException("no object: " + kind);
        }
        return found;
    }
}
