package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.CacheStore;
import io.millrace.store.PinCheck;
import io.millrace.store.StoredObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Decides whether a pinned response, which the storage keeps until a given time, stays pinned. A response that a hard
 * purge outdates loses its pin. So does a variant without its Vary marker (the stored entry that names the Vary fields
 * of a URL), because a purge of the URL removes the marker.
 *
 * <p>Thread-safe.
 */
public final class PinnedResponses implements PinCheck<StoredHead> {
    private final CacheStore<StoredHead> store;
    private final Invalidations invalidations;

    /** Creates the check for a store. */
    public PinnedResponses(CacheStore<StoredHead> store, Invalidations invalidations) {
        this.store = store;
        this.invalidations = invalidations;
    }

    @Override
    public boolean staysPinned(byte[] key, StoredHead head) {
        if (head.isVaryMarker()) {
            return true;
        }
        // A zero byte follows the primary key in the key of a variant.
        int primaryLength = lengthBefore(key, key.length, 0);
        if (primaryLength < key.length && !hasMarker(key, primaryLength)) {
            return false;
        }
        // A space separates the URL from other parts of the key.
        int urlLength = lengthBefore(key, primaryLength, ' ');
        String url = new String(key, 0, urlLength, StandardCharsets.ISO_8859_1);
        Outdated outdated =
                TargetUri.parseAbsolute(url) instanceof TargetUri target ? invalidations.of(target, head) : null;
        return outdated == null || outdated.isSoft();
    }

    /**
     * Returns true if the Vary marker of the variant exists. A marker on disk is not read, so its nonce (random number,
     * part of the keys of its variants) is not compared.
     */
    private boolean hasMarker(byte[] key, int primaryLength) {
        StoredObject<StoredHead> marker = store.get(store.key(key, 0, primaryLength));
        if (marker == null) {
            return store.contains(store.key(key, 0, primaryLength));
        }
        try {
            boolean hasNonce = key.length >= primaryLength + 1 + Long.BYTES;
            return hasNonce
                    && marker.head().isVaryMarker()
                    && marker.head().nonce() == ByteBuffer.wrap(key).getLong(primaryLength + 1);
        } finally {
            marker.release();
        }
    }

    private static int lengthBefore(byte[] key, int end, int separator) {
        int length = 0;
        while (length < end && key[length] != separator) {
            length++;
        }
        return length;
    }
}
