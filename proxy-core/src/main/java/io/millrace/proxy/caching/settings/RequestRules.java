package io.millrace.proxy.caching.settings;

/**
 * What clients may ask of the cache. Immutable.
 *
 * @param ignoreNoCache whether the client's no-cache, no-store and Pragma are ignored
 * @param ignoreMaxAge whether the client's max-age is ignored
 * @param imsOnNoCache whether a client's no-cache, where it is honoured, validates the stored response rather than
 *     fetching again
 * @param authorized which stored responses answer a request with Authorization
 */
public record RequestRules(
        boolean ignoreNoCache, boolean ignoreMaxAge, boolean imsOnNoCache, AuthorizedReuse authorized) {

    /** Which stored responses answer a request with Authorization; the ordinals are Traffic Server's numbers. */
    public enum AuthorizedReuse {
        /** Those with {@code public} or {@code s-maxage}; those with {@code must-revalidate} are validated at every use. */
        IF_ALLOWED,
        /** All: none of them was stored on behalf of one user (RFC 9111 s3.5). */
        ALWAYS
    }
}
