package io.millrace.proxy.caching.settings;

/**
 * The settings for cache directives in requests. Immutable.
 *
 * @param ignoreNoCache whether the client's no-cache, no-store and Pragma are ignored
 * @param ignoreMaxAge whether the client's max-age is ignored
 * @param imsOnNoCache whether a client's no-cache, if honoured, validates the stored response instead of fetching again
 * @param authorized which stored responses may answer a request with Authorization
 */
public record RequestRules(
        boolean ignoreNoCache, boolean ignoreMaxAge, boolean imsOnNoCache, AuthorizedReuse authorized) {

    /**
     * Determines which stored responses may answer a request with Authorization. The ordinals are Traffic Server's
     * numbers.
     */
    public enum AuthorizedReuse {
        /**
         * Responses with {@code public} or {@code s-maxage}. Also responses with {@code must-revalidate} or
         * {@code proxy-revalidate}, which are validated at every use.
         */
        IF_ALLOWED,
        /**
         * All responses. The operator states that responses to requests with Authorization are the same for all users
         * (RFC 9111 s3.5).
         */
        ALWAYS
    }
}
