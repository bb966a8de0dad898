package io.millrace.store.index;

import java.util.concurrent.atomic.AtomicLongArray;

/** Words on the heap, whose accesses a model checker can observe. */
class HeapMemory extends TableMemory {
    private final AtomicLongArray words;

    HeapMemory(long words) {
        this.words = new AtomicLongArray((int) words);
    }

    /** Called before each access. */
    void accessed() {
        // Accesses are not counted.
    }

    @Override
    long get(long word) {
        accessed();
        return words.getPlain((int) word);
    }

    @Override
    long getOpaque(long word) {
        accessed();
        return words.getOpaque((int) word);
    }

    @Override
    long getAcquire(long word) {
        accessed();
        return words.getAcquire((int) word);
    }

    @Override
    void set(long word, long value) {
        accessed();
        words.setPlain((int) word, value);
    }

    @Override
    void setOpaque(long word, long value) {
        accessed();
        words.setOpaque((int) word, value);
    }

    @Override
    void setRelease(long word, long value) {
        accessed();
        words.setRelease((int) word, value);
    }

    @Override
    void setByte(long word, int number, byte value) {
        accessed();
        long mask = 0xFFL << (number * Byte.SIZE);
        long bits = (value & 0xFFL) << (number * Byte.SIZE);
        words.updateAndGet((int) word, before -> (before & ~mask) | bits);
    }

    @Override
    void force() {
        // There is no device to sync.
    }
}
