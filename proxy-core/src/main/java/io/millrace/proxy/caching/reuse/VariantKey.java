package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldSection;
import java.nio.ByteBuffer;

/**
 * Builds the key of one variant of a URL whose responses vary (RFC 9111 s4.1). The Vary marker stored under the primary
 * key lists the selecting fields.
 *
 * <pre>
 * +-------------+---+---------------+--------------------------------------------------+
 * | primary key | 0 | nonce (8, BE) | the request's values, as Variance.valuesOf gives |
 * +-------------+---+---------------+--------------------------------------------------+
 * </pre>
 *
 * No primary key contains a NUL, so no primary key equals a variant's key. A new nonce in the marker makes all variants
 * unreachable at once.
 */
public final class VariantKey {

    private VariantKey() {}

    /**
     * Returns the bytes of the variant's key.
     *
     * @param primary the bytes of the primary key, borrowed
     * @param marker the Vary marker stored under the primary key
     * @param requestFields the fields of the request
     * @param encoding the codings of the request's rule
     */
    public static byte[] of(byte[] primary, StoredHead marker, FieldSection requestFields, EncodingRules encoding) {
        return of(primary, marker, marker.variance().valuesOf(requestFields, encoding));
    }

    /**
     * Returns the bytes of the variant's key for known values.
     *
     * @param values the result of {@link Variance#valuesOf}, borrowed
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
