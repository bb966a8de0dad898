package io.millrace.store;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A log of short durable entries that belong to the caller, not to objects. Every storage path holds all entries. The
 * store does not interpret an entry. It rewrites the journal file when the file is longer than twice the entries in
 * force (see {@link Owner#inForce}).
 *
 * <p>Thread-safe.
 */
public interface Journal {
    /** Maximum length of the content of an entry, in bytes. */
    int CONTENT_LENGTH_MAX = 4 * 1024;

    /**
     * An entry.
     *
     * @param stamp number that the caller chooses; the store only keeps it
     * @param content at most {@value #CONTENT_LENGTH_MAX} bytes, which must never be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(long stamp, byte[] content) {}

    /** The state of the journal found when the store was opened. */
    enum Condition {
        /** The journal is new: no storage path has content from an earlier run. */
        NEW,
        /** Every entry whose append was reported as durable is present. */
        COMPLETE,
        /**
         * The storage paths have content but no journal. Either an older version without journals wrote the content, or
         * the journal was lost.
         */
        MISSING,
        /** Some entries may be lost. */
        DAMAGED
    }

    /** The owner of the entries. Called on any thread of the store; must not block. */
    interface Owner {
        /**
         * Receives the entries found in the storage paths. Called at {@link #attach}, and again when the store takes
         * the paths back from another process. No object is read from the paths before this method returns.
         *
         * @param entries in no particular order; some may occur twice
         */
        void recovered(List<Entry> entries, Condition condition);

        /**
         * Returns all entries that a restart needs: recovered and appended entries, without those that no longer apply.
         */
        List<Entry> inForce();
    }

    /** Sets the owner and passes it the entries found. Call once, before objects are requested. */
    void attach(Owner owner);

    /**
     * Appends an entry. {@link Owner#inForce} must already return it, because a rewrite may write it instead. Replies
     * when the entry has been forced to the device in every working storage path, or with the reason why it was not.
     */
    void append(Entry entry, Executor replyOn, AppendCallback reply);

    /** Receives the result of an append. */
    @FunctionalInterface
    interface AppendCallback {
        /**
         * Called once.
         *
         * @param failure null if the entry is durable. After a failure, a restart may lose the entry
         */
        void onAppend(@Nullable IOException failure);
    }
}
