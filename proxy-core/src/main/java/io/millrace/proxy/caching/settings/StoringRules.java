package io.millrace.proxy.caching.settings;

import io.millrace.proxy.http.FieldName;
import java.util.List;

/**
 * The settings for storing responses, in addition to RFC 9111. Immutable.
 *
 * @param targets targeted cache control fields in the order of their priority (RFC 9213 s2.2)
 * @param requiredHeaders fields that a 200 response must have to be stored
 * @param maxObjectBytes limit of stored content in bytes; 0 for none
 * @param storageShareMax fraction of its storage that one object may occupy, above 0 and at most 1
 * @param ignoreServerNoCache whether the response's no-cache and no-store are ignored
 * @param ignoreAuthentication whether a response with WWW-Authenticate is stored like any other
 * @param cookies which responses with cookies are stored
 * @param dynamicUrls whether responses from URLs that look dynamic are stored
 * @param variantsMax limit of variants per URL; 0 for none
 * @param post whether a response to POST is stored for later GETs if its fields permit it
 * @param unsharedFields response fields for the requesting client only, as if every response listed them in
 *     {@code private="..."}
 * @param pinSeconds time for which the disk keeps a response even if nobody requests it, from its receipt or last
 *     validation; 0 for no pin
 * @param leakGuard treatment of responses that look personal although their URL looks like a static file
 */
public record StoringRules(
        List<FieldName> targets,
        RequiredHeaders requiredHeaders,
        long maxObjectBytes,
        double storageShareMax,
        boolean ignoreServerNoCache,
        boolean ignoreAuthentication,
        CookiePolicy cookies,
        boolean dynamicUrls,
        int variantsMax,
        boolean post,
        List<FieldName> unsharedFields,
        long pinSeconds,
        LeakGuardLevel leakGuard) {

    /** Determines the fields that a 200 response must have to be stored. The ordinals are Traffic Server's numbers. */
    public enum RequiredHeaders {
        /** None: everything that RFC 9111 permits is stored. */
        NONE("none"),
        /** Last-Modified, Expires, max-age or s-maxage. */
        LAST_MODIFIED("last_modified"),
        /** Expires, max-age or s-maxage. */
        LIFETIME("lifetime");

        private final String text;

        RequiredHeaders(String text) {
            this.text = text;
        }

        /** The value in a configuration file. */
        public String text() {
            return text;
        }
    }

    /**
     * Determines which responses are stored when the request has Cookie or the response has Set-Cookie. The ordinals
     * are Traffic Server's numbers.
     */
    public enum CookiePolicy {
        /** No such response. */
        NONE,
        /** All: cookies do not affect caching (RFC 9111 s7.3). */
        ALL,
        /** Images only. */
        IMAGES,
        /** All except text. */
        NOT_TEXT,
        /** All except text; text too if the response has no Set-Cookie, or has {@code public}. */
        NOT_TEXT_UNLESS_PUBLIC
    }

    /** Determines the storing of a response that looks personal although its URL looks like a static file. */
    public enum LeakGuardLevel {
        /** It is stored like any other. */
        OFF,
        /** It is stored, counted and logged. */
        WARN,
        /** It is not stored. */
        ON
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when a value is out of its bounds
     */
    public StoringRules {
        targets = List.copyOf(targets);
        unsharedFields = List.copyOf(unsharedFields);
        Bounds.notNegative(maxObjectBytes, "maxObjectBytes");
        if (!(storageShareMax > 0 && storageShareMax <= 1)) {
            throw new IllegalArgumentException("storageShareMax: actual=" + storageShareMax + ", limit=1");
        }
        Bounds.notNegative(variantsMax, "variantsMax");
        Bounds.notNegative(pinSeconds, "pinSeconds");
    }

    /** Returns true if content of that length may be stored; true for an unknown length, -1. */
    public boolean allowsLength(long length) {
        return maxObjectBytes == 0 || length <= maxObjectBytes;
    }

    /** Returns the limit of stored content, given the limit of its storage. */
    public long storedBytesMax(long storageBytes) {
        return maxObjectBytes == 0 ? storageBytes : Math.min(maxObjectBytes, storageBytes);
    }
}
