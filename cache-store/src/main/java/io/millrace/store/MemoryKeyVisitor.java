package io.millrace.store;

/** A visitor of the keys of objects in memory, for {@link CacheStore#visitMemory}. */
@FunctionalInterface
public interface MemoryKeyVisitor {
    /**
     * Receives one key. A key may be passed more than once.
     *
     * @param key borrowed; never to be changed
     * @param filling true if writers may be in flight for the key, or an incomplete object is in memory
     */
    void key(byte[] key, boolean filling);
}
