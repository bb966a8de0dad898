package io.millrace.proxy.dictionary;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.PurgePoint;
import io.millrace.store.StoreKey;
import java.util.Objects;

/**
 * A stored response that is a dictionary. Immutable.
 *
 * @param url the client's URL, in the scheme that the client sees
 * @param terms the requests for which it may be used
 * @param content its content without a coding
 * @param freshUntilMillis epoch milliseconds at which the response becomes stale
 * @param keyUrl the URL of its cache key, by which purges find it
 * @param key the key under which it is stored
 * @param head the stored head
 * @param keyHash the hash of its primary key, for {@code Purger.isPurgedSince}
 * @param readSince the state of the purger before the content was read
 */
public record StoredDictionary(
        TargetUri url,
        DictionaryTerms terms,
        CompressionDictionary content,
        long freshUntilMillis,
        TargetUri keyUrl,
        StoreKey key,
        StoredHead head,
        int keyHash,
        PurgePoint readSince) {

    /** Returns a copy whose content is another object with equal bytes. */
    @SuppressWarnings("ReferenceEquality") // no copy for the same object
    StoredDictionary withContent(CompressionDictionary equal) {
        return equal == content
                ? this
                : new StoredDictionary(url, terms, equal, freshUntilMillis, keyUrl, key, head, keyHash, readSince);
    }

    /** Returns a copy with the terms, head and lifetime after a validation. */
    StoredDictionary validated(DictionaryTerms newTerms, StoredHead newHead, long newFreshUntilMillis) {
        return new StoredDictionary(
                url, newTerms, content, newFreshUntilMillis, keyUrl, key, newHead, keyHash, readSince);
    }

    /**
     * Returns true if the content was read from the stored response with this head. Compares the times, the stamp and
     * the validators. Two responses without entity tags can look equal if they were requested and received in the same
     * milliseconds. Then the old content remains the dictionary until the next response. Clients still decode responses
     * correctly, because encoded content begins with the hash of its dictionary.
     *
     * @param storedKey the key of the response
     */
    boolean isReadFrom(StoreKey storedKey, StoredHead stored) {
        return key.equals(storedKey)
                && head.requestTimeMillis() == stored.requestTimeMillis()
                && head.responseTimeMillis() == stored.responseTimeMillis()
                && head.stamp() == stored.stamp()
                && head.contentLength() == stored.contentLength()
                && head.lastModifiedSeconds() == stored.lastModifiedSeconds()
                && Objects.equals(head.entityTag(), stored.entityTag());
    }
}
