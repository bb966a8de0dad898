package io.millrace.proxy.caching;

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
import org.jspecify.annotations.Nullable;

/**
 * What is stored beside a response's content, with everything decided once: times, freshness lifetime, validators,
 * restrictions, and the head as it goes onto the wire. Of two kinds: a response, or the marker under the primary key of
 * a URL whose responses vary.
 *
 * <p>The wire head is status line and field lines without the empty line that ends a head:
 *
 * <pre>
 * HTTP/1.1 200 OK CRLF
 * Date: Sun, 06 Nov 1994 08:49:37 GMT CRLF     the origin's, or the time of receipt
 * ...                                          all other end-to-end fields as they came (RFC 9111 s3.1)
 * Content-Length: 500 CRLF                     where the length is known
 * </pre>
 *
 * It lacks hop-by-hop fields, those of proxy authentication, Age, the fields of tags, the fields that {@code no-cache="..."}, {@code
 * private="..."} or an operator name, and Set-Cookie where the response may not be shared without asking; the writer appends Age, Via, Cache-Status and Connection.
 *
 * <p>Lifetimes are those of the settings at the time of storing. Immutable.
 */
public final class StoredHead {

    /** Stands for a length or a number of seconds that is not known. */
    public static final long UNKNOWN = -1;

    /** The time of expiry of what never expires: the largest unsigned 32-bit number. */
    public static final long NEVER_EXPIRES = 0xffff_ffffL;

    private static final int NOT_LOOKED_FOR = -2;

    static final int MUST_REVALIDATE = 1;
    static final int PROXY_REVALIDATE = 1 << 1;
    static final int NO_CACHE = 1 << 2;
    static final int SET_COOKIE = 1 << 3;
    static final int PUBLIC = 1 << 4;
    static final int IMAGE = 1 << 5;
    static final int TEXT = 1 << 6;
    static final int FLAGS = (1 << 7) - 1;

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
    /** Built at the first 304; a race builds it twice, to the same bytes. */
    private byte @Nullable [] notModified;
    /** Found at the first hit that asks; a race finds it twice. */
    private int contentTypeStart = NOT_LOOKED_FOR;
    /** Found likewise; 0 before. */
    private int contentTypeEnd;
    /** 1 or 0, found likewise. */
    private int urls = NOT_LOOKED_FOR;

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
    }

    /**
     * The stored head of a storable response.
     *
     * @param request the request that it answers, whose values of the Vary fields are kept
     * @param requestTimeMillis when the request was sent, in epoch milliseconds
     * @param responseTimeMillis when the response's head arrived, in epoch milliseconds
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
     * The head of a stored response after an update that came for one client, a 304 or another part: as {@link #of}, but without
     * Set-Cookie, unless this has it already.
     *
     * @param response with the fields that are stored from now on
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

    /**
     * The marker of a URL whose responses vary: the request fields that select, and the nonce of its variants' keys.
     */
    public static StoredHead varyMarker(Variance variance, long nonce, long nowMillis) {
        return new StoredHeadBuilder().marker(variance, nonce, nowMillis).build();
    }

    /** The same head with the length of the content, now that it is known; the wire head says it too. */
    public StoredHead withContentLength(long length) {
        return length == contentLength
                ? this
                : new StoredHeadBuilder().copy(this).contentLength(length).build();
    }

    /**
     * The same head of a response that was asked for under that stamp of {@link Invalidations}.
     *
     * @param url the URL that its key stands for, whose origin its cache groups are of
     * @param site the site that its tags are of; null for the host of the URL
     */
    public StoredHead withStamp(long number, TargetUri url, @Nullable String site) {
        return new StoredHeadBuilder().copy(this).stamp(number, url, site).build();
    }

    /** The same head, pinned at least until then, in epoch seconds: a pin is not shortened. */
    public StoredHead withPin(long untilSeconds) {
        return untilSeconds <= pinnedUntilSeconds
                ? this
                : new StoredHeadBuilder().copy(this).pinnedUntil(untilSeconds).build();
    }

    /** The same marker with another list of variants, see {@code VariantList}. */
    public StoredHead withVariants(byte[] list) {
        return new StoredHeadBuilder().copy(this).variants(list).build();
    }

    /** The same head with another Expires, in epoch seconds; nothing else of it changes. */
    public StoredHead withExpires(long epochSeconds) {
        return new StoredHeadBuilder().copy(this).expires(epochSeconds).build();
    }

    /** Whether this is the marker of a URL whose responses vary, and no response. */
    public boolean isVaryMarker() {
        return varyMarker;
    }

    /** The status code; 0 in a marker. */
    public int status() {
        return status;
    }

    /** The reason phrase as it came, empty when there was none. */
    public String reason() {
        // After "HTTP/1.1 200 ", before CRLF.
        int from = 13;
        int to = fieldsStart - 2;
        return to <= from ? "" : new String(wire, from, to - from, StandardCharsets.ISO_8859_1);
    }

    /** When the request was sent, in epoch milliseconds. */
    public long requestTimeMillis() {
        return requestTimeMillis;
    }

    /** When the response arrived, or was last validated, in epoch milliseconds. */
    public long responseTimeMillis() {
        return responseTimeMillis;
    }

    /** The age when it arrived (RFC 9111 s4.2.3, {@code corrected_initial_age}). */
    public long initialAgeMillis() {
        return initialAgeMillis;
    }

    /** How long it is fresh, counted from the origin's answer (RFC 9111 s4.2.1). */
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

    /** Seconds until it is stale; negative when it is (the {@code ttl} of RFC 9211). */
    public long ttlSeconds(long nowMillis) {
        return lifetimeSeconds - currentAgeSeconds(nowMillis);
    }

    /** Whether its current age is below its lifetime; says nothing of what else reuse asks. */
    public boolean isFresh(long nowMillis) {
        return lifetimeSeconds > currentAgeSeconds(nowMillis);
    }

    /** Date in epoch seconds: the origin's, or the time of receipt. */
    public long dateSeconds() {
        return dateSeconds;
    }

    /** Last-Modified in epoch seconds, {@link HttpDates#INVALID} when there is none that can be read. */
    public long lastModifiedSeconds() {
        return lastModifiedSeconds;
    }

    /** Whether there is a readable Last-Modified. */
    public boolean hasLastModified() {
        return lastModifiedSeconds != HttpDates.INVALID;
    }

    public boolean hasEntityTag() {
        return etagStart >= 0;
    }

    /** The ETag as it came, or null. */
    public @Nullable String entityTag() {
        return hasEntityTag() ? new String(wire, etagStart, etagEnd - etagStart, StandardCharsets.ISO_8859_1) : null;
    }

    /** Where the entity tag begins in {@link #wireBytes}; negative without one. */
    public int entityTagStart() {
        return etagStart;
    }

    /** Where the entity tag ends in {@link #wireBytes}, exclusive. */
    public int entityTagEnd() {
        return etagEnd;
    }

    /** Whether a conditional request can validate it. */
    public boolean hasValidator() {
        return hasEntityTag() || hasLastModified();
    }

    /** The length of the content, or {@link #UNKNOWN}. */
    public long contentLength() {
        return contentLength;
    }

    /** Whether {@code must-revalidate} forbids to serve it stale (RFC 9111 s5.2.2.2). */
    public boolean isMustRevalidate() {
        return (flags & MUST_REVALIDATE) != 0;
    }

    /** Whether {@code proxy-revalidate} forbids to serve it stale (RFC 9111 s5.2.2.8). */
    public boolean isProxyRevalidate() {
        return (flags & PROXY_REVALIDATE) != 0;
    }

    /** Whether {@code no-cache} asks for validation at every use (RFC 9111 s5.2.2.4). */
    public boolean isNoCache() {
        return (flags & NO_CACHE) != 0;
    }

    /** Whether it says {@code public}. */
    public boolean isPublic() {
        return (flags & PUBLIC) != 0;
    }

    /** Whether the response came with Set-Cookie, be it kept in the stored fields or not. */
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

    /** When it is not worth keeping any longer, in epoch seconds, or {@link #NEVER_EXPIRES}. */
    public long keepUntilSeconds() {
        return keepUntilSeconds;
    }

    /**
     * Until when the disk keeps it whether it is asked for or not, in epoch seconds; 0 for as long as it is worth it. Says
     * nothing of its freshness.
     */
    public long pinnedUntilSeconds() {
        return pinnedUntilSeconds;
    }

    /** The nonce of a marker's variants; 0 in a response. */
    public long nonce() {
        return nonce;
    }

    /**
     * The stamp of {@link Invalidations} when it was asked for: later ones outdate it. 0 is older than all, also that of what was
     * stored before there were stamps.
     */
    public long stamp() {
        return stamp;
    }

    /** Hashes of its cache groups (RFC 9875); borrowed, and never to be changed. */
    public long[] groups() {
        return labels.groups();
    }

    /** Its tags. */
    public Tags tags() {
        return labels.tags();
    }

    /** Its cache groups and tags. */
    public Labels labels() {
        return labels;
    }

    /** The request fields that select it. */
    public Variance variance() {
        return variance;
    }

    /** Values of the selecting request fields, or a marker's list of variants; borrowed, and never to be changed. */
    public byte[] varyValues() {
        return varyValues;
    }

    /** Whether a request's values of the Vary fields are those of the request that it answered. */
    public boolean selects(FieldSection requestFields) {
        return variance.matches(varyValues, requestFields);
    }

    /** Length of the wire head in bytes. */
    public int wireLength() {
        return wire.length;
    }

    /** Writes the wire head, without the empty line; borrows the buffer. */
    public void writeTo(ByteBuf out) {
        out.writeBytes(wire);
    }

    /** The bytes of the wire head; borrowed, and never to be changed. */
    public byte[] wireBytes() {
        return wire;
    }

    /** Where the field lines begin in {@link #wireBytes}, after the status line. */
    public int fieldsStart() {
        return fieldsStart;
    }

    /** The stored fields, read again at every call: for validation and merging, not for hits. */
    public FieldSection fields() {
        FieldSection fields = FieldSection.parse(wire, fieldsStart, wire.length);
        assert fields != null : "a stored head's fields are well formed";
        return fields == null ? FieldSection.EMPTY : fields;
    }

    /** The same head with other fields; nothing that was decided about it changes. */
    public StoredHead withFields(FieldSection fields) {
        return new StoredHeadBuilder().copy(this).fields(fields).build();
    }

    /** Whether it has Location, Content-Location or Set-Cookie. Looked for once, for the rules of many hits. */
    public boolean namesUrls() {
        int known = urls;
        if (known == NOT_LOOKED_FOR) {
            FieldSection fields = fields();
            boolean found = fields.contains(FieldName.LOCATION)
                    || fields.contains(FieldName.CONTENT_LOCATION)
                    || fields.contains(FieldName.SET_COOKIE);
            known = found ? 1 : 0;
            urls = known;
        }
        return known == 1;
    }

    /** Where the value of Content-Type begins in {@link #wireBytes}; -1 without one. Read once, for the logs of many hits. */
    public int contentTypeStart() {
        int start = contentTypeStart;
        if (start == NOT_LOOKED_FOR) {
            FieldSection fields = fields();
            int line = fields.find(FieldName.CONTENT_TYPE);
            start = line < 0 ? -1 : fields.valueStart(line);
            contentTypeStart = start;
        }
        return start;
    }

    /**
     * Where the value of Content-Type ends: before the white space and the end of its line.
     *
     * @param start what {@link #contentTypeStart} says, and not -1
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
     * The wire head of a 304 to a client whose copy is this representation: no representation metadata but what guides
     * the client's cache (RFC 9110 s15.4.5). Borrowed, and never to be changed.
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
     * The wire head of a 206 with one range of the content (RFC 9110 s15.3.7), Content-Range and Content-Length
     * included.
     *
     * @param first position of the range's first byte
     * @param last position of its last byte
     * @param length length of the whole content
     */
    public byte[] partialBytes(long first, long last, long length) {
        return WireHeads.partial(fields(), first, last, length);
    }

    /** Bytes of heap that this retains, roughly: for the RAM tier's budget. */
    public int heapBytes() {
        int names = 64 * variance.names().size();
        // Object with its twenty-odd fields, two array headers; half the wire head again for the 304's.
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
