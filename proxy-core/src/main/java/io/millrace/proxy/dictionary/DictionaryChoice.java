package io.millrace.proxy.dictionary;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.structured.BareItem;
import io.millrace.proxy.http.structured.Member;
import io.millrace.proxy.http.structured.StructuredFields;
import io.millrace.proxy.purge.Purger;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the dictionary that a client names may be used for its response (RFC 9842).
 *
 * <p>Thread-safe.
 */
public final class DictionaryChoice {
    /** The result for a request with Available-Dictionary. */
    public enum Result {
        /** The dictionary may be used. */
        USED,
        /** The dictionary is for other URLs or destinations, or the client is not permitted to read the response. */
        OTHER,
        /** The dictionary is not in memory, is stale or purged, or is named without TLS. */
        UNKNOWN
    }

    private static final FieldName SEC_FETCH_SITE = FieldName.of("Sec-Fetch-Site");
    private static final FieldName SEC_FETCH_MODE = FieldName.of("Sec-Fetch-Mode");

    private final Dictionaries dictionaries;
    private final Invalidations invalidations;
    private final Purger purger;

    /** Creates a decision for the dictionaries and the purges of a proxy. */
    public DictionaryChoice(Dictionaries dictionaries, Invalidations invalidations, Purger purger) {
        this.dictionaries = dictionaries;
        this.invalidations = invalidations;
        this.purger = purger;
    }

    /**
     * Decides about a request with Available-Dictionary.
     *
     * @param url the URL as the client sees it
     * @param dryRun whether nothing may change: no dictionary is forgotten or counts as used
     */
    public Result choose(TargetUri url, FieldSection requestFields, long nowMillis, boolean dryRun) {
        String hash = hashIn(requestFields);
        if (hash == null || !isSecureContext(url)) {
            return Result.UNKNOWN;
        }
        Result result = Result.UNKNOWN;
        for (StoredDictionary found : dictionaries.find(url, hash)) {
            if (!isCurrent(found, nowMillis)) {
                if (!dryRun) {
                    dictionaries.forget(found);
                }
                continue;
            }
            if (isReadable(requestFields) && found.terms().match(url, requestFields)) {
                if (!dryRun) {
                    dictionaries.used(found);
                }
                return Result.USED;
            }
            result = Result.OTHER;
        }
        return result;
    }

    /**
     * Returns the request fields that select the response. Available-Dictionary is removed unless the dictionary may be
     * used; the client then shares the variant of clients without a dictionary. If the dictionary may be used, its hash
     * is written in canonical form, since the hash is part of the variant's key.
     */
    public static FieldSection fieldsAfter(Result result, FieldSection requestFields) {
        String hash = result == Result.USED ? hashIn(requestFields) : null;
        FieldSection.Builder fields = FieldSection.builderLike(requestFields)
                .addAll(requestFields)
                .remove(DictionaryRules.AVAILABLE_DICTIONARY);
        if (hash != null) {
            fields.add(DictionaryRules.AVAILABLE_DICTIONARY, hash);
        }
        return fields.build();
    }

    private boolean isCurrent(StoredDictionary found, long nowMillis) {
        return found.freshUntilMillis() > nowMillis
                && invalidations.of(found.keyUrl(), found.head()) == null
                && !purger.isPurgedSince(found.keyHash(), found.readSince());
    }

    /** Returns the hash of Available-Dictionary in canonical form; null if it is malformed. */
    private static @Nullable String hashIn(FieldSection fields) {
        String text = fields.joined(DictionaryRules.AVAILABLE_DICTIONARY);
        Member.Item item = text == null ? null : StructuredFields.parseItem(text);
        if (item == null || !(item.value() instanceof BareItem.SfBytes bytes)) {
            return null;
        }
        byte[] hash = bytes.value();
        return hash.length == CompressionDictionary.HASH_BYTES ? CompressionDictionary.hashText(hash) : null;
    }

    /**
     * Returns true for https, and for http to this machine. Elsewhere other proxies on the way could change content
     * whose coding they do not know (RFC 9842 s8).
     */
    static boolean isSecureContext(TargetUri url) {
        String host = url.host();
        return url.isSecure()
                || host.equals("localhost")
                || host.endsWith(".localhost")
                || host.equals("[::1]")
                || (host.startsWith("127.") && isAddress(host));
    }

    private static boolean isAddress(String host) {
        for (int i = 0; i < host.length(); i++) {
            char next = host.charAt(i);
            if (next != '.' && (next < '0' || next > '9')) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns true if the client may read the response: for a request of the same origin, or one that navigates (RFC
     * 9842 s9.3.2). For scripts of other origins, the CORS fields of the response would decide, which are not known
     * here. Requests of such scripts get an ordinary coding.
     */
    private static boolean isReadable(FieldSection fields) {
        String mode = fields.get(SEC_FETCH_MODE);
        return "same-origin".equals(fields.get(SEC_FETCH_SITE))
                || mode == null
                || mode.equals("navigate")
                || mode.equals("same-origin");
    }
}
