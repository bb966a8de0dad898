package io.millrace.store.index;

import java.io.IOException;

/**
 * The 64-bit words of a table, with the access modes of {@link java.lang.invoke.VarHandle}. The memory is a mapped
 * file, or an array in tests that observe every access.
 *
 * <p>Thread-safe as far as the access modes guarantee it.
 */
abstract class TableMemory {
    abstract long get(long word);

    abstract long getOpaque(long word);

    abstract long getAcquire(long word);

    abstract void set(long word, long value);

    abstract void setOpaque(long word, long value);

    abstract void setRelease(long word, long value);

    /**
     * Sets one byte of a word; number 0 is the lowest byte. Uses no compare-and-set (see {@link MappedMemory} for the
     * reason). A concurrent store of the whole word may overwrite the byte; the other bytes are not affected.
     */
    abstract void setByte(long word, int number, byte value);

    /** Forces stored words to the device. */
    abstract void force() throws IOException;
}
