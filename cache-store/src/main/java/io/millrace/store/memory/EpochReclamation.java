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
 * Lets threads read entries of a table without counting themselves on them: each says in a number of its own when it begins and when it
 * ends, and what is taken out of the table meanwhile is let go when those have ended who may have found it before.
 *
 * <pre>
 *   reader                              who takes an entry out
 *   number := odd                       entry is linked no more
 *   finds the entry, is it linked?      numbers that are odd: waits until each has changed
 *   reads it                            lets the entry go
 *   number := even
 * </pre>
 *
 * Either the reader's number is seen, or the reader sees that the entry is linked no more: each writes its own in full order before it
 * reads the other's. (Epochs as in Fraser, Practical lock-freedom, 2004, s5.2.3, each reader with its own.)
 *
 * <p>Thread-safe; nobody waits.
 */
final class EpochReclamation {
    /** One thread's. Confined to it, but for being looked at. */
    static final class Section {
        /** Longs on either side of the number that keep it alone on its cache line, and on the one that is fetched along. */
        private static final int PAD = 16;

        private final AtomicLongArray numbers = new AtomicLongArray(2 * PAD + 1);

        /** Odd while its thread reads. */
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

    /** A section that was under way, with its number then. */
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
    /** Under {@link #changing}. */
    private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    /** Size of {@link #queue}; written under {@link #changing}. */
    private volatile int waiting;
    /** Of the bodies in {@link #queue}. */
    private final AtomicLong waitingBytes = new AtomicLong();

    /** The section of a thread that will read. */
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

    /** The section is not used any more; it ends if it is under way. On its thread. */
    void close(Section section) {
        if (section.isUnderWay()) {
            // Else what was taken out meanwhile would wait for good, and all that is taken out later behind it.
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

    /** Gives up a reference to an entry that is linked no more, once nobody reads it who has none. */
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

    /** Lets go what nobody can be reading any more. To be called now and then: when nothing is taken out, nothing else does it. */
    void letGo() {
        if (waiting == 0) {
            return;
        }
        // One at a time: a lock is not held for long, and what fails for one costs no other.
        for (RamEntry free = next(); free != null; free = next()) {
            free.releaseEntry();
        }
    }

    /** One that nobody can be reading any more, not waiting from now on; null when the first still may be read. */
    private @Nullable RamEntry next() {
        changing.lock();
        try {
            // Who comes after one that waits can wait too.
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

    /** How many entries wait for their readers. */
    int waiting() {
        return waiting;
    }

    /** Bytes of the bodies of entries that wait for their readers. */
    long waitingBytes() {
        return waitingBytes.get();
    }
}
