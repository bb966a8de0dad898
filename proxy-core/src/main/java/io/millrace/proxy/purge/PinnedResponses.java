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
 * Which pinned responses are still worth it: not those that a purge of a host, a prefix, a group or everything has outdated, nor
 * variants to which no marker leads any more, as after a purge of their URL.
 *
 * <p>Thread-safe.
 */
public final class PinnedResponses implements PinCheck<StoredHead> {
    private final CacheStore<StoredHead> store;
    private final Invalidations invalidations;

    /** Of one store. */
    public PinnedResponses(CacheStore<StoredHead> store, Invalidations invalidations) {
        this.store = store;
        this.invalidations = invalidations;
    }

    @Override
    public boolean isHeld(byte[] key, StoredHead head) {
        if (head.isVaryMarker()) {
            return true;
        }
        int primaryLength = lengthBefore(key, key.length, 0);
        if (primaryLength < key.length && !isLedTo(key, primaryLength)) {
            return false;
        }
        // What a rule adds to the URL in its keys comes after a space.
        int urlLength = lengthBefore(key, primaryLength, ' ');
        String url = new String(key, 0, urlLength, StandardCharsets.ISO_8859_1);
        Outdated outdated =
                TargetUri.parseAbsolute(url) instanceof TargetUri target ? invalidations.of(target, head) : null;
        return outdated == null || outdated.isSoft();
    }

    /** Whether a marker leads to the variant, as far as can be told without reading one from disk. */
    private boolean isLedTo(byte[] key, int primaryLength) {
        StoredObject<StoredHead> marker = store.get(store.key(key, 0, primaryLength));
        if (marker == null) {
            return store.contains(store.key(key, 0, primaryLength));
        }
        try {
            boolean told = key.length >= primaryLength + 1 + Long.BYTES;
            return told
                    && marker.head().isVaryMarker()
                    && marker.head().nonce() == ByteBuffer.wrap(key).getLong(primaryLength + 1);
        } finally {
            marker.release();
        }
    }

    private static int lengthBefore(byte[] key, int end, int stop) {
        int length = 0;
        while (length < end && key[length] != stop) {
            length++;
        }
        return length;
    }
}
