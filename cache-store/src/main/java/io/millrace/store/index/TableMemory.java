package io.millrace.store.index;

import java.io.IOException;

/**
 * The 64-bit words of a table, accessed in the modes of {@link java.lang.invoke.VarHandle}. The memory is a mapped
 * file, or an array in tests that observe every access.
 *
 * <p>Thread-safe within the guarantees of the modes.
 */
abstract class TableMemory {
    abstract long get(long word);

    abstract long getOpaque(long word);

    abstract long getAcquire(long word);

    abstract void set(long word, long value);

    abstract void setOpaque(long word, long value);

    abstract void setRelease(long word, long value);

    /**
     * Sets one byte of a word, the lowest being number 0. Does not use compare-and-set: see {@link MappedMemory}. A
     * concurrent store of another thread into the word may lose that byte only.
     */
    abstract void setByte(long word, int number, byte value);

    /** Forces stored words to the device. */
    abstract void force() throws IOException;
}
