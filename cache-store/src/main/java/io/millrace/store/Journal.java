package io.millrace.store;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Short durable entries beside the objects. Every storage path holds all of them. The store does not interpret an
 * entry. It rewrites the journal when the file exceeds twice the size of the entries in force.
 *
 * <p>Thread-safe.
 */
public interface Journal {
    /** Maximum length of the content of an entry, in bytes. */
    int CONTENT_LENGTH_MAX = 4 * 1024;

    /** An entry: a number, and bytes that must never be changed. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(long stamp, byte[] content) {}

    /** The state of the journal found when the store was opened. */
    enum Condition {
        /** The journal is new: no storage path has content from an earlier run. */
        NEW,
        /** All entries with a reply are present. */
        WHOLE,
        /**
         * The storage paths have content but no journal: the content is older than the journal format, or the journal
         * was lost.
         */
        MISSING,
        /** Some entries may be lost. */
        DAMAGED
    }

    /** The owner of the entries. Called on any thread of the store; must not block. */
    interface Owner {
        /**
         * Receives the entries of the storage paths: at {@link #attach}, and again when the paths are taken back after
         * a handover. No object is read from the paths before this method returns.
         *
         * @param entries in no particular order; some may occur twice
         */
        void recovered(List<Entry> entries, Condition condition);

        /**
         * Returns all entries that a restart needs: those recovered and appended, without those that no longer apply.
         */
        List<Entry> inForce();
    }

    /** Sets the owner and passes it the entries found. Call once, before objects are requested. */
    void attach(Owner owner);

    /**
     * Adds an entry, which {@link Owner#inForce} already returns. Replies when the entry has been forced to the device
     * in every working storage path, or with the reason why it was not.
     */
    void append(Entry entry, Executor replyOn, AppendCallback reply);

    /** Receives the result of an append. */
    @FunctionalInterface
    interface AppendCallback {
        /**
         * Called once.
         *
         * @param failure null if the entry is durable; otherwise a restart may lose the entry
         */
        void onAppend(@Nullable IOException failure);
    }
}
