package io.millrace.proxy.caching;

import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.forward.HopByHop;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds a {@link StoredHead}. Confined to one thread. */
final class StoredHeadBuilder {

    /** Time past the lifetime for which a response with a validator is worth keeping: 30 days. */
    private static final long VALIDATABLE_SECONDS = 30L * 86_400;

    /**
     * Fields that are not copied from a response: those of RFC 9111 s3.1; Age, which is computed for every response;
     * and Content-Length, which is computed from the stored content.
     */
    static final FieldName[] NOT_STORED = {
        FieldName.AGE,
        FieldName.PROXY_AUTHENTICATE,
        FieldName.PROXY_AUTHENTICATION_INFO,
        FieldName.PROXY_AUTHORIZATION,
        FieldName.CONTENT_LENGTH
    };

    /**
     * Limit of a reason phrase in characters. A longer phrase is dropped, since it has no function and would lengthen
     * the status line.
     */
    private static final int REASON_LENGTH_MAX = 256;

    private static final byte[] NO_BYTES = {};

    private boolean cookiesMayBeShared = true;
    private Tags previousTags = Tags.NONE;

    boolean varyMarker;
    int status;
    int flags;
    long requestTimeMillis;
    long responseTimeMillis;
    long initialAgeMillis;
    long lifetimeSeconds;
    LifetimeSource lifetimeSource = LifetimeSource.NONE;
    long dateSeconds;
    long lastModifiedSeconds = HttpDates.INVALID;
    long contentLength = StoredHead.UNKNOWN;
    long staleWhileRevalidateSeconds = StoredHead.UNKNOWN;
    long staleIfErrorSeconds = StoredHead.UNKNOWN;
    long keepUntilSeconds;
    long pinnedUntilSeconds;
    long nonce;
    long stamp;
    long[] groups = Invalidations.NO_GROUPS;
    Tags tags = Tags.NONE;
    Variance variance = Variance.NONE;
    byte[] varyValues = NO_BYTES;
    byte[] wire = NO_BYTES;
    int fieldsStart;
    int etagStart = -1;
    int etagEnd = -1;
    /** Position of the Content-Type value in the wire head; -1 for none, {@link StoredHead#NOT_COMPUTED} if unknown. */
    int contentTypeStart = StoredHead.NOT_COMPUTED;

    int contentTypeEnd;

    StoredHead build() {
        return new StoredHead(this);
    }

    StoredHeadBuilder marker(Variance names, long markerNonce, long nowMillis) {
        varyMarker = true;
        variance = names;
        nonce = markerNonce;
        requestTimeMillis = nowMillis;
        responseTimeMillis = nowMillis;
        dateSeconds = Math.floorDiv(nowMillis, 1000L);
        contentLength = 0;
        keepUntilSeconds = StoredHead.NEVER_EXPIRES;
        return this;
    }

    StoredHeadBuilder response(
            RequestHead request,
            ResponseHead response,
            long requestMillis,
            long responseMillis,
            CacheSettings settings) {
        FieldSection fields = response.fields();
        CacheControl control =
                CacheControl.ofResponse(fields, settings.storing().targets());
        Freshness freshness = Freshness.own(request, response, control, responseMillis, settings);
        long receivedSeconds = Math.floorDiv(responseMillis, 1000L);
        status = response.status();
        requestTimeMillis = requestMillis;
        responseTimeMillis = responseMillis;
        initialAgeMillis = CurrentAge.initialMillis(fields, requestMillis, responseMillis);
        lifetimeSeconds = freshness.lifetimeSeconds();
        lifetimeSource = freshness.source();
        dateSeconds = Freshness.dateSeconds(fields, receivedSeconds);
        lastModifiedSeconds = HttpDates.parse(fields, FieldName.LAST_MODIFIED, receivedSeconds);
        contentLength = contentLength(response);
        setStaleTimes(control, settings.stale());
        flags = (control.isMustRevalidate() ? StoredHead.MUST_REVALIDATE : 0)
                | (control.isProxyRevalidate() ? StoredHead.PROXY_REVALIDATE : 0)
                | (control.isNoCache() && !settings.storing().ignoreServerNoCache() ? StoredHead.NO_CACHE : 0)
                | CookieRule.flags(fields, control);
        variance = settings.key().variance(fields);
        flags |= isOneOfSeveralCodings(fields, settings) ? StoredHead.DATE_IS_WEAK : 0;
        varyValues = variance.valuesOf(request.fields(), settings.encoding());
        groups = CacheGroups.hashes(request.target(), fields);
        tags = tags(fields, settings.tags());
        long forcedSeconds =
                freshness.forced(response, responseMillis, settings).lifetimeSeconds();
        keepUntilSeconds = keepUntil(fields, Math.max(lifetimeSeconds, forcedSeconds), settings);
        long pinSeconds = settings.storing().pinSeconds();
        pinnedUntil(pinSeconds == 0 ? 0 : receivedSeconds + pinSeconds);
        byte[] statusLine = statusLine(response);
        setWire(statusLine, storedFields(fields, control, receivedSeconds, settings));
        return this;
    }

    /** Returns true if variants of the URL in other codings may have the same Last-Modified. */
    private boolean isOneOfSeveralCodings(FieldSection fields, CacheSettings settings) {
        return !settings.encoding().isOff()
                && variance.names().contains(FieldName.ACCEPT_ENCODING)
                && fields.contains(FieldName.CONTENT_ENCODING);
    }

    /**
     * Sets the stale-serving times. If the lifetime is an s-maxage, which forbids stale serving (RFC 9111 s5.2.2.10),
     * the stale directives of the origin still apply. Configured times then apply only if the configuration permits it.
     */
    private void setStaleTimes(CacheControl control, StaleRules rules) {
        staleWhileRevalidateSeconds = control.staleWhileRevalidateSeconds();
        staleIfErrorSeconds = control.staleIfErrorSeconds();
        if (lifetimeSource != LifetimeSource.SHARED_MAX_AGE || rules.despiteSharedMaxAge()) {
            staleWhileRevalidateSeconds = rules.whileRevalidate(staleWhileRevalidateSeconds);
            staleIfErrorSeconds = rules.ifError(staleIfErrorSeconds);
        }
    }

    StoredHeadBuilder copy(StoredHead head) {
        varyMarker = head.varyMarker;
        status = head.status;
        flags = head.flags;
        requestTimeMillis = head.requestTimeMillis;
        responseTimeMillis = head.responseTimeMillis;
        initialAgeMillis = head.initialAgeMillis;
        lifetimeSeconds = head.lifetimeSeconds;
        lifetimeSource = head.lifetimeSource;
        dateSeconds = head.dateSeconds;
        lastModifiedSeconds = head.lastModifiedSeconds;
        contentLength = head.contentLength;
        staleWhileRevalidateSeconds = head.staleWhileRevalidateSeconds;
        staleIfErrorSeconds = head.staleIfErrorSeconds;
        keepUntilSeconds = head.keepUntilSeconds;
        pinnedUntilSeconds = head.pinnedUntilSeconds;
        nonce = head.nonce;
        stamp = head.stamp;
        groups = head.groups();
        tags = head.tags();
        variance = head.variance;
        varyValues = head.varyValues;
        wire = head.wire;
        fieldsStart = head.fieldsStart;
        etagStart = head.etagStart;
        etagEnd = head.etagEnd;
        contentTypeStart = StoredHead.NOT_COMPUTED;
        return this;
    }

    StoredHeadBuilder pinnedUntil(long epochSeconds) {
        pinnedUntilSeconds = Math.max(0, Math.min(epochSeconds, StoredHead.NEVER_EXPIRES));
        return this;
    }

    /** Ends the lifetime at an age, so that the response is validated before its next use. */
    StoredHeadBuilder purgedSoftly(long ageSeconds) {
        flags |= StoredHead.PURGED_SOFTLY;
        lifetimeSeconds = Math.min(lifetimeSeconds, ageSeconds);
        staleWhileRevalidateSeconds = 0;
        return this;
    }

    StoredHeadBuilder contentLength(long length) {
        FieldSection.Builder lines = lines();
        lines.remove(FieldName.CONTENT_LENGTH);
        contentLength = length;
        if (length != StoredHead.UNKNOWN && mayHaveContent()) {
            lines.add(FieldName.CONTENT_LENGTH, length);
        }
        return setLines(lines);
    }

    /**
     * Returns the tags of the response. An update without a tag field keeps the previous tags and adds those of
     * Cache-Groups.
     */
    private Tags tags(FieldSection fields, TagRules rules) {
        Tags named = rules.read(fields);
        return previousTags.isEmpty() || rules.hasTagField(fields) ? named : previousTags.union(named);
    }

    StoredHeadBuilder stamp(long number, TargetUri url, @Nullable String site) {
        stamp = number;
        tags = tags.onSite(site);
        if (groups.length > 0) {
            groups = CacheGroups.hashes(url, lines().build());
        }
        return this;
    }

    /** Limits the lifetime to {@code lifetimeMax} seconds, unless that is UNKNOWN, and adds tags. */
    StoredHeadBuilder limited(long lifetimeMax, byte[] packedTags) {
        lifetimeSeconds = lifetimeMax == StoredHead.UNKNOWN ? lifetimeSeconds : Math.min(lifetimeSeconds, lifetimeMax);
        if (packedTags.length > 0) {
            Tags more = Tags.ofPacked(tags.site(), packedTags);
            tags = tags.isEmpty() ? more : tags.union(more);
        }
        return this;
    }

    /** Notes that Last-Modified does not identify the bytes of the content. */
    StoredHeadBuilder weakDate() {
        flags |= StoredHead.DATE_IS_WEAK;
        return this;
    }

    /** Sets the lifetime from the receipt of the response, in seconds; -1 for no change. */
    StoredHeadBuilder lifetime(long ttlSeconds) {
        if (ttlSeconds >= 0) {
            lifetimeSeconds = ttlSeconds + Math.floorDiv(initialAgeMillis, 1000L);
            lifetimeSource = LifetimeSource.MAX_AGE;
        }
        return this;
    }

    StoredHeadBuilder fields(FieldSection fields) {
        return setLines(FieldSection.builderLike(fields).addAll(fields));
    }

    StoredHeadBuilder variants(byte[] list) {
        varyValues = list;
        return this;
    }

    StoredHeadBuilder expires(long epochSeconds) {
        return setLines(lines().set(FieldName.EXPIRES, HttpDates.format(epochSeconds)));
    }

    /** Returns a builder that contains the field lines of the wire head. */
    private FieldSection.Builder lines() {
        FieldSection fields = FieldSection.parse(wire, fieldsStart, wire.length);
        assert fields != null : "a stored head's fields are well formed";
        FieldSection.Builder lines = FieldSection.builder();
        if (fields != null) {
            lines.addAll(fields);
        }
        return lines;
    }

    private StoredHeadBuilder setLines(FieldSection.Builder lines) {
        byte[] statusLine = new byte[fieldsStart];
        System.arraycopy(wire, 0, statusLine, 0, fieldsStart);
        setWire(statusLine, lines.build());
        return this;
    }

    private void setWire(byte[] statusLine, FieldSection fields) {
        wire = WireHeads.joined(statusLine, fields);
        fieldsStart = statusLine.length;
        locateEntityTag(fields, fieldsStart);
        int type = fields.find(FieldName.CONTENT_TYPE);
        contentTypeStart = type < 0 ? -1 : fieldsStart + fields.valueStart(type);
        contentTypeEnd = type < 0 ? 0 : fieldsStart + fields.valueEnd(type);
    }

    /** Sets the position of ETag in the wire head; {@code shift} is added to the positions in {@code fields}. */
    void locateEntityTag(FieldSection fields, int shift) {
        int line = fields.find(FieldName.ETAG);
        boolean tagged = line >= 0 && fields.valueEnd(line) > fields.valueStart(line);
        etagStart = tagged ? shift + fields.valueStart(line) : -1;
        etagEnd = tagged ? shift + fields.valueEnd(line) : -1;
    }

    /**
     * Marks the response as an update of a stored one. Set-Cookie is then not stored, unless the stored response
     * already has the field.
     */
    StoredHeadBuilder updating(StoredHead old) {
        previousTags = old.tags();
        cookiesMayBeShared = old.fields().contains(FieldName.SET_COOKIE);
        return this;
    }

    /**
     * Returns true if Set-Cookie is stored. Requires that the origin explicitly permits reuse without validation, or
     * that the configuration ignores cookies for caching.
     */
    private boolean sharesCookies(CacheSettings settings) {
        boolean permitted = lifetimeSource.isExplicit()
                || settings.lifetimes().heuristicWithCookies() == LifetimeRules.HeuristicWithCookies.ALL;
        return cookiesMayBeShared && permitted && lifetimeSeconds > 0 && (flags & StoredHead.NO_CACHE) == 0;
    }

    private FieldSection storedFields(
            FieldSection fields, CacheControl control, long receivedSeconds, CacheSettings settings) {
        HopByHop hopByHop = HopByHop.of(fields);
        boolean cookies = sharesCookies(settings);
        List<FieldName> unsharedFields = settings.storing().unsharedFields();
        FieldSection.Builder stored = FieldSection.builderLike(fields);
        boolean dated = HttpDates.parse(fields, FieldName.DATE, receivedSeconds) != HttpDates.INVALID;
        for (int line = 0; line < fields.size(); line++) {
            boolean kept = !hopByHop.contains(fields, line)
                    && !WireHeads.isOneOf(fields, line, NOT_STORED)
                    && !control.names(fields, line)
                    && !CacheControl.isAmong(unsharedFields, fields, line)
                    && !settings.tags().isRemoved(fields, line)
                    && (cookies || !fields.isNamed(line, FieldName.SET_COOKIE))
                    && (dated || !fields.isNamed(line, FieldName.DATE));
            if (kept) {
                stored.addLine(fields, line);
            }
        }
        if (!dated) {
            stored.add(FieldName.DATE, HttpDates.format(dateSeconds));
        }
        if (contentLength != StoredHead.UNKNOWN && mayHaveContent()) {
            stored.add(FieldName.CONTENT_LENGTH, contentLength);
        }
        return stored.buildLast();
    }

    /** Returns true if the head may have Content-Length. A 204 must not have it (RFC 9110 s8.6). */
    private boolean mayHaveContent() {
        return status != 204 && !varyMarker;
    }

    private long keepUntil(FieldSection fields, long freshSeconds, CacheSettings settings) {
        long freshUntil = Math.floorDiv(responseTimeMillis - initialAgeMillis, 1000L) + freshSeconds;
        long beyond = Math.max(
                settings.stale().maxStaleSeconds(), Math.max(staleIfErrorSeconds, staleWhileRevalidateSeconds));
        boolean validatable = fields.contains(FieldName.ETAG) || lastModifiedSeconds != HttpDates.INVALID;
        long until = freshUntil + Math.max(beyond, validatable ? VALIDATABLE_SECONDS : 0);
        return Math.min(Math.max(0, until), StoredHead.NEVER_EXPIRES);
    }

    private static long contentLength(ResponseHead response) {
        FieldSection fields = response.fields();
        int line = fields.find(FieldName.CONTENT_LENGTH);
        if (line < 0 || fields.contains(FieldName.TRANSFER_ENCODING)) {
            return response.status() == 204 ? 0 : StoredHead.UNKNOWN;
        }
        long length = FieldLexer.number(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        return length == FieldLexer.NOT_A_NUMBER ? StoredHead.UNKNOWN : length;
    }

    private static byte[] statusLine(ResponseHead response) {
        String reason = response.reason().length() > REASON_LENGTH_MAX ? "" : response.reason();
        for (int i = 0; i < reason.length(); i++) {
            char c = reason.charAt(i);
            if (c < ' ' || c > 255 || c == 127) {
                reason = "";
            }
        }
        return ("HTTP/1.1 " + response.status() + " " + reason + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }
}
