package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.key.FillConfig;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.extension.HookChain;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.remap.EffectiveCacheSettings;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.rules.RuleProgram;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The decision about one request, with the stored objects that were found. {@link RequestDecider} sets its values, for
 * the fast lane (a short code path for hits in RAM) and for full exchanges. The fast lane reuses one decision for all
 * requests that it answers.
 *
 * <p>Confined to one event loop.
 */
public final class Decision {
    private static final byte[] NO_BODY = {};

    /** Reason text for a client whose request a filter denies. */
    public static final String FILTERED = "a filter of this proxy refuses the request";

    private RequestHead request;
    private DecisionKind kind = DecisionKind.PASS;
    private @Nullable Mapped mapped;
    private @Nullable EffectiveCacheSettings effectiveSettings;
    private TargetUri originUrl;
    private TargetUri keyUrl;
    private long lookupStamp;
    private @Nullable Outdated outdated;
    private long outdatingStamp;
    private @Nullable LocalAnswer local;
    private boolean uncounted;
    private int rule = AccessRules.NO_RULE;
    /** The changes of the request by this proxy; null for none. */
    private @Nullable RequestChanges changes;

    private @Nullable CredentialCheck check;
    private List<CredentialCheck.Checked> checked = List.of();

    private @Nullable String upgrade;
    private ForwardReason forwardReason = ForwardReason.BYPASS;
    private @Nullable StoreKey primaryKey;
    private @Nullable StoreKey key;
    private @Nullable StoredHead marker;
    private @Nullable StoredObject<StoredHead> object;
    private @Nullable StoredHead fallbackHead;
    private boolean validatingInBackground;
    private boolean readFromDisk;
    private boolean underLoad;
    private boolean noAcmeChallenge;
    private @Nullable RuleProgram rules;
    private @Nullable Rewrite rewrite;
    private @Nullable ExchangeTrace trace;
    private @Nullable RequestHooks hooks;
    private @Nullable HookChain constantFieldHooks;
    /** Name of the branch of the canary split; null for none. */
    private @Nullable String branch;
    /** The changes of the CORS fields of the response; null for none. */
    private @Nullable FieldEdits cors;

    private int random;
    private long decidedMillis;
    /** Finds objects in RAM without a reference; null when each found object is retained. */
    private @Nullable UnretainedReader unretainedReader;

    public Decision(RequestHead request) {
        this.request = request;
        this.originUrl = request.target();
        this.keyUrl = request.target();
    }

    /** Resets all fields for another request. */
    public void begin(RequestHead newRequest) {
        request = newRequest;
        kind = DecisionKind.PASS;
        mapped = null;
        effectiveSettings = null;
        originUrl = newRequest.target();
        keyUrl = newRequest.target();
        lookupStamp = 0;
        outdated = null;
        outdatingStamp = 0;
        local = null;
        uncounted = false;
        rule = AccessRules.NO_RULE;
        changes = null;
        check = null;
        checked = List.of();
        upgrade = null;
        forwardReason = ForwardReason.BYPASS;
        primaryKey = null;
        key = null;
        marker = null;
        object = null;
        fallbackHead = null;
        validatingInBackground = false;
        readFromDisk = false;
        underLoad = false;
        noAcmeChallenge = false;
        rules = null;
        rewrite = null;
        cors = null;
        branch = null;
        random = 0;
        decidedMillis = 0;
        unretainedReader = null;
        trace = null;
        hooks = null;
        constantFieldHooks = null;
    }

    /** Sets the hooks of extensions for the request; null if its rule has none. */
    public Decision hooks(@Nullable RequestHooks newHooks) {
        hooks = newHooks;
        return this;
    }

    /** The hooks of extensions for the request; null if its rule has none. */
    public @Nullable RequestHooks hooks() {
        return hooks;
    }

    /** Sets the name of the branch of the canary split. */
    Decision branch(String name) {
        branch = name;
        return this;
    }

    /** Name of the branch of the canary split; null if the request goes to the rule's own origin. */
    public @Nullable String canaryBranch() {
        return branch;
    }

    /** Sets the changes of the CORS fields of the response. */
    Decision cors(@Nullable FieldEdits changes) {
        cors = changes;
        return this;
    }

    /** The changes of the CORS fields of any response to the request; null if the origin determines the CORS fields. */
    public @Nullable FieldEdits cors() {
        return cors;
    }

    /** Sets the hooks of extensions that only set constant fields in the response. */
    void constantFieldHooks(HookChain chain) {
        constantFieldHooks = chain;
    }

    /** The extensions that only set constant fields in the response; null for none, and if there are {@link #hooks}. */
    public @Nullable HookChain constantFieldHooks() {
        return constantFieldHooks;
    }

    /** Sets the kind, for kinds that need no other values. */
    Decision kind(DecisionKind newKind) {
        kind = newKind;
        return this;
    }

    /** Sets the trace of the request, which also covers its requests to origins; null if it is not traced. */
    public void trace(@Nullable ExchangeTrace newTrace) {
        trace = newTrace;
    }

    /** The trace of the request; null if it is not traced. */
    public @Nullable ExchangeTrace trace() {
        return trace;
    }

    /**
     * Finds objects through {@code reader}, without a reference, until {@link #retainBorrowed} is called. Such an
     * object is valid only until {@link UnretainedReader#end}.
     */
    public void borrowFrom(UnretainedReader reader) {
        unretainedReader = reader;
    }

    /** Retains the found object if it is borrowed. After this call the decision borrows nothing. */
    public void retainBorrowed() {
        if (unretainedReader != null && object != null) {
            object.retain();
        }
        unretainedReader = null;
    }

    /** Returns the object in RAM under the key; null for none. Pass it to {@link #serve} or {@link #releaseUnused}. */
    @Nullable
    StoredObject<StoredHead> find(CacheStore<StoredHead> store, StoreKey wanted) {
        return unretainedReader == null ? store.get(wanted) : unretainedReader.find(store, wanted);
    }

    /**
     * Records a stored response that may answer other requests, but not this request. Therefore an error of the origin
     * must not replace the stored response.
     */
    void fallbackHead(StoredHead stored) {
        fallbackHead = stored;
    }

    /** The head of the stored response that an error must not replace; null without one. */
    @Nullable
    StoredHead fallbackHead() {
        return fallbackHead;
    }

    /** Releases a found object that is not usable. */
    void releaseUnused(StoredObject<StoredHead> found) {
        if (unretainedReader == null) {
            found.release();
        }
    }

    /** Sets the newest purge stamp (an increasing number) before the first lookup. */
    void lookupStamp(long stamp) {
        lookupStamp = stamp;
    }

    private Decision local(DecisionKind newKind, LocalAnswer answer) {
        kind = newKind;
        local = answer;
        return this;
    }

    /** The answer of this proxy, if the kind has one. */
    public LocalAnswer local() {
        if (local == null) {
            throw new IllegalStateException("no local answer: " + kind);
        }
        return local;
    }

    /** The answer of this proxy; null if the kind has none. */
    public @Nullable LocalAnswer localOrNull() {
        return local;
    }

    /** Denies the request; {@code reason} is the text for the client. */
    Decision denied(int status, String reason) {
        return local(DecisionKind.DENIED, LocalAnswer.denied(status, reason, null));
    }

    /** Denies the request. The log calls the reason {@code check}. */
    Decision denied(int status, String reason, String check) {
        return local(DecisionKind.DENIED, LocalAnswer.denied(status, reason, check));
    }

    /**
     * Denies the request with additional fields.
     *
     * @param fields fields of the response; they replace fields of this proxy with the same names
     */
    Decision denied(int status, String reason, String check, FieldSection fields) {
        return denied(status, reason, check, fields, NO_BODY);
    }

    /**
     * Denies the request with the response of another server.
     *
     * @param fields fields of the response
     * @param body content of the response, which the caller must not change; empty to send a line or an error page of
     *     this proxy
     */
    Decision denied(int status, String reason, String check, FieldSection fields, byte[] body) {
        return local(DecisionKind.DENIED, LocalAnswer.denied(status, reason, check, fields, body));
    }

    /** Notes that request limits do not count the request: it was counted before, or this is a dry run. */
    public Decision withoutCounting() {
        uncounted = true;
        return this;
    }

    /** Sets the index of the remap rule for the URL. The rule may be a redirect rule. */
    void rule(int index) {
        rule = index;
    }

    /** Index of the remap rule for the URL, also if the request was refused; negative for none. */
    public int rule() {
        return rule;
    }

    boolean isUncounted() {
        return uncounted;
    }

    /** Denies the request by a filter. */
    Decision filtered(String filter) {
        return denied(403, FILTERED, filter);
    }

    /** Sets the methods that the URL supports, for the Allow field of the local answer. */
    Decision allow(String methods) {
        local = local().allow(methods);
        return this;
    }

    /** Answers OPTIONS or TRACE in the origin's place, with the methods that the URL supports. */
    Decision finalRecipient(String methods) {
        return local(DecisionKind.FINAL_RECIPIENT, LocalAnswer.finalRecipient(methods));
    }

    /** Notes that this proxy knows no ACME challenge for the request. */
    public Decision markNoAcmeChallenge() {
        noAcmeChallenge = true;
        return this;
    }

    boolean isNoAcmeChallenge() {
        return noAcmeChallenge;
    }

    /** Notes that the request may be an ACME challenge, whose answer must be looked up first. */
    Decision challenge() {
        kind = DecisionKind.CHALLENGE;
        return this;
    }

    /** Notes that no remap rule maps the URL. */
    Decision notMapped(String reason) {
        return local(DecisionKind.NOT_MAPPED, LocalAnswer.notMapped(reason));
    }

    /** Redirects the client; {@code reason} is the identifier in the log. */
    Decision redirected(int status, String location, String reason) {
        return local(DecisionKind.REDIRECTED, LocalAnswer.redirected(status, location, reason));
    }

    /**
     * Sets the rules that apply to the request.
     *
     * @param number random number for their conditions, from 0 to 99
     * @param millis time of the decision, in epoch milliseconds
     */
    Decision rules(RuleProgram program, int number, long millis) {
        rules = program;
        random = number;
        decidedMillis = millis;
        return this;
    }

    /** The rules that apply to the request; null if the configuration has none. */
    public @Nullable RuleProgram rules() {
        return rules;
    }

    Decision rewrite(@Nullable Rewrite newRewrite) {
        rewrite = newRewrite;
        return this;
    }

    /** The rewrite of the URL for the origin; null for none. */
    @Nullable
    Rewrite rewrite() {
        return rewrite;
    }

    /** Returns the complete URL to request from the origin. */
    public byte[] originUrlBytes() {
        byte[] url = mapped().originUrlBytes(originUrl);
        return rewrite == null ? url : rewrite.applyTo(url);
    }

    /** The random number for conditions of rules, from 0 to 99. */
    public int random() {
        return random;
    }

    /** The time of the decision if there are rules, in epoch milliseconds. */
    public long decidedMillis() {
        return decidedMillis;
    }

    /**
     * Ends the request with the answer of a rule.
     *
     * @param rule name of the rule
     */
    Decision answered(RuleConfig.Answer answer, String rule) {
        return local(DecisionKind.ANSWERED, LocalAnswer.ofRule(answer, rule));
    }

    /** Sets the mapping of the URL, and the cache settings for the request. */
    Decision mapped(Mapped rule, EffectiveCacheSettings settings) {
        mapped = rule;
        effectiveSettings = settings;
        return this;
    }

    /** Replaces the origin of the rule. */
    Decision origin(Mapped chosen) {
        mapped = chosen;
        return this;
    }

    /** Sets the URL to request from the origin instead of the client's URL. */
    Decision originUrl(TargetUri url) {
        originUrl = url;
        return this;
    }

    /** Sets the URL of the cache key. */
    Decision keyUrl(TargetUri url) {
        keyUrl = url;
        return this;
    }

    /**
     * Notes that an invalidation has outdated the stored response.
     *
     * @param stampOfPurge stamp of the invalidation; 0 when not known
     */
    Decision outdated(Outdated invalidation, long stampOfPurge) {
        outdated = invalidation;
        outdatingStamp = stampOfPurge;
        return this;
    }

    /** Sets the offered protocols (Upgrade) that the rule allows. */
    Decision upgrade(String protocols) {
        upgrade = protocols;
        return this;
    }

    /** Sets the kind of a request that goes to an origin, with the reason for Cache-Status. */
    Decision forward(DecisionKind newKind, ForwardReason reason) {
        kind = newKind;
        forwardReason = reason;
        return this;
    }

    /** Sets the primary key of the URL. */
    Decision primaryKey(StoreKey primary) {
        primaryKey = primary;
        key = primary;
        return this;
    }

    /** Sets the Vary marker that was found, and the key of the variant that the request selects. */
    Decision variant(StoredHead variantMarker, StoreKey variantKey) {
        marker = variantMarker;
        key = variantKey;
        return this;
    }

    /** Serves the found object. Takes over the reference, unless the object is borrowed. */
    Decision serve(DecisionKind newKind, StoredObject<StoredHead> found) {
        kind = newKind;
        object = found;
        return this;
    }

    /** Notes that the served object must be validated in the background. */
    Decision markForBackgroundValidation() {
        validatingInBackground = true;
        return this;
    }

    /** Notes that overload is the reason why the object is served stale. */
    Decision markUnderLoad() {
        underLoad = true;
        return this;
    }

    /** Returns true if overload is the reason why the object is served stale. */
    public boolean isUnderLoad() {
        return underLoad;
    }

    /** Notes that the object was read from disk for this request. */
    Decision markReadFromDisk() {
        readFromDisk = true;
        return this;
    }

    /**
     * Returns true if the object was read from disk for this request. If so, the request is no RAM hit, even if the
     * object is in RAM now.
     */
    public boolean isReadFromDisk() {
        return readFromDisk;
    }

    /** Returns true if the served object must be validated in the background (RFC 5861 s3). */
    public boolean isValidatingInBackground() {
        return validatingInBackground;
    }

    public DecisionKind kind() {
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

    /** The URL to request from the origin, before the remap rule is applied. */
    public TargetUri originUrl() {
        return originUrl;
    }

    /** The URL of the cache key, to which invalidations refer. */
    public TargetUri keyUrl() {
        return keyUrl;
    }

    /** The newest purge stamp (an increasing number) before the first lookup. Fetches store their responses with it. */
    long lookupStamp() {
        return lookupStamp;
    }

    /** Stamp of the purge that has outdated the stored response; 0 for none or when not known. */
    public long outdatingStamp() {
        return outdatingStamp;
    }

    /** The invalidation that has outdated the stored response; null for none. */
    public @Nullable Outdated outdated() {
        return outdated;
    }

    public CacheSettings cacheSettings() {
        return effectiveSettings().settings();
    }

    /** Description of the matching cache rules; null when there are none. */
    public @Nullable String cacheRules() {
        return effectiveSettings().text();
    }

    private EffectiveCacheSettings effectiveSettings() {
        if (effectiveSettings == null) {
            throw new IllegalStateException("not mapped: " + kind);
        }
        return effectiveSettings;
    }

    public FillConfig fillConfig() {
        return mapped().rule().config().cache().fill();
    }

    /** The Upgrade field for the origin; null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    public ForwardReason forwardReason() {
        return forwardReason;
    }

    public @Nullable StoreKey primaryKey() {
        return primaryKey;
    }

    /** The best known store key of the response: the variant's key, or the primary key while no variant is known. */
    public StoreKey key() {
        if (key == null) {
            throw new IllegalStateException("no key: " + kind);
        }
        return key;
    }

    /**
     * The Vary marker that was found: the record of the request fields that select a response of the URL. Null for
     * none.
     */
    public @Nullable StoredHead marker() {
        return marker;
    }

    /** The found object, if any. The decision keeps the reference. */
    public @Nullable StoredObject<StoredHead> object() {
        return object;
    }

    /** Replaces the request by an equal one whose bytes stay valid. Nothing else changes. */
    public void replaceRequest(RequestHead sameRequest) {
        request = changes == null ? sameRequest : changes.applyTo(sameRequest);
    }

    /** Sets the check of credentials that must end before the request continues. */
    Decision authenticate(CredentialCheck needed) {
        kind = DecisionKind.AUTHENTICATE;
        check = needed;
        return this;
    }

    /** The check of credentials that must end before the request continues. */
    public CredentialCheck credentialCheck() {
        if (check == null) {
            throw new IllegalStateException("no credentials: " + kind);
        }
        return check;
    }

    /** Sets the results of the checks of the request's credentials. */
    Decision checked(List<CredentialCheck.Checked> results) {
        checked = results;
        return this;
    }

    /** The results of the checks of the request's credentials. */
    public List<CredentialCheck.Checked> checked() {
        return checked;
    }

    /** Returns the result of the check with this digest; null if no such check has ended. */
    CredentialCheck.@Nullable Result checkResult(CredentialDigest digest) {
        for (CredentialCheck.Checked one : checked) {
            if (one.digest().equals(digest)) {
                return one.result();
            }
        }
        return null;
    }

    private RequestChanges changes() {
        if (changes == null) {
            changes = new RequestChanges();
        }
        return changes;
    }

    /** Changes the fields of the request, for this proxy and for the origin. */
    void change(UnaryOperator<RequestHead> next) {
        request = changes().change(request, next);
    }

    /** Removes the credentials, which are for this proxy only, so that stored responses are shared by all users. */
    void removeCredentials() {
        request = changes().removeCredentials(request);
    }

    /**
     * Removes the signature from the URL of the request, so that neither cache keys nor origins contain it.
     *
     * @param url the URL without the signature
     */
    void removeSignature(TargetUri url) {
        request = changes().removeSignature(request, url);
        originUrl = url;
        keyUrl = url;
    }

    /** Returns the found object, if any. The caller takes over the reference. */
    public @Nullable StoredObject<StoredHead> takeObjectOrNull() {
        StoredObject<StoredHead> found = object;
        object = null;
        return found;
    }

    /** Returns the found object. The caller takes over the reference. */
    public StoredObject<StoredHead> takeObject() {
        StoredObject<StoredHead> found = object;
        object = null;
        if (found == null) {
            throw new IllegalStateException("no object: " + kind);
        }
        return found;
    }
}
