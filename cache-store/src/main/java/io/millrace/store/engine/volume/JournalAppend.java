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
 * One entry on its way to the journals of all volumes: replies when each has it, or will not.
 *
 * <p>Made and started by one thread, ended by the volumes'.
 */
final class JournalAppend {
    private final JournalEntry entry;
    private final Executor replyOn;
    private final Journal.AppendCallback reply;
    /** Journals to come, and one for the start itself. */
    private final AtomicInteger outstanding = new AtomicInteger(1);

    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    private final AtomicReference<@Nullable IOException> absence = new AtomicReference<>();
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

    void expectOne() {
        outstanding.incrementAndGet();
    }

    /** All journals that take it have been asked; whether one of them must have it. */
    void started(boolean isNeeded) {
        needed = isNeeded;
        done();
    }

    void written() {
        written = true;
        done();
    }

    void failed(IOException problem) {
        failure.compareAndSet(null, problem);
        done();
    }

    /** The volume is out, which the others have noted: it will not be trusted with what it missed, if there are any. */
    void absent(IOException problem) {
        absence.compareAndSet(null, problem);
        done();
    }

    private void done() {
        if (outstanding.decrementAndGet() > 0) {
            return;
        }
        IOException problem = failure.get();
        if (problem == null && needed && !written) {
            problem = absence.get() == null ? new IOException("no storage path works") : absence.get();
        }
        IOException told = problem;
        Replies.deliver(replyOn, () -> reply.onAppend(told));
    }
}
