package io.millrace.store.index;

import java.io.IOException;

/**
 * 64-bit words that a table lies in, read and written in the modes of {@link java.lang.invoke.VarHandle}: a mapped file,
 * or an array where a test wants to see every access.
 *
 * <p>Thread-safe as far as the modes say.
 */
abstract class TableMemory {
    abstract long get(long word);

    abstract long getOpaque(long word);

    abstract long getAcquire(long word);

    abstract void set(long word, long value);

    abstract void setOpaque(long word, long value);

    abstract void setRelease(long word, long value);

    /**
     * Sets one byte of a word, the lowest being number 0. Never a compare-and-set: see {@link MappedMemory}. What others
     * store into the word at the same time may be lost in that byte, and only there.
     */
    abstract void setByte(long word, int number, byte value);

    /** Forces what was written to the device. */
    abstract void force() throws IOException;
}
