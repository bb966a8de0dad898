package io.millrace.proxy.caching.settings;

import io.millrace.proxy.http.FieldName;
import java.util.List;

/**
 * What may be stored, besides what RFC 9111 says. Immutable.
 *
 * @param targets targeted cache control fields in the order of their priority (RFC 9213 s2.2)
 * @param requiredHeaders what a 200 response must carry to be stored
 * @param maxObjectBytes the longest content that is stored; 0 for no limit of its own
 * @param storageShareMax part of its storage that one object may take, above 0 and at most 1
 * @param ignoreServerNoCache whether the response's no-cache and no-store are ignored
 * @param ignoreAuthentication whether a response with WWW-Authenticate is stored like any other
 * @param cookies which answers that have to do with cookies are stored
 * @param dynamicUrls whether answers to URLs that look dynamic are stored
 * @param variantsMax how many variants of a URL are kept; 0 for any number
 * @param post whether an answer to POST is stored for later GETs where it says that it is what GET would bring
 * @param unsharedFields response fields that are for the client that asked alone, as though every response named them
 *     in {@code private="..."}
 * @param pinSeconds how long the disk keeps what is stored whether it is asked for or not, counted from its receipt or
 *     its last validation; 0 for no pin
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
        long pinSeconds) {

    /** What a 200 response must carry to be stored; the ordinals are Traffic Server's numbers. */
    public enum RequiredHeaders {
        /** Nothing: what RFC 9111 allows is stored. */
        NONE("none"),
        /** Last-Modified, Expires, max-age or s-maxage. */
        LAST_MODIFIED("last_modified"),
        /** Expires, max-age or s-maxage. */
        LIFETIME("lifetime");

        private final String text;

        RequiredHeaders(String text) {
            this.text = text;
        }

        /** The word that stands for it in a configuration file. */
        public String text() {
            return text;
        }
    }

    /**
     * Which answers that have to do with cookies, a Cookie in the request or a Set-Cookie in the response, are stored;
     * the ordinals are Traffic Server's numbers.
     */
    public enum CookiePolicy {
        /** None. */
        NONE,
        /** All: cookies say nothing about caching (RFC 9111 s7.3). */
        ALL,
        /** Those with an image. */
        IMAGES,
        /** All but text. */
        NOT_TEXT,
        /** All but text; text too, where the response has no Set-Cookie or says {@code public}. */
        NOT_TEXT_UNLESS_PUBLIC
    }

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when one is crossed
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

    /** Whether content of that length may be stored; a length not yet known, -1, may. */
    public boolean allowsLength(long length) {
        return maxObjectBytes == 0 || length <= maxObjectBytes;
    }

    /** Bytes of content that may be stored where its storage takes this many. */
    public long storedBytesMax(long storageBytes) {
        return maxObjectBytes == 0 ? storageBytes : Math.min(maxObjectBytes, storageBytes);
    }
}
