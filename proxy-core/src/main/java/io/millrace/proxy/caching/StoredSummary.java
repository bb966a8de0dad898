package io.millrace.proxy.caching;

import io.millrace.store.HeadSummary;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The part of a stored head that cache listings show. Its text form has six lines: status, Content-Type, variant, stamp
 * in base 36 (see {@link Invalidations}), site of the tags, and cache groups in base 36. A line is empty if the value
 * is missing. Tags are stored separately. The third line of a Vary marker is its nonce in base 36.
 *
 * <p>Immutable.
 *
 * @param status the status code; 0 for a Vary marker (the record of a URL's selecting fields)
 * @param type the Content-Type, or null
 * @param variant the selecting request fields with their values, or null; for a Vary marker, its nonce (random number
 *     in the keys of its variants) in base 36, or null in summaries of an earlier version
 * @param stamp value of {@link StoredHead#stamp}; -1 in summaries of an earlier version
 * @param site site of the tags, or null for the host of the URL
 * @param groups the first {@value #GROUPS_MAX} of {@link StoredHead#groups}; the caller must not change the array
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredSummary(
        int status,
        @Nullable String type,
        @Nullable String variant,
        long stamp,
        @Nullable String site,
        long[] groups) {
    /** Limit of cache groups in a summary. */
    public static final int GROUPS_MAX = 16;

    /** Limit of a Content-Type in characters; longer values are cut. */
    private static final int TYPE_LENGTH_MAX = 128;

    /** Limits of the other lines in characters. */
    private static final int VARIANT_LENGTH_MAX = 512;

    private static final int SITE_LENGTH_MAX = 255;

    /** Summarizes a stored head. */
    static HeadSummary of(StoredHead head) {
        String type = head.isVaryMarker() ? null : typeOf(head);
        String variant = head.isVaryMarker()
                ? Long.toString(head.nonce(), Character.MAX_RADIX)
                : head.variance().describe(head.varyValues);
        String text = head.status() + "\n" + line(type, TYPE_LENGTH_MAX) + "\n" + line(variant, VARIANT_LENGTH_MAX)
                + "\n" + Long.toString(head.stamp(), Character.MAX_RADIX) + "\n"
                + line(head.tags().site(), SITE_LENGTH_MAX) + "\n"
                + groups(head.groups());
        return new HeadSummary(
                head.responseTimeMillis() / 1000, text, head.tags().texts());
    }

    private static String groups(long[] hashes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(GROUPS_MAX, hashes.length); i++) {
            text.append(i == 0 ? "" : " ").append(Long.toString(hashes[i], Character.MAX_RADIX));
        }
        return text.toString();
    }

    /** Returns the Content-Type of a head, cut to the length in listings; null if the head has no Content-Type. */
    public static @Nullable String typeOf(StoredHead head) {
        int start = head.contentTypeStart();
        if (start < 0) {
            return null;
        }
        int end = Math.min(head.contentTypeEnd(start), start + TYPE_LENGTH_MAX);
        return new String(head.wire, start, end - start, StandardCharsets.ISO_8859_1);
    }

    private static String line(@Nullable String text, int lengthMax) {
        if (text == null) {
            return "";
        }
        String cut = text.length() > lengthMax ? text.substring(0, lengthMax) : text;
        return cut.replace('\n', ' ');
    }

    /** Parses the text that {@link #of} wrote. */
    public static StoredSummary read(String text) {
        String[] lines = text.split("\n", -1);
        int status = 0;
        try {
            status = lines[0].isEmpty() ? 0 : Integer.parseInt(lines[0]);
        } catch (NumberFormatException e) {
            // A later version has written the summary; the status is shown as 0.
            status = 0;
        }
        return new StoredSummary(
                status, part(lines, 1), part(lines, 2), number(part(lines, 3)), part(lines, 4), groups(part(lines, 5)));
    }

    /**
     * Returns true if this is the summary of a Vary marker with the nonce in a variant's key. Also true for a marker
     * without a nonce in its summary, which an earlier version wrote.
     *
     * @param primaryLength length of the primary key, which a NUL and the nonce follow
     */
    public boolean leadsTo(byte[] variantKey, int primaryLength) {
        if (status != 0) {
            return false;
        }
        int start = primaryLength + 1;
        return variant == null
                || (variantKey.length >= start + Long.BYTES
                        && variant.equals(
                                Long.toString(ByteBuffer.wrap(variantKey).getLong(start), Character.MAX_RADIX)));
    }

    private static long number(@Nullable String text) {
        try {
            return text == null ? -1 : Long.parseLong(text, Character.MAX_RADIX);
        } catch (NumberFormatException e) {
            // The value was cut at the length limit, or a later version has written it.
            return -1;
        }
    }

    private static long[] groups(@Nullable String text) {
        if (text == null) {
            return new long[0];
        }
        String[] parts = text.split(" ", -1);
        long[] groups = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            groups[i] = number(parts[i]);
        }
        return groups;
    }

    private static @Nullable String part(String[] lines, int number) {
        return number >= lines.length || lines[number].isEmpty() ? null : lines[number];
    }
}
