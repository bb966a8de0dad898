package io.millrace.wasm;

import io.millrace.wasm.callout.CalloutResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for any worker, and the entries that wait for one worker: results of HTTP calls, and calls for
 * messages whose contexts are in its instance.
 *
 * <p>Thread-safe. Only {@link #await} blocks.
 */
final class WorkQueue {
    /** An entry for one worker. */
    sealed interface Entry permits Result, CallEntry, End {}

    /**
     * The result of an HTTP call.
     *
     * @param call the number of the HTTP call
     */
    record Result(int call, CalloutResponse response) implements Entry {}

    /** A call for any worker, or for the one whose instance has the context of the message. */
    record CallEntry(RequestWorkers.Call call) implements Entry {}

    /** The end of a message whose context is in the instance of the worker. */
    record End(HttpContext message) implements Entry {}

    /** The entries for one worker. */
    final class Inbox {
        private final Deque<Entry> entries = new ArrayDeque<>();
        private final Condition wake = lock.newCondition();
        private boolean isWoken;
        private boolean isClosed;
        private boolean isFull;

        private Inbox() {
            lock.lock();
            try {
                workers++;
            } finally {
                lock.unlock();
            }
        }

        /**
         * Sets whether the worker has as many contexts as it may have. Then it gets no calls that another worker can
         * take. Called by the worker only.
         */
        void full(boolean isNowFull) {
            if (isFull == isNowFull) {
                return;
            }
            lock.lock();
            try {
                isFull = isNowFull;
                fullWorkers += isNowFull ? 1 : -1;
            } finally {
                lock.unlock();
            }
        }

        /** Adds an entry, and wakes the worker. Returns false if it is closed; then the entry is dropped. */
        boolean add(Entry entry) {
            lock.lock();
            try {
                if (isClosed) {
                    drop(entry);
                    return false;
                }
                entries.add(entry);
                // A new call must wake another worker: this one serves the entry first.
                idle.remove(this);
                wake.signal();
                return true;
            } finally {
                lock.unlock();
            }
        }

        /** Drops the results of HTTP calls. */
        void clear() {
            lock.lock();
            try {
                entries.forEach(Inbox::drop);
                entries.removeIf(Result.class::isInstance);
            } finally {
                lock.unlock();
            }
        }

        private static void drop(Entry entry) {
            if (entry instanceof Result result) {
                result.response().release();
            }
        }

        /** Drops the entries, and those that arrive later. Returns the calls that wait, which the caller fails. */
        List<RequestWorkers.Call> close() {
            lock.lock();
            try {
                if (!isClosed) {
                    isClosed = true;
                    workers--;
                    fullWorkers -= isFull ? 1 : 0;
                }
                List<RequestWorkers.Call> waiting = new ArrayList<>();
                for (Entry entry : entries) {
                    drop(entry);
                    if (entry instanceof CallEntry waitingCall) {
                        waiting.add(waitingCall.call());
                    }
                }
                entries.clear();
                return waiting;
            } finally {
                lock.unlock();
            }
        }

        /** Wakes the worker. */
        void wake() {
            lock.lock();
            try {
                isWoken = true;
                wake.signal();
            } finally {
                lock.unlock();
            }
        }
    }

    private final int callsMax;
    private final Lock lock = new ReentrantLock();
    private final Deque<RequestWorkers.Call> calls = new ArrayDeque<>();
    /** Workers that wait. Each new call wakes the one that has waited longest, so that all get contexts. */
    private final Deque<Inbox> idle = new ArrayDeque<>();

    /** Number of workers that have not ended. The next field counts the full ones (see {@link Inbox#full}). */
    private int workers;

    private int fullWorkers;

    /** @param callsMax limit of the calls that wait */
    WorkQueue(int callsMax) {
        this.callsMax = callsMax;
    }

    /** Creates the queue of the entries for one worker. */
    Inbox inbox() {
        return new Inbox();
    }

    /** Adds a call, and wakes a worker that waits. Returns false at the limit. */
    boolean offer(RequestWorkers.Call call) {
        lock.lock();
        try {
            if (calls.size() >= callsMax) {
                return false;
            }
            calls.add(call);
            wakeForCall();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the worker that has waited longest and takes calls. Call with the lock. */
    private void wakeForCall() {
        for (Iterator<Inbox> each = idle.iterator(); each.hasNext(); ) {
            Inbox worker = each.next();
            if (takesCalls(worker)) {
                each.remove();
                worker.wake.signal();
                return;
            }
        }
    }

    /** A full worker takes calls only if all workers are full. It refuses them, so that they do not wait for long. */
    private boolean takesCalls(Inbox worker) {
        return !worker.isFull || fullWorkers == workers;
    }

    /** Removes a call. Returns false if a worker has taken it. */
    boolean remove(RequestWorkers.Call call) {
        lock.lock();
        try {
            return calls.remove(call);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes the next work of a worker; null if there is none. Entries for this worker alone come first: they belong
     * to messages that have begun, and new calls must not delay them without a limit. A full worker gets a call only if
     * all workers are full.
     */
    @Nullable
    Entry poll(Inbox worker) {
        lock.lock();
        try {
            Entry ownEntry = worker.entries.poll();
            if (ownEntry != null) {
                if (!calls.isEmpty()) {
                    // A waiting call may have woken this worker, which serves its own entry first. Another worker takes
                    // the call.
                    wakeForCall();
                }
                return ownEntry;
            }
            RequestWorkers.Call call = takesCalls(worker) ? calls.poll() : null;
            return call == null ? null : new CallEntry(call);
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return calls.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there is a call, or an entry for a worker, or the worker is woken, or the time has passed. */
    void await(Inbox worker, long nanos) throws InterruptedException {
        lock.lock();
        try {
            long remainingNanos = nanos;
            while (remainingNanos > 0 && !worker.isWoken && !hasWork(worker)) {
                idle.add(worker);
                try {
                    remainingNanos = worker.wake.awaitNanos(remainingNanos);
                } finally {
                    // If a new call or entry has woken the worker, it is removed already.
                    idle.remove(worker);
                }
            }
            worker.isWoken = false;
        } finally {
            lock.unlock();
        }
    }

    private boolean hasWork(Inbox worker) {
        return !worker.entries.isEmpty() || (!calls.isEmpty() && takesCalls(worker));
    }
}
