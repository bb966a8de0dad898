package io.millrace.proxy.dictionary;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.PurgePoint;

/**
 * A stored response that is a dictionary. Immutable.
 *
 * @param url the client's URL, in the scheme that the client sees
 * @param terms the requests for which it may be used
 * @param content its content without a coding
 * @param freshUntilMillis epoch milliseconds at which the response becomes stale
 * @param keyUrl the URL of its cache key, by which purges find it
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
        StoredHead head,
        int keyHash,
        PurgePoint readSince) {}
