package io.millrace.store.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Epoch-based reclamation for entries of the RAM tier. It allows threads to read entries without reference counts. Each
 * reader increments its own number at the beginning and at the end of a read section. An entry that was removed from
 * the table is released when each reader that may have found it has ended its section.
 *
 * <pre>
 *   reader                              remover of an entry
 *   number := odd                       unlinks the entry
 *   finds the entry, is it linked?      queues the entry until each odd number has changed
 *   reads it                            releases the entry
 *   number := even
 * </pre>
 *
 * <p>The reader and the remover each write their own value with volatile semantics, and then read the value of the
 * other. Therefore the remover sees an odd number, or the reader sees that the entry is unlinked. Source: Fraser,
 * Practical lock-freedom, 2004, s5.2.3; here each reader has an epoch of its own.
 *
 * <p>Thread-safe; no method waits.
 */
final class EpochReclamation {
    /**
     * The state of one reader: whether it is in a read section. Confined to the reader's thread, except that other
     * threads read the number.
     */
    static final class Section {
        /**
         * Number of unused longs before and after the number. The padding keeps other data out of the cache line of the
         * number, and out of the adjacent line that the processor prefetches.
         */
        private static final int PAD = 16;

        private final AtomicLongArray numbers = new AtomicLongArray(2 * PAD + 1);

        /** Returns the number, which is odd during a read section. */
        private long number() {
            return numbers.get(PAD);
        }

        void begin() {
            if (isInProgress()) {
                throw new IllegalStateException("a read section is already in progress");
            }
            numbers.set(PAD, numbers.getPlain(PAD) + 1);
        }

        boolean isInProgress() {
            return (numbers.getPlain(PAD) & 1) != 0;
        }

        void end() {
            if (!isInProgress()) {
                throw new IllegalStateException("no read section is in progress");
            }
            numbers.setRelease(PAD, numbers.getPlain(PAD) + 1);
        }
    }

    /** A section that was in progress at some time, and its number at that time. */
    private record Reader(Section section, long number) {
        boolean mayStillRead() {
            return section.number() == number;
        }
    }

    private record QueuedEntry(int slot, int bytes, List<Reader> readers) {
        boolean mayStillBeRead() {
            for (Reader reader : readers) {
                if (reader.mayStillRead()) {
                    return true;
                }
            }
            return false;
        }
    }

    private final IntConsumer release;
    private final ReentrantLock lock = new ReentrantLock();
    /** Written under {@link #lock}. */
    private volatile Section[] sections = {};
    /** Guarded by {@link #lock}. */
    private final ArrayDeque<QueuedEntry> queue = new ArrayDeque<>();
    /** Size of {@link #queue}; written under {@link #lock}. */
    private volatile int waiting;
    /** Bytes of the bodies in {@link #queue}. */
    private final AtomicLong waitingBytes = new AtomicLong();

    /**
     * Creates a reclamation without readers.
     *
     * @param release releases the memory of an entry, after its last reader; receives the entry's slot
     */
    EpochReclamation(IntConsumer release) {
        this.release = release;
    }

    /** Adds a reader and returns its section. Any thread may call it. */
    Section open() {
        lock.lock();
        try {
            Section section = new Section();
            Section[] more = Arrays.copyOf(sections, sections.length + 1);
            more[sections.length] = section;
            sections = more;
            return section;
        } finally {
            lock.unlock();
        }
    }

    /** Removes a reader; ends its section if it is in progress. Call on the thread of the reader. */
    void close(Section section) {
        if (section.isInProgress()) {
            // Otherwise the entries that wait for this section, and all entries behind them in the queue, would never
            // be released.
            section.end();
        }
        lock.lock();
        try {
            List<Section> others = new ArrayList<>(List.of(sections));
            others.remove(section);
            sections = others.toArray(new Section[0]);
        } finally {
            lock.unlock();
        }
        releaseUnread();
    }

    /**
     * Releases an unlinked entry after its last reader. Until then, a reader may be using the entry without a reference
     * of its own.
     *
     * @param bytes bytes of the entry's block
     */
    void releaseAfterReaders(int slot, int bytes) {
        List<Reader> readers = sectionsInProgress();
        if (readers == null) {
            release.accept(slot);
        } else {
            enqueue(new QueuedEntry(slot, bytes, readers));
        }
        releaseUnread();
    }

    private void enqueue(QueuedEntry queued) {
        lock.lock();
        try {
            queue.add(queued);
            updateCounters(queued.bytes());
        } finally {
            lock.unlock();
        }
    }

    private void updateCounters(long bytes) {
        waitingBytes.addAndGet(bytes);
        waiting = queue.size();
    }

    /** Returns the read sections that are in progress; null if there are none. */
    private @Nullable List<Reader> sectionsInProgress() {
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
     * Releases the queued entries that no reader can be using any more. Call periodically; apart from that, only
     * removals and {@link #close} call it.
     */
    void releaseUnread() {
        if (waiting == 0) {
            return;
        }
        // Entries are taken one at a time. So the lock is held briefly, and an exception for one entry does not affect
        // the other entries.
        for (int unread = pollUnread(); unread != EntrySlots.NONE; unread = pollUnread()) {
            release.accept(unread);
        }
    }

    /**
     * Removes the first queued entry and returns its slot. {@link EntrySlots#NONE} if the queue is empty, or if a reader
     * may still be using that entry.
     */
    private int pollUnread() {
        lock.lock();
        try {
            // Only the first entry is checked, so that later entries may wait longer than needed.
            QueuedEntry first = queue.peek();
            if (first == null || first.mayStillBeRead()) {
                return EntrySlots.NONE;
            }
            queue.remove();
            updateCounters(-first.bytes());
            return first.slot();
        } finally {
            lock.unlock();
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
