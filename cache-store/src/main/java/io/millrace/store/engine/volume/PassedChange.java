package io.millrace.store.engine.volume;

import io.millrace.store.Journal;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The encoding of a change that a store passes to its successor. The successor is the store of another process that has
 * taken over the volumes.
 *
 * <pre>
 * removal:        1 (1), the key
 * journal entry:  2 (1), stamp (8, big endian), content
 * </pre>
 */
public final class PassedChange {
    private static final byte REMOVAL = 1;
    private static final byte ENTRY = 2;
    private static final int ENTRY_HEADER = 1 + Long.BYTES;

    private PassedChange() {}

    /** Encodes the removal of a key. */
    public static byte[] removal(byte[] key) {
        return ByteBuffer.allocate(1 + key.length).put(REMOVAL).put(key).array();
    }

    static byte[] entry(Journal.Entry entry) {
        return ByteBuffer.allocate(ENTRY_HEADER + entry.content().length)
                .put(ENTRY)
                .putLong(entry.stamp())
                .put(entry.content())
                .array();
    }

    /** Returns true if the change is a removal. */
    public static boolean isRemoval(byte[] change) {
        return change.length > 0 && change[0] == REMOVAL;
    }

    /** Returns true if the change is a journal entry. */
    public static boolean isEntry(byte[] change) {
        return change.length >= ENTRY_HEADER && change[0] == ENTRY;
    }

    /** Returns the key of a removal. */
    public static byte[] key(byte[] change) {
        return Arrays.copyOfRange(change, 1, change.length);
    }

    /** Decodes the journal entry of a change for which {@link #isEntry} is true. */
    public static Journal.Entry entryOf(byte[] change) {
        long stamp = ByteBuffer.wrap(change).getLong(1);
        return new Journal.Entry(stamp, Arrays.copyOfRange(change, ENTRY_HEADER, change.length));
    }
}
