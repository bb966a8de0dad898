package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoredObject;
import org.jspecify.annotations.Nullable;

/**
 * The stored response that is being validated, kept in case the origin fails (RFC 9111 s4.2.4). Owns a reference while
 * it contains an object.
 *
 * <p>Confined to one event loop.
 */
public final class StaleCopy {
    private @Nullable StoredObject<StoredHead> object;

    /** Takes over the reference. */
    public void keep(StoredObject<StoredHead> stale) {
        object = stale;
    }

    /** Returns true if all bytes that a request wants are stored. */
    public boolean isPresentFor(RequestHead request) {
        StoredObject<StoredHead> copy = object;
        return copy != null && StoredParts.of(request, copy) == StoredParts.PRESENT;
    }

    /**
     * Returns true if the response may be served stale. This may be after its lifetime, or after a soft purge, which
     * only makes responses stale.
     */
    public boolean mayAnswer(
            RequestHead request,
            long nowMillis,
            CacheSettings settings,
            Invalidations invalidations,
            TargetUri keyUrl) {
        StoredObject<StoredHead> copy = object;
        return copy != null
                && StaleServing.of(
                                request,
                                copy.head(),
                                nowMillis,
                                settings,
                                invalidations.staleSinceMillis(keyUrl, copy.head(), copy.length()))
                        instanceof StaleServing.Allowed;
    }

    /**
     * Returns true if a hard purge has outdated the response since it was found. A hard purge forbids any use of a
     * response.
     */
    public boolean isHardInvalidated(Invalidations invalidations, TargetUri keyUrl) {
        StoredObject<StoredHead> copy = object;
        Outdated outdated = copy == null ? null : invalidations.of(keyUrl, copy.head(), copy.length());
        return outdated != null && !outdated.isSoft();
    }

    /** Returns the response. The caller takes over the reference. */
    public StoredObject<StoredHead> take() {
        StoredObject<StoredHead> copy = object;
        object = null;
        if (copy == null) {
            throw new IllegalStateException("no stale response");
        }
        return copy;
    }

    public void release() {
        StoredObject<StoredHead> copy = object;
        object = null;
        if (copy != null) {
            copy.release();
        }
    }
}
