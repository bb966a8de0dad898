package io.millrace.store;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Short facts that outlive the process beside the objects: each storage path has all of them. What an entry says is the owner's;
 * the store keeps it, and rewrites the journal when it has grown to more than twice what is in force.
 *
 * <p>Thread-safe.
 */
public interface Journal {
    /** Longest content of an entry, in bytes. */
    int CONTENT_LENGTH_MAX = 4 * 1024;

    /** One fact: a number, and bytes that are never to be changed. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(long stamp, byte[] content) {}

    /** What is known of the entries that were answered before. */
    enum Condition {
        /** There were none: no storage path has content from before. */
        NEW,
        /** They are all there. */
        WHOLE,
        /** There is content, and no journal beside it: it was written before there were journals, or the journal is lost. */
        MISSING,
        /** Some may be lost. */
        DAMAGED
    }

    /** Whose facts they are. Called on any thread of the store; does not block. */
    interface Owner {
        /**
         * What the storage paths have: at {@link #attach}, and again when they were handed over and are taken back. Nothing is
         * read from them before it returns.
         *
         * @param entries in no particular order, some of them perhaps twice
         */
        void recovered(List<Entry> entries, Condition condition);

        /** All that a restart must know: what was recovered and appended, less what is void. */
        List<Entry> inForce();
    }

    /** Names the owner and gives it what was found; once, before objects are asked for. */
    void attach(Owner owner);

    /**
     * Adds an entry, which is {@link Owner#inForce in force} already. The reply comes when it is forced to the device in every
     * storage path that works, and says why it is not.
     */
    void append(Entry entry, Executor replyOn, AppendCallback reply);

    /** Receives the outcome of an append. */
    @FunctionalInterface
    interface AppendCallback {
        /**
         * Told once.
         *
         * @param failure null when the entry is durable; else a restart may not know it
         */
        void onAppend(@Nullable IOException failure);
    }
}
