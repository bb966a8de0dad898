package io.millrace.store;

import java.util.List;

/**
 * A description of a head for listings and searches. The store keeps it in the inventory (the table of stored objects)
 * and never interprets the text.
 *
 * <p>Immutable.
 *
 * @param storedAtSeconds time at which the object was stored, in seconds since the epoch; 0 if not known
 * @param text text that the {@link HeadCodec} defines; the store truncates it after 1024 bytes of UTF-8
 * @param tags tags of the object; the store keeps the first 64 tags and omits tags over 255 bytes
 */
public record HeadSummary(long storedAtSeconds, String text, List<String> tags) {
    /** The summary of a codec that describes nothing. */
    public static final HeadSummary NONE = new HeadSummary(0, "", List.of());

    /** Copies {@code tags}, so that later changes of the list have no effect. */
    public HeadSummary {
        tags = List.copyOf(tags);
    }
}
