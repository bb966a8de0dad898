package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stored metadata of a response: times, freshness lifetime, validators, restrictions and the wire head. All values
 * are computed once, when the response is stored. A stored head describes either a response or a Vary marker, which is
 * stored under the primary key of a URL whose responses vary.
 *
 * <p>The wire head is the status line and field lines without the empty line that ends a head:
 *
 * <pre>
 * HTTP/1.1 200 OK CRLF
 * Date: Sun, 06 Nov 1994 08:49:37 GMT CRLF     the origin's, or the time of receipt
 * ...                                          all other end-to-end fields as received (RFC 9111 s3.1)
 * Content-Length: 500 CRLF                     where the length is known
 * </pre>
 *
 * The wire head lacks hop-by-hop fields, proxy authentication fields, Age and the fields with cache tags. It also lacks
 * the fields listed in {@code no-cache="..."}, in {@code private="..."} or in the configuration, and Set-Cookie unless
 * the origin or the configuration permits its reuse without validation. The writer appends Age, Via, Cache-Status and
 * Connection.
 *
 * <p>The freshness lifetime is computed with the settings in force when the response is stored. Immutable.
 *
 * <p>{@link StoredHeadCodec} documents the encoding of all fields. A new field must be added there first.
 */
public final class StoredHead {

    /** Value of an unknown length or number of seconds. */
    public static final long UNKNOWN = -1;

    /** Expiry time of an object that never expires: the largest unsigned 32-bit number. */
    public static final long NEVER_EXPIRES = 0xffff_ffffL;

    /** Value of a cached result that is not computed yet. */
    static final int NOT_COMPUTED = -2;

    static final int MUST_REVALIDATE = 1;
    static final int PROXY_REVALIDATE = 1 << 1;
    static final int NO_CACHE = 1 << 2;
    static final int SET_COOKIE = 1 << 3;
    static final int PUBLIC = 1 << 4;
    static final int IMAGE = 1 << 5;
    static final int TEXT = 1 << 6;
    static final int PURGED_SOFTLY = 1 << 7;
    /** Last-Modified does not identify the bytes of the content; see {@link #isDateWeak}. */
    static final int DATE_IS_WEAK = 1 << 8;

    /** All defined flags. A stored head with another bit is corrupt. */
    static final int FLAGS = (1 << 9) - 1;

    final boolean varyMarker;
    final int status;
    final int flags;
    final long requestTimeMillis;
    final long responseTimeMillis;
    final long initialAgeMillis;
    final long lifetimeSeconds;
    final LifetimeSource lifetimeSource;
    final long dateSeconds;
    final long lastModifiedSeconds;
    final long contentLength;
    final long staleWhileRevalidateSeconds;
    final long staleIfErrorSeconds;
    final long keepUntilSeconds;
    final long pinnedUntilSeconds;
    final long nonce;
    final long stamp;
    final Labels labels;
    final Variance variance;
    final byte[] varyValues;
    final byte[] wire;
    final int fieldsStart;
    final int etagStart;
    final int etagEnd;
    /** Wire head of a 304 response, built on first use. Racing threads may build it twice, with the same bytes. */
    private byte @Nullable [] notModified;
    /**
     * Cached result of {@link #contentTypeStart}, computed on first use. Racing threads may compute it twice, with the
     * same result.
     */
    private int contentTypeStart;
    /** Cached result of {@link #contentTypeEnd}; 0 until it is computed. */
    private int contentTypeEnd;
    /** Cached result of {@link #hasUrlFields}: 1 or 0; negative until it is computed. */
    private byte urlFieldsFound = NOT_COMPUTED;
    /**
     * Bits of the last {@link #noteDocumentMarks}; negative before the first call. Races are harmless, since all
     * threads set the same bits.
     */
    private byte documentMarks = NOT_COMPUTED;
    /**
     * Number of the last list of purged patterns that was tested without a match; 0 before the first test. Races are
     * harmless.
     */
    private int patternEpoch;
    /**
     * Number of the last state of the purges in which no purge outdated this head; 0 before the first check. Races are
     * harmless.
     */
    private int purgeEpoch;

    StoredHead(StoredHeadBuilder parts) {
        varyMarker = parts.varyMarker;
        status = parts.status;
        flags = parts.flags;
        requestTimeMillis = parts.requestTimeMillis;
        responseTimeMillis = parts.responseTimeMillis;
        initialAgeMillis = parts.initialAgeMillis;
        lifetimeSeconds = parts.lifetimeSeconds;
        lifetimeSource = parts.lifetimeSource;
        dateSeconds = parts.dateSeconds;
        lastModifiedSeconds = parts.lastModifiedSeconds;
        contentLength = parts.contentLength;
        staleWhileRevalidateSeconds = parts.staleWhileRevalidateSeconds;
        staleIfErrorSeconds = parts.staleIfErrorSeconds;
        keepUntilSeconds = parts.keepUntilSeconds;
        pinnedUntilSeconds = parts.pinnedUntilSeconds;
        nonce = parts.nonce;
        stamp = parts.stamp;
        labels = Labels.of(parts.groups, parts.tags);
        variance = parts.variance;
        varyValues = parts.varyValues;
        wire = parts.wire;
        fieldsStart = parts.fieldsStart;
        etagStart = parts.etagStart;
        etagEnd = parts.etagEnd;
        contentTypeStart = parts.contentTypeStart;
        contentTypeEnd = parts.contentTypeEnd;
    }

    /**
     * Returns the stored head of a storable response.
     *
     * @param request the request that the response answers; its values of the Vary fields are stored
     * @param requestTimeMillis time when the request was sent, in epoch milliseconds
     * @param responseTimeMillis time when the response's head arrived, in epoch milliseconds
     */
    public static StoredHead of(
            RequestHead request,
            ResponseHead response,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        return new StoredHeadBuilder()
                .response(request, response, requestTimeMillis, responseTimeMillis, settings)
                .build();
    }

    /**
     * Returns the stored head of a storable response with a stamp, as {@link #withStamp} does, but without a copy. A
     * purge outdates responses with lower stamps.
     *
     * @param url the URL of the cache key; the cache groups belong to the origin of this URL
     * @param site the site that the tags belong to; null for the host of the URL
     */
    public static StoredHead of(
            RequestHead request,
            ResponseHead response,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings,
            long newStamp,
            TargetUri url,
            @Nullable String site) {
        return new StoredHeadBuilder()
                .response(request, response, requestTimeMillis, responseTimeMillis, settings)
                .stamp(newStamp, url, site)
                .build();
    }

    /**
     * Returns the stored head after an update by a 304 or a further 206. A Set-Cookie of the update is stored only if
     * this head already has the field, because the update answered the request of one client.
     *
     * @param response the response whose fields replace the stored ones
     */
    public StoredHead updated(
            RequestHead request,
            ResponseHead response,
            long requestTimeMillis,
            long responseTimeMillis,
            CacheSettings settings) {
        return new StoredHeadBuilder()
                .updating(this)
                .response(request, response, requestTimeMillis, responseTimeMillis, settings)
                .build();
    }

    /** Returns a new Vary marker of a URL. The keys of its variants contain the nonce. */
    public static StoredHead varyMarker(Variance variance, long nonce, long nowMillis) {
        return new StoredHeadBuilder().marker(variance, nonce, nowMillis).build();
    }

    /** Returns a copy with this content length, also in the Content-Length line of the wire head. */
    public StoredHead withContentLength(long length) {
        return length == contentLength
                ? this
                : new StoredHeadBuilder().copy(this).contentLength(length).build();
    }

    /**
     * Returns a copy with the stamp of {@link Invalidations} at the time when the fetch of the response began.
     *
     * @param url the URL of the cache key; the cache groups belong to the origin of this URL
     * @param site the site that the tags belong to; null for the host of the URL
     */
    public StoredHead withStamp(long newStamp, TargetUri url, @Nullable String site) {
        return new StoredHeadBuilder().copy(this).stamp(newStamp, url, site).build();
    }

    /**
     * Returns a copy with a pin that lasts at least until {@code untilSeconds} (epoch seconds). The disk keeps a pinned
     * response even if nobody requests it. A longer existing pin stays.
     */
    public StoredHead withPin(long untilSeconds) {
        return untilSeconds <= pinnedUntilSeconds
                ? this
                : new StoredHeadBuilder().copy(this).pinnedUntil(untilSeconds).build();
    }

    /**
     * Returns a copy that was purged softly. Its lifetime has ended, so it is validated before its next use.
     *
     * @param millis end of the lifetime, in epoch milliseconds
     */
    public StoredHead withSoftPurge(long millis) {
        long age = Math.max(0, CurrentAge.seconds(this, millis));
        return isPurgedSoftly() && lifetimeSeconds <= age
                ? this
                : new StoredHeadBuilder().copy(this).purgedSoftly(age).build();
    }

    /** Returns whether the response must be validated because of {@link #withSoftPurge}. */
    public boolean isPurgedSoftly() {
        return (flags & PURGED_SOFTLY) != 0;
    }

    /** Returns a copy whose Last-Modified does not identify the bytes, because an extension may transform them. */
    public StoredHead withWeakDate() {
        return isDateWeak()
                ? this
                : new StoredHeadBuilder().copy(this).weakDate().build();
    }

    /**
     * Returns true if Last-Modified does not identify the bytes: the remap rule compresses and the content is encoded,
     * or an extension transforms the content.
     */
    public boolean isDateWeak() {
        return (flags & DATE_IS_WEAK) != 0;
    }

    /**
     * Returns true if {@link #noteCurrentIn} was last called for this state of the purges.
     *
     * @param epoch the number of the state
     */
    public boolean isCurrentIn(int epoch) {
        return purgeEpoch == epoch;
    }

    /** Remembers that no purge outdates this head, so that hits until the next purge need not look for one. */
    public void noteCurrentIn(int epoch) {
        purgeEpoch = epoch;
    }

    /**
     * Returns true if {@link #noteUnmatchedBy} was last called for this list of purged patterns.
     *
     * @param epoch the number of the list
     */
    public boolean isUnmatchedBy(int epoch) {
        return patternEpoch == epoch;
    }

    /** Remembers that no pattern of a list matches this head, so that the next hit need not test them. */
    public void noteUnmatchedBy(int epoch) {
        patternEpoch = epoch;
    }

    /**
     * Returns a copy with a shorter lifetime and further tags.
     *
     * @param lifetimeSecondsMax limit of the lifetime; {@link #UNKNOWN} for none
     * @param packedTags as {@link Tags#packed} returns them; empty for none
     * @throws IllegalArgumentException if the bytes are not tags
     */
    public StoredHead imported(long lifetimeSecondsMax, byte[] packedTags) {
        return new StoredHeadBuilder()
                .copy(this)
                .limited(lifetimeSecondsMax, packedTags)
                .build();
    }

    /**
     * Returns a copy with another lifetime and further tags.
     *
     * @param ttlSeconds the lifetime from the receipt of the response; -1 for no change
     * @param packedTags as for {@link #imported}
     */
    public StoredHead withLifetime(long ttlSeconds, byte[] packedTags) {
        return new StoredHeadBuilder()
                .copy(this)
                .lifetime(ttlSeconds)
                .limited(UNKNOWN, packedTags)
                .build();
    }

    /**
     * Returns field lines {@code Name: value} of a request that selects this response; empty without Vary.
     *
     * @return null if cookies or credentials select it, or if a selecting value cannot be written as a field line
     */
    public @Nullable List<String> selectingFields() {
        return SelectingFields.of(variance, varyValues);
    }

    /** Returns a copy of the marker with another list of variants; see {@code VariantList}. */
    public StoredHead withVariants(byte[] list) {
        return new StoredHeadBuilder().copy(this).variants(list).build();
    }

    /** Returns a copy with another Expires, in epoch seconds. */
    public StoredHead withExpires(long epochSeconds) {
        return new StoredHeadBuilder().copy(this).expires(epochSeconds).build();
    }

    /** Returns true if this is a Vary marker and no response. */
    public boolean isVaryMarker() {
        return varyMarker;
    }

    /** The status code; 0 in a Vary marker. */
    public int status() {
        return status;
    }

    /** The received reason phrase; empty when there was none. */
    public String reason() {
        // The phrase begins after "HTTP/1.1 200 " and ends before CRLF.
        int from = 13;
        int to = fieldsStart - 2;
        return to <= from ? "" : new String(wire, from, to - from, StandardCharsets.ISO_8859_1);
    }

    /** Time when the request was sent, in epoch milliseconds. */
    public long requestTimeMillis() {
        return requestTimeMillis;
    }

    /** Time when the response arrived or was last validated, in epoch milliseconds. */
    public long responseTimeMillis() {
        return responseTimeMillis;
    }

    /** The age at the time of receipt (RFC 9111 s4.2.3, {@code corrected_initial_age}). */
    public long initialAgeMillis() {
        return initialAgeMillis;
    }

    /** The freshness lifetime, from the time when the origin generated the response (RFC 9111 s4.2.1). */
    public long lifetimeSeconds() {
        return lifetimeSeconds;
    }

    public LifetimeSource lifetimeSource() {
        return lifetimeSource;
    }

    /** The current age in whole seconds, for the Age field (RFC 9111 s5.1). */
    public long currentAgeSeconds(long nowMillis) {
        return CurrentAge.seconds(this, nowMillis);
    }

    /** Seconds until the response becomes stale; negative when it is stale (the {@code ttl} of RFC 9211). */
    public long ttlSeconds(long nowMillis) {
        return lifetimeSeconds - currentAgeSeconds(nowMillis);
    }

    /**
     * Returns true if the current age is below the freshness lifetime. Reuse has further conditions, such as
     * {@code no-cache}.
     */
    public boolean isFresh(long nowMillis) {
        return lifetimeSeconds > currentAgeSeconds(nowMillis);
    }

    /** Date in epoch seconds: that of the origin, or the time of receipt. */
    public long dateSeconds() {
        return dateSeconds;
    }

    /** Last-Modified in epoch seconds; {@link HttpDates#INVALID} when it is missing or invalid. */
    public long lastModifiedSeconds() {
        return lastModifiedSeconds;
    }

    /** Returns true if there is a valid Last-Modified. */
    public boolean hasLastModified() {
        return lastModifiedSeconds != HttpDates.INVALID;
    }

    public boolean hasEntityTag() {
        return etagStart >= 0;
    }

    /** The ETag as received, or null. */
    public @Nullable String entityTag() {
        return hasEntityTag() ? new String(wire, etagStart, etagEnd - etagStart, StandardCharsets.ISO_8859_1) : null;
    }

    /** Start of the entity tag in {@link #wireBytes}; negative without one. */
    public int entityTagStart() {
        return etagStart;
    }

    /** End of the entity tag in {@link #wireBytes}, exclusive. */
    public int entityTagEnd() {
        return etagEnd;
    }

    /** Returns true if the response has a validator for conditional requests. */
    public boolean hasValidator() {
        return hasEntityTag() || hasLastModified();
    }

    /** The length of the content, or {@link #UNKNOWN}. */
    public long contentLength() {
        return contentLength;
    }

    /** Returns true if {@code must-revalidate} forbids stale serving (RFC 9111 s5.2.2.2). */
    public boolean isMustRevalidate() {
        return (flags & MUST_REVALIDATE) != 0;
    }

    /** Returns true if {@code proxy-revalidate} forbids stale serving (RFC 9111 s5.2.2.8). */
    public boolean isProxyRevalidate() {
        return (flags & PROXY_REVALIDATE) != 0;
    }

    /** Returns true if {@code no-cache} requires validation at every use (RFC 9111 s5.2.2.4). */
    public boolean isNoCache() {
        return (flags & NO_CACHE) != 0;
    }

    /** Returns true if the response has {@code public}. */
    public boolean isPublic() {
        return (flags & PUBLIC) != 0;
    }

    /** Returns true if the response was received with Set-Cookie, even if the field is not stored. */
    public boolean hasSetCookie() {
        return (flags & SET_COOKIE) != 0;
    }

    /** {@code stale-while-revalidate} in seconds, or {@link #UNKNOWN}. */
    public long staleWhileRevalidateSeconds() {
        return staleWhileRevalidateSeconds;
    }

    /** {@code stale-if-error} in seconds, or {@link #UNKNOWN}. */
    public long staleIfErrorSeconds() {
        return staleIfErrorSeconds;
    }

    /**
     * End of the time in which the response is fresh, may be served stale, or is kept for validation. In epoch seconds,
     * or {@link #NEVER_EXPIRES}.
     */
    public long keepUntilSeconds() {
        return keepUntilSeconds;
    }

    /**
     * End of the pin, in epoch seconds; 0 for no pin. Until then the disk keeps the response even if nobody requests
     * it. A pin does not extend freshness.
     */
    public long pinnedUntilSeconds() {
        return pinnedUntilSeconds;
    }

    /** The nonce for the keys of a marker's variants; 0 in a response. */
    public long nonce() {
        return nonce;
    }

    /**
     * The stamp of {@link Invalidations} when the fetch began. An invalidation with a higher stamp outdates this
     * response. 0 is lower than every stamp; records written before stamps existed have 0.
     */
    public long stamp() {
        return stamp;
    }

    /** Hashes of the response's cache groups (RFC 9875). Borrowed: do not modify. */
    public long[] groups() {
        return labels.groups();
    }

    /** The response's tags. */
    public Tags tags() {
        return labels.tags();
    }

    /** The response's cache groups and tags. */
    public Labels labels() {
        return labels;
    }

    /** The request fields that select this response (Vary). */
    public Variance variance() {
        return variance;
    }

    /** Values of the selecting request fields, or a marker's list of variants. Borrowed: do not modify. */
    public byte[] varyValues() {
        return varyValues;
    }

    /** Returns true if a request has the same values of the Vary fields as the request that this response answered. */
    public boolean selects(FieldSection requestFields) {
        return selects(requestFields, EncodingRules.NONE);
    }

    /**
     * As {@link #selects(FieldSection)}, for a rule that encodes responses. Of Accept-Encoding, only the coding that
     * the client would get is compared.
     */
    public boolean selects(FieldSection requestFields, EncodingRules encoding) {
        return variance.matches(varyValues, requestFields, encoding);
    }

    /** Length of the wire head in bytes. */
    public int wireLength() {
        return wire.length;
    }

    /** Writes the wire head, without the empty line; borrows the buffer. */
    public void writeTo(ByteBuf out) {
        out.writeBytes(wire);
    }

    /** The bytes of the wire head. Borrowed: do not modify. */
    public byte[] wireBytes() {
        return wire;
    }

    /** Start of the field lines in {@link #wireBytes}, after the status line. */
    public int fieldsStart() {
        return fieldsStart;
    }

    /** The stored fields, parsed from the wire head at every call. For validation and merging only, not for hits. */
    public FieldSection fields() {
        FieldSection fields = FieldSection.parse(wire, fieldsStart, wire.length);
        assert fields != null : "a stored head's fields are well formed";
        return fields == null ? FieldSection.EMPTY : fields;
    }

    /** Returns a copy with other fields. Lifetime, validators and restrictions stay as they were computed. */
    public StoredHead withFields(FieldSection fields) {
        return new StoredHeadBuilder().copy(this).fields(fields).build();
    }

    /**
     * Returns true if the fields include Location, Content-Location or Set-Cookie. The result is cached, since
     * reverse-map rules need it at every hit.
     */
    public boolean hasUrlFields() {
        int known = urlFieldsFound;
        if (known == NOT_COMPUTED) {
            FieldSection fields = fields();
            boolean found = fields.contains(FieldName.LOCATION)
                    || fields.contains(FieldName.CONTENT_LOCATION)
                    || fields.contains(FieldName.SET_COOKIE);
            known = found ? 1 : 0;
            urlFieldsFound = (byte) known;
        }
        return known == 1;
    }

    /** Returns the bits of the last {@link #noteDocumentMarks}; negative if it was not called. */
    public int documentMarks() {
        return documentMarks;
    }

    /** Remembers which fields mark an ESI document, as bits of a byte, so that hits need not parse the fields. */
    public void noteDocumentMarks(int bits) {
        documentMarks = (byte) bits;
    }

    /** Returns true if the media type of the origin's response is a text type. */
    public boolean isText() {
        return (flags & TEXT) != 0;
    }

    /**
     * Start of the Content-Type value in {@link #wireBytes}; -1 without one. The result is cached, since the access log
     * needs it at every hit.
     */
    public int contentTypeStart() {
        int start = contentTypeStart;
        if (start == NOT_COMPUTED) {
            FieldSection fields = fields();
            int line = fields.find(FieldName.CONTENT_TYPE);
            start = line < 0 ? -1 : fields.valueStart(line);
            contentTypeStart = start;
        }
        return start;
    }

    /**
     * End of the Content-Type value, before the trailing white space and the line end.
     *
     * @param start result of {@link #contentTypeStart}, not -1
     */
    public int contentTypeEnd(int start) {
        int end = contentTypeEnd;
        if (end == 0) {
            end = start;
            while (wire[end] != '\r') {
                end++;
            }
            end = FieldLexer.trimEnd(wire, start, end);
            contentTypeEnd = end;
        }
        return end;
    }

    /**
     * The wire head of a 304 response. Of the representation metadata it has only the fields that guide the client's
     * cache (RFC 9110 s15.4.5). Borrowed: do not modify.
     */
    public byte[] notModifiedBytes() {
        byte[] bytes = notModified;
        if (bytes == null) {
            bytes = WireHeads.notModified(fields(), hasEntityTag());
            notModified = bytes;
        }
        return bytes;
    }

    /**
     * The wire head of a 206 with one range of the content (RFC 9110 s15.3.7), including Content-Range and
     * Content-Length.
     *
     * @param first position of the range's first byte
     * @param last position of its last byte
     * @param length length of the whole content
     */
    public byte[] partialBytes(long first, long last, long length) {
        return WireHeads.partial(fields(), first, last, length);
    }

    /** Approximate bytes of heap that this head retains, for the RAM tier's budget. */
    public int heapBytes() {
        int names = 64 * variance.names().size();
        // The object with about 25 fields and two array headers needs about 256 bytes. The cached head of a 304 needs
        // about half of the length of the wire head.
        return 256
                + names
                + (labels.groups().length == 0 ? 0 : 40 + 8 * labels.groups().length)
                + labels.tags().heapBytes()
                + varyValues.length
                + wire.length
                + wire.length / 2;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof StoredHead that
                        && Arrays.equals(StoredHeadCodec.bytes(this), StoredHeadCodec.bytes(that)));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(wire) * 31 + Long.hashCode(responseTimeMillis ^ nonce);
    }

    @Override
    public String toString() {
        return varyMarker
                ? "vary marker " + variance + " nonce " + Long.toHexString(nonce)
                : status + " lifetime " + lifetimeSeconds + " s by " + lifetimeSource.text();
    }
}
