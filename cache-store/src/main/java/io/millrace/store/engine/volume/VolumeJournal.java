package io.millrace.store.engine.volume;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.journal.JournalEntry;
import io.millrace.store.journal.JournalFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The copy of the store's journal on one volume. The journal contains short durable entries that the code using the
 * store defines, such as purges. Waiting entries are written and forced as one batch.
 *
 * <p>The file is confined to the volume's thread; entries may be added from any thread.
 */
final class VolumeJournal {
    /**
     * Margin in bytes: the file is rewritten when it is longer than this margin plus twice its length after the last
     * rewrite.
     */
    private static final int REWRITE_MARGIN_BYTES = 16 << 10;

    /** Limit of entries that wait to be written, about 30 MB. Two minutes of 1,000 purges per second reach it. */
    private static final int WAITING_MAX = 1 << 17;

    private static final Logger LOG = LoggerFactory.getLogger(VolumeJournal.class);

    private final Volume volume;
    private final JournalFile file;
    private final Supplier<List<JournalEntry>> inForce;
    private final ConcurrentLinkedQueue<JournalAppend> waiting = new ConcurrentLinkedQueue<>();
    /** Number of entries in {@link #waiting}, at most {@link #WAITING_MAX}. */
    private final AtomicInteger waitingCount = new AtomicInteger();
    /** True while a task that will take all waiting entries is queued. */
    private final AtomicBoolean isWriteQueued = new AtomicBoolean();

    /** Length of the file in bytes at which the next write rewrites it. */
    private long lengthMax;
    /** True if the file lacks entries in force, so that the next write must rewrite it. */
    private volatile boolean behind;

    VolumeJournal(Volume volume, JournalFile file, Supplier<List<JournalEntry>> inForce) {
        this.volume = volume;
        this.file = file;
        this.inForce = inForce;
        this.lengthMax = lengthMax(file.length());
    }

    private static long lengthMax(long length) {
        return 2 * length + REWRITE_MARGIN_BYTES;
    }

    boolean isOf(Volume other) {
        return volume == other || volume.directory().equals(other.directory());
    }

    void append(JournalAppend append) {
        append.addJournal();
        if (waitingCount.incrementAndGet() > WAITING_MAX) {
            waitingCount.decrementAndGet();
            // The next write puts all entries in force into the file.
            behind = true;
            append.failed(new IOException(file.path() + ": too many journal entries wait: limit=" + WAITING_MAX));
            return;
        }
        waiting.add(append);
        // One task writes all waiting entries. It uses the part of the volume's queue that is reserved for removals. In
        // a burst, a task for each entry would fill this part.
        if (isWriteQueued.compareAndSet(false, true) && !volume.executeRemoval(this::writeWaiting)) {
            isWriteQueued.set(false);
            for (JournalAppend next = takeWaiting(); next != null; next = takeWaiting()) {
                refuse(next);
            }
        }
    }

    private @Nullable JournalAppend takeWaiting() {
        JournalAppend next = waiting.poll();
        if (next != null) {
            waitingCount.decrementAndGet();
        }
        return next;
    }

    private void refuse(JournalAppend append) {
        VolumeState state = volume.state();
        IOException reason = new IOException(volume.directory() + ": the volume is " + state);
        if (state == VolumeState.OFFLINE || state == VolumeState.CLOSED) {
            append.volumeOffline(reason);
        } else {
            append.failed(reason);
        }
    }

    /** Queues a rewrite with all entries in force. */
    void rewriteSoon() {
        volume.executeRemoval(() -> {
            try {
                rewrite();
            } catch (IOException e) {
                failed(e);
            }
        });
    }

    private void rewrite() throws IOException {
        List<JournalEntry> all = inForce.get();
        file.rewrite(all);
        behind = false;
        lengthMax = lengthMax(file.length());
    }

    /**
     * Records a failed write. The failure does not count as an error of the volume, because the volume's content may be
     * on another device. The caller of the append receives the error.
     */
    private void failed(IOException e) {
        behind = true;
        LOG.error("{}: the journal cannot be written; the next entry rewrites it: {}", file.path(), e.toString());
    }

    /** Returns true if the file lacks entries in force, because a write failed or too many entries waited. */
    boolean isBehind() {
        return behind;
    }

    private void writeWaiting() {
        // Entries that are added from now on queue another task.
        isWriteQueued.set(false);
        List<JournalAppend> batch = new ArrayList<>();
        for (JournalAppend next = takeWaiting(); next != null; next = takeWaiting()) {
            batch.add(next);
        }
        if (batch.isEmpty()) {
            return;
        }
        IOException failure = new IOException(file.path() + ": the journal record cannot be written");
        try {
            write(batch);
            failure = null;
        } catch (IOException e) {
            failed(e);
            failure = e;
        } finally {
            answer(batch, failure);
        }
    }

    private static void answer(List<JournalAppend> batch, @Nullable IOException failure) {
        for (JournalAppend append : batch) {
            if (failure == null) {
                append.written();
            } else {
                append.failed(failure);
            }
        }
    }

    private void write(List<JournalAppend> batch) throws IOException {
        if (!file.isAppendable() || file.length() >= lengthMax) {
            // The waiting entries are already in force, so the rewrite contains them.
            rewrite();
            return;
        }
        List<JournalEntry> entries = new ArrayList<>(batch.size());
        for (JournalAppend append : batch) {
            entries.add(append.entry());
        }
        file.append(entries);
    }
}
