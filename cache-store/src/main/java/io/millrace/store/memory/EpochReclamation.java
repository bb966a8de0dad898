package io.millrace.store.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Epoch-based reclamation for entries of a table. Threads read entries without reference counts. Each thread has its
 * own number, which it changes when it begins and ends a read section. An entry that was removed from the table is
 * released when all threads that may have found it have ended their section.
 *
 * <pre>
 *   reader                              remover of an entry
 *   number := odd                       unlinks the entry
 *   finds the entry, is it linked?      queues the entry until each odd number has changed
 *   reads it                            releases the entry
 *   number := even
 * </pre>
 *
 * <p>Each side first writes its own value in full order and then reads the value of the other side. So the remover
 * finds an odd number, or the reader finds that the entry is unlinked. (Epochs as in Fraser, Practical lock-freedom,
 * 2004, s5.2.3, one per reader.)
 *
 * <p>Thread-safe; no method waits.
 */
final class EpochReclamation {
    /** The read section of one thread. Confined to it, except reads of the number. */
    static final class Section {
        /**
         * Number of unused longs on either side of the number. The number then shares neither its cache line nor the
         * adjacent, prefetched one with other data.
         */
        private static final int PAD = 16;

        private final AtomicLongArray numbers = new AtomicLongArray(2 * PAD + 1);

        /** Returns the number: odd while the thread reads. */
        private long number() {
            return numbers.get(PAD);
        }

        void begin() {
            if (isUnderWay()) {
                throw new IllegalStateException("begun already");
            }
            numbers.set(PAD, numbers.getPlain(PAD) + 1);
        }

        boolean isUnderWay() {
            return (numbers.getPlain(PAD) & 1) != 0;
        }

        void end() {
            if (!isUnderWay()) {
                throw new IllegalStateException("not begun");
            }
            numbers.setRelease(PAD, numbers.getPlain(PAD) + 1);
        }
    }

    /** A section that was in progress, with its number at that time. */
    private record Reader(Section section, long number) {
        boolean mayStillRead() {
            return section.number() == number;
        }
    }

    private record Waiting(RamEntry entry, List<Reader> readers) {
        boolean mayBeRead() {
            for (Reader reader : readers) {
                if (reader.mayStillRead()) {
                    return true;
                }
            }
            return false;
        }
    }

    private final ReentrantLock changing = new ReentrantLock();
    /** Written under {@link #changing}. */
    private volatile Section[] sections = {};
    /** Guarded by {@link #changing}. */
    private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    /** Size of {@link #queue}; written under {@link #changing}. */
    private volatile int waiting;
    /** Bytes of the bodies in {@link #queue}. */
    private final AtomicLong waitingBytes = new AtomicLong();

    /** Creates the section of a thread that will read. */
    Section open() {
        changing.lock();
        try {
            Section section = new Section();
            Section[] more = Arrays.copyOf(sections, sections.length + 1);
            more[sections.length] = section;
            sections = more;
            return section;
        } finally {
            changing.unlock();
        }
    }

    /** Removes a section; ends it if it is in progress. Call on its thread. */
    void close(Section section) {
        if (section.isUnderWay()) {
            // Otherwise entries removed in the meantime, and all later ones after them, would never be released.
            section.end();
        }
        changing.lock();
        try {
            List<Section> others = new ArrayList<>(List.of(sections));
            others.remove(section);
            sections = others.toArray(new Section[0]);
        } finally {
            changing.unlock();
        }
        letGo();
    }

    /** Releases a reference to an unlinked entry, as soon as no thread can read it without a reference. */
    void releaseAfterReaders(RamEntry entry) {
        List<Reader> readers = readersNow();
        if (readers == null) {
            entry.releaseEntry();
        } else {
            enqueue(new Waiting(entry, readers));
        }
        letGo();
    }

    private void enqueue(Waiting taken) {
        changing.lock();
        try {
            queue.add(taken);
            count(taken.entry().bodyBytes());
        } finally {
            changing.unlock();
        }
    }

    private void count(long bytes) {
        waitingBytes.addAndGet(bytes);
        waiting = queue.size();
    }

    private @Nullable List<Reader> readersNow() {
        List<Reader> readers = null;
        for (Section section : sections) {
            long number = section.number();
            if ((number & 1) != 0) {
                if (readers == null) {
                    readers = new ArrayList<>();
                }
                readers.add(new Reader(section, number));
            }
        }
        return readers;
    }

    /**
     * Releases entries that no thread can be reading any more. Must be called periodically, because otherwise only a
     * removal calls it.
     */
    void letGo() {
        if (waiting == 0) {
            return;
        }
        // One entry at a time: the lock is held briefly, and an exception for one entry does not affect the others.
        for (RamEntry free = next(); free != null; free = next()) {
            free.releaseEntry();
        }
    }

    /** Removes and returns an entry that no thread can be reading any more; null if the first one may still be read. */
    private @Nullable RamEntry next() {
        changing.lock();
        try {
            // Entries after a waiting one may wait longer than needed.
            Waiting first = queue.peek();
            if (first == null || first.mayBeRead()) {
                return null;
            }
            queue.remove();
            count(-first.entry().bodyBytes());
            return first.entry();
        } finally {
            changing.unlock();
        }
    }

    /** Returns the number of entries that wait for their readers. */
    int waiting() {
        return waiting;
    }

    /** Returns the bytes of the bodies of entries that wait for their readers. */
    long waitingBytes() {
        return waitingBytes.get();
    }
}
