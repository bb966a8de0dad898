package io.millrace.wasm;

import io.millrace.wasm.callout.CalloutResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for any worker, and the results of HTTP calls that wait for one worker.
 *
 * <p>Thread-safe. Only {@link #await} blocks.
 */
final class WorkQueue {
    /**
     * The result of an HTTP call.
     *
     * @param call the number of the HTTP call
     */
    record Result(int call, CalloutResponse response) {}

    /** The results for one worker. */
    final class Inbox {
        private final Deque<Result> results = new ArrayDeque<>();
        private final Condition wake = lock.newCondition();
        private boolean isWoken;
        private boolean isClosed;

        /** Adds a result, and wakes the worker. */
        void add(Result result) {
            lock.lock();
            try {
                if (isClosed) {
                    result.response().release();
                    return;
                }
                results.add(result);
                wake.signal();
            } finally {
                lock.unlock();
            }
        }

        /** Removes the next result; null if there is none. */
        @Nullable
        Result poll() {
            lock.lock();
            try {
                return results.poll();
            } finally {
                lock.unlock();
            }
        }

        /** Drops the results. */
        void clear() {
            lock.lock();
            try {
                results.forEach(result -> result.response().release());
                results.clear();
            } finally {
                lock.unlock();
            }
        }

        /** Drops the results, and those that arrive later. */
        void close() {
            lock.lock();
            try {
                isClosed = true;
                clear();
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
    /** Workers that wait. Each new call wakes the one that began to wait last. */
    private final Deque<Inbox> idle = new ArrayDeque<>();

    /** @param callsMax limit of the calls that wait */
    WorkQueue(int callsMax) {
        this.callsMax = callsMax;
    }

    /** Returns a new object for the results of one worker. */
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
            Inbox worker = idle.pollLast();
            if (worker != null) {
                worker.wake.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
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

    /** Removes the next call; null if there is none. */
    RequestWorkers.@Nullable Call poll() {
        lock.lock();
        try {
            return calls.poll();
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

    /** Waits until there is a call, or a result for a worker, or the worker is woken, or the time has passed. */
    void await(Inbox worker, long nanos) throws InterruptedException {
        lock.lock();
        try {
            long left = nanos;
            while (left > 0 && !worker.isWoken && calls.isEmpty() && worker.results.isEmpty()) {
                idle.add(worker);
                try {
                    left = worker.wake.awaitNanos(left);
                } finally {
                    // A new call has removed it already.
                    idle.remove(worker);
                }
            }
            worker.isWoken = false;
        } finally {
            lock.unlock();
        }
    }
}
