package io.millrace.store.index;

import java.util.concurrent.atomic.AtomicLongArray;

/** Words on the heap, where every access can be seen and counted. */
final class HeapMemory extends TableMemory {
    private final AtomicLongArray words;
    /** Accesses of any kind; exact when one thread makes them all. */
    long accesses;

    HeapMemory(long words) {
        this.words = new AtomicLongArray((int) words);
    }

    @Override
    long get(long word) {
        accesses++;
        return words.getPlain((int) word);
    }

    @Override
    long getOpaque(long word) {
        accesses++;
        return words.getOpaque((int) word);
    }

    @Override
    long getAcquire(long word) {
        accesses++;
        return words.getAcquire((int) word);
    }

    @Override
    void set(long word, long value) {
        accesses++;
        words.setPlain((int) word, value);
    }

    @Override
    void setOpaque(long word, long value) {
        accesses++;
        words.setOpaque((int) word, value);
    }

    @Override
    void setRelease(long word, long value) {
        accesses++;
        words.setRelease((int) word, value);
    }

    @Override
    boolean compareAndSet(long word, long expected, long value) {
        accesses++;
        return words.compareAndSet((int) word, expected, value);
    }

    @Override
    void force() {
        // There is no device.
    }
}
