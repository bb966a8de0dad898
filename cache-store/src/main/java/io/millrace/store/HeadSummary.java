package io.millrace.store;

import java.util.List;

/**
 * What the inventory says of a head, for people and searches. The store hands it back as it is.
 *
 * <p>Immutable.
 *
 * @param storedAtSeconds when the object was stored, in seconds since the epoch; 0 when not known
 * @param text whatever its owner wants to see in a listing; at most 1024 bytes of it are kept
 * @param tags its tags; at most 64 of at most 255 bytes are kept
 */
public record HeadSummary(long storedAtSeconds, String text, List<String> tags) {
    /** Says nothing. */
    public static final HeadSummary NONE = new HeadSummary(0, "", List.of());

    /** Copies the list. */
    public HeadSummary {
        tags = List.copyOf(tags);
    }
}
