package io.millrace.store;

import java.util.List;

/**
 * A description of a head for listings and searches in the inventory. The store returns it unchanged.
 *
 * <p>Immutable.
 *
 * @param storedAtSeconds time at which the object was stored, in seconds since the epoch; 0 if not known
 * @param text text of the owner for listings; the store keeps at most 1024 bytes of it
 * @param tags tags of the object; the store keeps at most 64 tags of at most 255 bytes
 */
public record HeadSummary(long storedAtSeconds, String text, List<String> tags) {
    /** The summary without any content. */
    public static final HeadSummary NONE = new HeadSummary(0, "", List.of());

    /** Copies the list. */
    public HeadSummary {
        tags = List.copyOf(tags);
    }
}
