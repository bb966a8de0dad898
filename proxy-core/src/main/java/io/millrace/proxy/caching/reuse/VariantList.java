package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The variants of a URL that its marker lists, oldest first, so that their number can be bounded. Each is an entry of the
 * marker's Vary values:
 *
 * <pre>
 * +------------+--------------------------------------------+
 * | length (4) | the request's values as Variance gives them |   and so on
 * +------------+--------------------------------------------+
 * </pre>
 *
 * No state.
 */
public final class VariantList {

    /** Longest list; oldest variants leave before it gets longer. */
    static final int BYTES_MAX = 16 * 1024;

    /**
     * A marker that lists one more variant.
     *
     * @param marker to be stored in place of the old one
     * @param dropped values of the variants that are no longer listed, and are to be removed
     * @param guilty the field or cookie of which the listed variants have the most different values; null where none was dropped
     */
    public record Added(
            StoredHead marker,
            List<byte[]> dropped,
            @Nullable String guilty) {}

    private VariantList() {}

    /** Whether the marker lists the variant with these values. */
    public static boolean contains(StoredHead marker, byte[] values) {
        byte[] list = marker.varyValues();
        ByteBuffer in = ByteBuffer.wrap(list);
        while (in.remaining() >= Integer.BYTES) {
            int length = in.getInt();
            int start = in.position();
            if (length < 0 || length > in.remaining()) {
                return false;
            }
            if (Arrays.equals(list, start, start + length, values, 0, values.length)) {
                return true;
            }
            in.position(start + length);
        }
        return false;
    }

    /**
     * Lists a variant that is not yet listed; the oldest make room for it.
     *
     * @param max how many may be listed; 0 for any number
     */
    public static Added add(StoredHead marker, byte[] values, int max) {
        List<byte[]> listed = read(marker);
        listed.add(values);
        List<byte[]> dropped = new ArrayList<>();
        String guilty = null;
        while (listed.size() > 1 && ((max > 0 && listed.size() > max) || length(listed) > BYTES_MAX)) {
            guilty = guilty == null ? mostVaried(marker.variance(), listed) : guilty;
            dropped.add(listed.remove(0));
        }
        ByteBuffer out = ByteBuffer.allocate(length(listed));
        for (byte[] each : listed) {
            out.putInt(each.length).put(each);
        }
        return new Added(marker.withVariants(out.array()), List.copyOf(dropped), guilty);
    }

    private static List<byte[]> read(StoredHead marker) {
        List<byte[]> listed = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(marker.varyValues());
        while (in.remaining() >= Integer.BYTES) {
            int length = in.getInt();
            if (length < 0 || length > in.remaining()) {
                return listed;
            }
            byte[] values = new byte[length];
            in.get(values);
            listed.add(values);
        }
        return listed;
    }

    private static int length(List<byte[]> listed) {
        int length = 0;
        for (byte[] values : listed) {
            length += Integer.BYTES + values.length;
        }
        return length;
    }

    private static @Nullable String mostVaried(Variance variance, List<byte[]> listed) {
        String most = null;
        long count = 0;
        for (int i = 0; i < variance.selectorCount(); i++) {
            int index = i;
            long different = listed.stream()
                    .map(values -> Variance.valueAt(values, index))
                    .distinct()
                    .count();
            if (different > count) {
                count = different;
                most = variance.selectorAt(i);
            }
        }
        return most;
    }
}
