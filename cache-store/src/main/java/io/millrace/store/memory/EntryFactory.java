package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;

/**
 * Creates an entry from the data that {@link RamEntry#writeDetails} has written.
 *
 * @param <E> the kind of entry
 */
@FunctionalInterface
public interface EntryFactory<E extends RamEntry> {
    /**
     * Creates an entry. Takes ownership of the body.
     *
     * @param keyBytes the key, for this entry only
     * @param hashHigh upper half of the key's hash
     * @param hashLow lower half of the key's hash
     * @param body its readable bytes are the body
     * @param bytesAfterBody number of bytes after the readable ones that belong to the entry
     * @param details the details; borrowed
     */
    E create(byte[] keyBytes, long hashHigh, long hashLow, ByteBuf body, int bytesAfterBody, ByteBuf details);
}
