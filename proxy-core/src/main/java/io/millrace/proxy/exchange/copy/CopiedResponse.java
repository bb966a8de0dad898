package io.millrace.proxy.exchange.copy;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;

/**
 * A response from another cache, read from a file for {@code millctl cache import}. Immutable.
 *
 * @param url the URL of the request
 * @param method the method of the request
 * @param requestFields the request fields that select the response
 * @param hasRequest whether {@code requestFields} are known; without them, a response that varies cannot be stored
 * @param status the status code
 * @param reason the reason phrase
 * @param fields the response fields
 * @param length length of the content in bytes
 * @param ageSeconds the current age in seconds (RFC 9111 section 4.2.3)
 * @param fetchedMillis a time not later than the request to the origin, in epoch milliseconds by this machine's clock
 * @param lifetimeSecondsMax limit of the freshness lifetime in seconds; -1 for none
 * @param packedTags the cache tags, as {@code Tags.packed} returns them; empty for none; borrowed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CopiedResponse(
        TargetUri url,
        String method,
        FieldSection requestFields,
        boolean hasRequest,
        int status,
        String reason,
        FieldSection fields,
        long length,
        long ageSeconds,
        long fetchedMillis,
        long lifetimeSecondsMax,
        byte[] packedTags) {}
