package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.http.FieldSection;
import java.nio.ByteBuffer;

/**
 * The key of one variant of a URL whose responses vary (RFC 9111 s4.1), found by way of the marker stored under the
 * primary key.
 *
 * <pre>
 * +-------------+---+---------------+--------------------------------------------------+
 * | primary key | 0 | nonce (8, BE) | the request's values, as Variance.valuesOf gives |
 * +-------------+---+---------------+--------------------------------------------------+
 * </pre>
 *
 * No primary key contains a NUL, so none is a variant's. A new nonce in the marker orphans all variants at once.
 */
public final class VariantKey {

    private VariantKey() {}

    /**
     * The bytes of the variant's key.
     *
     * @param primary the bytes of the primary key, borrowed
     * @param marker what is stored under the primary key
     * @param requestFields the fields of the request that asks
     */
    public static byte[] of(byte[] primary, StoredHead marker, FieldSection requestFields) {
        return of(primary, marker, marker.variance().valuesOf(requestFields));
    }

    /**
     * The same for values that are known.
     *
     * @param values as {@link Variance#valuesOf} gives them, borrowed
     */
    public static byte[] of(byte[] primary, StoredHead marker, byte[] values) {
        return ByteBuffer.allocate(primary.length + 1 + Long.BYTES + values.length)
                .put(primary)
                .put((byte) 0)
                .putLong(marker.nonce())
                .put(values)
                .array();
    }
}
