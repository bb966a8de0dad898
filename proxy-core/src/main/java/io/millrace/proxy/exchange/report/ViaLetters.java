package io.millrace.proxy.exchange.report;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.field.ViaCodes;
import io.millrace.proxy.observe.field.ViaCodes.Part;
import io.millrace.proxy.observe.log.LogOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Sets the Via codes from the state of an exchange when its response head is sent. The letters and their positions are
 * the same as in Traffic Server.
 *
 * <p>Thread-safe: no state.
 */
public final class ViaLetters {
    private ViaLetters() {}

    /**
     * Returns the code for the client's request.
     *
     * @param request null when the bytes were not a valid request
     */
    public static char client(@Nullable RequestHead request) {
        if (request == null) {
            return 'E';
        }
        FieldSection fields = request.fields();
        if (fields.contains(FieldName.IF_MODIFIED_SINCE) || fields.contains(FieldName.IF_NONE_MATCH)) {
            return 'I';
        }
        if (fields.hasToken(FieldName.CACHE_CONTROL, "no-cache") || fields.hasToken(FieldName.PRAGMA, "no-cache")) {
            return 'N';
        }
        return fields.contains(FieldName.COOKIE) ? 'C' : 'S';
    }

    /** Sets the codes for the lookup and the cache result. */
    public static void cache(ViaCodes codes, CacheResult result, boolean fromRam, boolean collapsed, int status) {
        char hit = collapsed ? 'W' : fromRam ? 'R' : 'H';
        char sent = status == 304 ? 'N' : status == 412 ? 'I' : 'H';
        switch (result) {
            case HIT -> found(codes, hit, sent);
            case STALE, REVALIDATED, STALE_MISS -> found(codes, 'S', 'S');
            case REQUEST -> found(codes, 'A', 'U');
            case VARY_MISS -> found(codes, collapsed ? 'W' : 'A', 'M');
            case URI_MISS, PARTIAL -> found(codes, collapsed ? 'W' : 'M', 'M');
            case METHOD -> codes.set(Part.TUNNEL, 'M');
            case BYPASS -> codes.set(Part.TUNNEL, 'O');
            case NONE -> {}
        }
        if (result == CacheResult.HIT && status == 304) {
            codes.set(Part.PROXY, 'N');
        }
    }

    private static void found(ViaCodes codes, char lookup, char result) {
        codes.set(Part.LOOKUP, lookup).set(Part.TYPE, 'C').set(Part.RESULT, result);
    }

    /** Sets the codes for the origin, if a request was sent to it. */
    public static void origin(ViaCodes codes, CacheResult result, int originStatus, boolean stored, boolean failed) {
        if (originStatus == 0) {
            codes.set(Part.SERVER, failed ? 'E' : ' ').set(Part.CONNECTION, failed ? 'F' : ' ');
            return;
        }
        boolean revalidated = result == CacheResult.REVALIDATED;
        codes.set(Part.CONNECTION, 'S')
                .set(Part.SERVER, originStatus == 304 ? 'N' : 'S')
                .set(Part.PROXY, revalidated ? 'R' : 'S');
        if (revalidated || (stored && result == CacheResult.STALE_MISS)) {
            codes.set(Part.FILL, 'U');
        } else if (stored) {
            codes.set(Part.FILL, 'W');
        }
    }

    /** Returns the code for the error. */
    public static char error(LogOutcome outcome) {
        return switch (outcome) {
            case OK, CLIENT_ABORTED -> 'N';
            case DENIED, INVALID_URL -> 'F';
            case CLIENT_READ_FAILED, INVALID_REQUEST, REQUEST_TOO_LARGE, UNSUPPORTED -> 'H';
            case LOOP -> 'L';
            case DNS_FAILED -> 'D';
            case CONNECT_FAILED -> 'C';
            case ORIGIN_TIMEOUT -> 'T';
            case ORIGIN_READ_FAILED, FAILED -> 'S';
            case DISK_FAILED -> 'R';
        };
    }
}
