package io.millrace.proxy.caching.reuse;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.Variance;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The list of variants in the Vary marker of a URL, oldest first. A Vary marker is the record of the URL's selecting
 * fields. The list limits the number of variants. It is encoded in the marker's Vary values, one entry per variant:
 *
 * <pre>
 * +------------+--------------------------------------------+
 * | length (4) | the request's values as Variance gives them |   and so on
 * +------------+--------------------------------------------+
 * </pre>
 *
 * Thread-safe: no state.
 */
public final class VariantList {

    /** Limit of the encoded list in bytes; the oldest variants are dropped beyond it. */
    static final int BYTES_MAX = 16 * 1024;

    /**
     * The result of adding a variant.
     *
     * @param marker the marker to store in place of the old one
     * @param dropped values of the variants that are no longer listed and must be removed
     * @param mostVaried the field or cookie with the most distinct values among the listed variants; null when no
     *     variant was dropped
     */
    public record Added(
            StoredHead marker,
            List<byte[]> dropped,
            @Nullable String mostVaried) {}

    private VariantList() {}

    /** Returns true if the marker lists the variant with these values. */
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
     * Returns the values of the listed variants that are compressed with a dictionary and otherwise match a request.
     *
     * @param values the values of the request; its own variant is left out
     */
    public static List<byte[]> withDictionary(StoredHead marker, byte[] values) {
        List<byte[]> found = new ArrayList<>();
        for (byte[] listed : read(marker)) {
            if (!Arrays.equals(listed, values) && marker.variance().isOtherDictionary(listed, values)) {
                found.add(listed);
            }
        }
        return found;
    }

    /**
     * Adds a variant that is not listed yet. Drops the oldest variants beyond a limit.
     *
     * @param max limit of listed variants; 0 for none
     */
    public static Added add(StoredHead marker, byte[] values, int max) {
        List<byte[]> listed = read(marker);
        listed.add(values);
        List<byte[]> dropped = new ArrayList<>();
        String mostVaried = null;
        while (listed.size() > 1 && ((max > 0 && listed.size() > max) || length(listed) > BYTES_MAX)) {
            mostVaried = mostVaried == null ? mostVaried(marker.variance(), listed) : mostVaried;
            dropped.add(listed.remove(0));
        }
        ByteBuffer out = ByteBuffer.allocate(length(listed));
        for (byte[] each : listed) {
            out.putInt(each.length).put(each);
        }
        return new Added(marker.withVariants(out.array()), List.copyOf(dropped), mostVaried);
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
