package io.millrace.proxy.purge.fleet;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The last message that a node has applied from the stream of shared purges. Immutable.
 *
 * @param created time of creation of the stream, as its server writes it; a recreated stream has another time
 * @param sequence number of the message in the stream; 0 before the first message
 * @param id identifier of that message; empty if it is not known
 */
public record FleetPosition(String created, long sequence, String id) {
    /** Returns the text for the journal. */
    public byte[] bytes() {
        return (created + "\n" + sequence + "\n" + id).getBytes(StandardCharsets.UTF_8);
    }

    /** Reads the result of {@link #bytes}; null if the bytes are no position. */
    public static @Nullable FleetPosition read(byte[] bytes) {
        String[] parts = new String(bytes, StandardCharsets.UTF_8).split("\n", 3);
        try {
            return parts.length == 3 ? new FleetPosition(parts[0], Long.parseLong(parts[1]), parts[2]) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
