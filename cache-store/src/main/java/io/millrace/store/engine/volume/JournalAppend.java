package io.millrace.store.engine.volume;

import io.millrace.store.Journal;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.journal.JournalEntry;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The append of one journal entry to the journals of all volumes. A journal entry is a short durable record that the
 * code using the store defines, such as a purge. The append replies when every journal contains the entry or has
 * failed.
 *
 * <p>Created and started by one thread, ended by the volumes' threads.
 */
final class JournalAppend {
    private final JournalEntry entry;
    private final Executor replyOn;
    private final Journal.AppendCallback reply;
    /** Number of journals without a result, plus one until {@link #started} is called. */
    private final AtomicInteger outstanding = new AtomicInteger(1);

    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    /** The first error of a volume that went offline before it wrote the entry. */
    private final AtomicReference<@Nullable IOException> offlineFailure = new AtomicReference<>();

    private volatile boolean written;
    private volatile boolean needed;

    JournalAppend(JournalEntry entry, Executor replyOn, Journal.AppendCallback reply) {
        this.entry = entry;
        this.replyOn = replyOn;
        this.reply = reply;
    }

    JournalEntry entry() {
        return entry;
    }

    /** Called before the entry is passed to a journal: the append then waits for the result of that journal. */
    void addJournal() {
        outstanding.incrementAndGet();
    }

    /**
     * Called after the entry was passed to all journals.
     *
     * @param isNeeded whether at least one journal must contain the entry
     */
    void started(boolean isNeeded) {
        needed = isNeeded;
        done();
    }

    /** Called when a journal contains the entry. */
    void written() {
        written = true;
        done();
    }

    /** Called when a journal could not be written. */
    void failed(IOException problem) {
        failure.compareAndSet(null, problem);
        done();
    }

    /**
     * Called if a volume went offline before it wrote the entry. The other volumes have recorded the loss of that
     * volume. Therefore its outdated journal is not used when the volume returns. This is not a failure if another
     * journal has the entry.
     */
    void volumeOffline(IOException problem) {
        offlineFailure.compareAndSet(null, problem);
        done();
    }

    private void done() {
        if (outstanding.decrementAndGet() > 0) {
            return;
        }
        IOException problem = failure.get();
        if (problem == null && needed && !written) {
            problem = offlineFailure.get() == null
                    ? new IOException("all storage paths have failed")
                    : offlineFailure.get();
        }
        IOException result = problem;
        Replies.deliver(replyOn, () -> reply.onAppend(result));
    }
}
