package io.millrace.proxy.exchange.report;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.field.CacheStatus;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.observe.field.ViaCodes;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.purge.record.PurgeId;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The source of a response (the cache, an origin, or this proxy itself), with the reason. Cache-Status (RFC 9211), the
 * codes of Via and the access log report these values. The fast lane (a short code path for hits in RAM) reuses one
 * object for all requests that it answers.
 *
 * <p>Confined to one event loop.
 */
public final class CacheOutcome {
    /** Version of the origin's response if there is none. */
    public static final int UNKNOWN_VERSION = -1;

    /** Cache-Status detail of a response that is made from a stored variant in another coding. */
    private static final String FROM_OTHER_ENCODING = "from-other-encoding";

    /** Cache-Status detail of a response that is served stale because of {@code cache.stale_despite_s_maxage}. */
    private static final String DESPITE_S_MAXAGE = "stale-despite-s-maxage";

    private CacheResult result = CacheResult.NONE;
    private @Nullable ForwardReason forwardReason;
    private LogOutcome logOutcome = LogOutcome.OK;
    /** Stamp (increasing number) of the purge that has outdated the stored response; 0 for none. */
    private long purgeStamp;

    private @Nullable String detail;
    private long staleSinceMillis = -1;
    private @Nullable CacheSettings settings;
    private @Nullable String cacheRules;
    /** True if a request was sent to an origin for this exchange. */
    private boolean wentToOrigin;
    /** True if another exchange's fetch delivered the response. */
    private boolean collapsed;

    private boolean stored;
    private boolean fromRam;
    /** True if the stored response was read from disk for this request. */
    private boolean fromDisk;

    private int originStatus;
    private int originVersion = UNKNOWN_VERSION;

    /** Resets all fields for another request. */
    public void begin() {
        result = CacheResult.NONE;
        forwardReason = null;
        logOutcome = LogOutcome.OK;
        purgeStamp = 0;
        detail = null;
        staleSinceMillis = -1;
        settings = null;
        cacheRules = null;
        wentToOrigin = false;
        collapsed = false;
        stored = false;
        fromRam = false;
        fromDisk = false;
        originStatus = 0;
        originVersion = UNKNOWN_VERSION;
    }

    /**
     * Sets the settings of the request.
     *
     * @param rules the matching cache rules; null for none
     */
    public void mapped(CacheSettings newSettings, @Nullable String rules) {
        settings = newSettings;
        cacheRules = rules;
    }

    /** Notes that the stored response was read from disk for this request. */
    public void markReadFromDisk() {
        fromDisk = true;
    }

    /** Notes that an invalidation with this stamp has outdated the stored response. */
    public void outdated(Outdated invalidation, long stampOfPurge) {
        detail = invalidation.detail();
        purgeStamp = stampOfPurge;
    }

    /** Notes that the request goes to an origin. */
    public void forwarded(ForwardReason reason) {
        forwardReason = reason;
        result = CacheResults.of(reason);
        wentToOrigin = true;
    }

    /**
     * Notes the response of an origin.
     *
     * @param version minor version of HTTP/1, or 2
     * @param fromOthersFetch whether the fetch of another exchange delivered it
     * @param isStored whether it is being stored
     */
    public void fetched(int status, int version, boolean fromOthersFetch, boolean isStored) {
        originStatus = status;
        originVersion = version;
        collapsed = fromOthersFetch;
        stored = isStored;
    }

    /** Notes an origin's 304, which confirms the stored response; {@code version} as for {@link #fetched}. */
    public void confirmed(boolean byOthersFetch, int version) {
        originStatus = 304;
        originVersion = version;
        collapsed = byOthersFetch;
    }

    /**
     * Notes an origin's partial response that is written to the store in blocks (parts of fixed size). The client gets
     * the content from these blocks.
     *
     * @param version minor version of HTTP/1, or 2
     * @param isStored whether the response is being stored
     */
    public void storedInBlocks(int status, int version, boolean isStored) {
        originStatus = status;
        originVersion = version;
        stored = isStored;
    }

    /** Notes that the response is a stored variant in another coding: the request did not go to the origin. */
    public void madeFromVariant() {
        wentToOrigin = false;
        forwardReason = null;
        result = CacheResult.HIT;
        detail = FROM_OTHER_ENCODING;
    }

    /** Notes whether the fetch of another exchange delivers the response, or its missing parts. */
    public void collapsed(boolean byOthersFetch) {
        collapsed = byOthersFetch;
    }

    /** Notes the origin's status for the missing parts of a stored response. */
    public void originAnswered(int status) {
        originStatus = status;
    }

    /** Notes that the connection becomes a tunnel; {@code statusOfOrigin} is 0 if no origin answered. */
    public void switched(int statusOfOrigin) {
        originStatus = statusOfOrigin;
        originVersion = statusOfOrigin == 0 ? UNKNOWN_VERSION : 1;
    }

    /** Notes that a stored response is sent; {@code resident} is true if its content is in RAM. */
    public void stored(CacheResult cacheResult, boolean resident) {
        result = cacheResult;
        fromRam = resident && !fromDisk;
    }

    /**
     * Notes that a stale response is served.
     *
     * @param reason identifier of the reason; null if directives of the client or the response permit it
     */
    public void stale(@Nullable String reason, StoredHead head) {
        detail = reason;
        purgeStamp = 0;
        logOutcome = LogOutcome.OK;
        CacheSettings current = settings;
        if (current != null && StaleServing.isDespiteSharedMaxAge(head, current)) {
            detail = reason == null ? DESPITE_S_MAXAGE : reason + ", " + DESPITE_S_MAXAGE;
        }
    }

    /**
     * Sets the time since which the response is stale because of a soft invalidation, in epoch milliseconds; -1 for
     * none.
     */
    public void staleSince(long millis) {
        staleSinceMillis = millis;
    }

    /** Sets the detail: an identifier for Cache-Status and the log. */
    public void detail(String identifier) {
        detail = identifier;
    }

    /** Adds an identifier to the detail. */
    public void addDetail(String identifier) {
        detail = detail == null ? identifier : detail + ", " + identifier;
    }

    /** Returns true if there is a detail. */
    public boolean hasDetail() {
        return detail != null;
    }

    /** Notes a failure, with the identifier of its reason. */
    public void failed(String identifier, LogOutcome outcome) {
        detail = identifier;
        logOutcome = outcome;
    }

    /**
     * Notes a response that this proxy generates.
     *
     * @param reason identifier of the reason; null to keep the detail
     */
    public void answeredLocally(ExchangeOutcome outcome, @Nullable String reason) {
        detail = reason == null ? detail : reason;
        if (outcome == ExchangeOutcome.DENIED) {
            logOutcome = LogOutcome.DENIED;
        } else if (outcome == ExchangeOutcome.NOT_OFFERED) {
            logOutcome = LogOutcome.UNSUPPORTED;
        } else if (outcome == ExchangeOutcome.STORE_WRITE) {
            logOutcome = LogOutcome.DISK_FAILED;
        } else if (outcome == ExchangeOutcome.NOT_MAPPED) {
            logOutcome = LogOutcome.INVALID_URL;
        } else if (outcome == ExchangeOutcome.BAD_REQUEST) {
            logOutcome = LogOutcome.CLIENT_READ_FAILED;
        }
    }

    /** Notes the end of the exchange. */
    public void ended(ExchangeOutcome outcome) {
        if (outcome == ExchangeOutcome.CLIENT_GONE) {
            logOutcome = LogOutcome.CLIENT_ABORTED;
        } else if (outcome == ExchangeOutcome.STORE_READ) {
            logOutcome = LogOutcome.DISK_FAILED;
        } else if (outcome == ExchangeOutcome.TRUNCATED) {
            logOutcome = LogOutcome.ORIGIN_READ_FAILED;
        }
    }

    /** Writes Cache-Status of a stored response. */
    public void writeStored(ByteBuf value, CacheStatus cacheStatus, StoredHead from, long nowMillis) {
        long ttl = settings == null
                ? from.ttlSeconds(nowMillis)
                : -StaleServing.staleSeconds(from, nowMillis, settings, staleSinceMillis);
        if (forwardReason == null && detail == null && cacheRules == null && !collapsed) {
            cacheStatus.hit(value, ttl);
            return;
        }
        if (result == CacheResult.STALE || forwardReason == null) {
            cacheStatus.hit(value);
        } else {
            cacheStatus.forwarded(value, forwardReason);
            writeForwarded(value);
        }
        CacheStatus.ttl(value, ttl);
        finish(value);
    }

    /** Writes Cache-Status of an origin's response. */
    public void writeFetched(ByteBuf value, CacheStatus cacheStatus) {
        if (result == CacheResult.HIT) {
            cacheStatus.hit(value);
        } else {
            cacheStatus.forwarded(value, forwardReason == null ? ForwardReason.MISS : forwardReason);
        }
        writeForwarded(value);
        finish(value);
    }

    /** Writes Cache-Status of a response that this proxy generates, if a check denied the request. */
    public void writeLocal(ByteBuf value, CacheStatus cacheStatus) {
        if (detail != null && logOutcome == LogOutcome.DENIED) {
            cacheStatus.local(value);
            CacheStatus.detail(value, detail);
        }
    }

    /** Appends the origin's status, and whether the response is stored. */
    private void writeForwarded(ByteBuf value) {
        if (originStatus != 0) {
            CacheStatus.forwardStatus(value, originStatus);
        }
        if (stored && !collapsed) {
            CacheStatus.stored(value);
        }
    }

    /** Appends the parameters that do not depend on the source of the response. */
    private void finish(ByteBuf value) {
        if (collapsed) {
            CacheStatus.collapsed(value);
        }
        String text = detailAndRules();
        if (text != null) {
            CacheStatus.detail(value, text);
        }
        if (purgeStamp != 0) {
            CacheStatus.purgedBy(value, PurgeId.ofStamp(purgeStamp));
        }
    }

    /** Sets the codes of Via for lookup, origin and error of a response with this status. */
    public void setCodes(ViaCodes codes, int status) {
        boolean failed = logOutcome != LogOutcome.OK && wentToOrigin;
        ViaLetters.cache(codes, result, fromRam, collapsed, status);
        ViaLetters.origin(codes, result, originStatus, stored && !collapsed, failed);
        codes.set(ViaCodes.Part.ERROR, ViaLetters.error(logOutcome));
    }

    /** Returns the detail of the outcome and the matching cache rules; null when there is neither. */
    public @Nullable String detailAndRules() {
        if (detail == null || cacheRules == null) {
            return detail == null ? cacheRules : detail;
        }
        return detail + ", " + cacheRules;
    }

    /** The result for counters and logs. */
    public CacheResult result() {
        return result;
    }

    /** The outcome for logs. */
    public LogOutcome logOutcome() {
        return logOutcome;
    }

    /** The matching cache rules; null for none. */
    public @Nullable String cacheRules() {
        return cacheRules;
    }

    /** Returns true if the request goes to an origin for a reason that Cache-Status names. */
    public boolean isForwarded() {
        return forwardReason != null;
    }

    /** Returns true if a request was sent to an origin for this exchange. */
    public boolean wentToOrigin() {
        return wentToOrigin;
    }

    /** Returns true if the fetch of another exchange delivered the response. */
    public boolean isCollapsed() {
        return collapsed;
    }

    /** Returns true if the content was in RAM when the request came. */
    public boolean isFromRam() {
        return fromRam;
    }

    /** Returns true if the stored response was read from disk for this request. */
    public boolean isFromDisk() {
        return fromDisk;
    }

    /** Status of the origin's response; 0 for none. */
    public int originStatus() {
        return originStatus;
    }

    /** Minor version of the origin's HTTP/1, or 2; {@link #UNKNOWN_VERSION} for none. */
    public int originVersion() {
        return originVersion;
    }
}
