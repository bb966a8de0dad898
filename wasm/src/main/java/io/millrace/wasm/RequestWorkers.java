package io.millrace.wasm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The instances for requests: a bounded number of threads, each with an instance of its own, and a bounded queue of
 * waiting calls. A watch interrupts a thread whose callback exceeds its deadline.
 *
 * <p>Thread-safe.
 */
final class RequestWorkers implements AutoCloseable {
    /** Limit of the calls that wait for an instance. */
    static final int WAITING_MAX = 1000;

    /** Minimum interval at which the watch checks the deadlines. */
    private static final long WATCH_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(1);
    /** Number of checks in a row without a running callback after which the watch sleeps. */
    private static final int IDLE_CHECKS = 100;

    private static final long CLOSE_MILLIS = 2000;

    /** A request, or a piece of the content of a response, for an instance. */
    interface Call {
        /** The message. The instance runs its callbacks on a thread of the pool. */
        HttpContext message();

        /**
         * Prepares the message for its callback. Called on the thread of the instance.
         *
         * @param inbox the queue of the instance, for later calls for the same message
         * @return false if the call has ended without a callback
         */
        default boolean begin(WorkQueue.Inbox inbox) {
            return true;
        }

        /** Receives the decision of the module, which is in the message. Called on a thread of the pool. */
        void done();

        /** Returns true if nobody waits for the decision any more, for example because the client has left. */
        boolean isAbandoned();

        /**
         * Receives a failure. Called on a thread of the pool, or on the caller's thread in
         * {@link RequestWorkers#submit}.
         */
        void failed(Throwable cause);

        /**
         * Receives the refusal of a call at a limit of the pool, before its {@link #begin}. Called on the
         * same threads as {@link #failed}. If the module has seen nothing of the message, it may continue unchanged.
         */
        default void refused(String reason) {
            failed(new WasmFailure(reason));
        }
    }

    private final WorkQueue waiting = new WorkQueue(WAITING_MAX);
    private final List<RequestWorker> workers = new ArrayList<>();
    private final Thread watch;
    private volatile boolean isClosed;
    /** True if running callbacks are interrupted without regard to their deadline. */
    private volatile boolean isAborted;

    private volatile boolean isWatchAsleep;

    /** Creates the pool. {@link #start} starts its threads. */
    RequestWorkers(WasmProgram program, Shared shared) {
        for (int i = 0; i < shared.settings().instances(); i++) {
            workers.add(new RequestWorker(program, shared, waiting, shared.name() + "-" + i, this::wakeWatch));
        }
        long pause = Math.max(WATCH_NANOS_MIN, shared.settings().deadlineNanos() / 8);
        watch = new Thread(() -> watch(pause), "millrace-wasm-watch-" + shared.name());
        watch.setDaemon(true);
    }

    /**
     * Starts the threads, and waits until each has an instance.
     *
     * @throws WasmFailure if the module cannot be started; then the threads end
     */
    void start() throws InterruptedException {
        boolean isStarted = false;
        try {
            watch.start();
            workers.forEach(RequestWorker::start);
            for (RequestWorker worker : workers) {
                worker.awaitInstance();
            }
            isStarted = true;
        } finally {
            if (!isStarted) {
                abort();
            }
        }
    }

    /**
     * Passes a call to the next free instance. Never blocks. If the queue is full, the call is refused.
     *
     * @return false if the pool is closed; then the call was not passed
     */
    boolean submit(Call call) {
        if (isClosed) {
            return false;
        }
        if (!waiting.offer(call)) {
            call.refused("too many calls wait for an instance: limit=" + WAITING_MAX);
            return true;
        }
        return !isClosed || !waiting.remove(call);
    }

    /** Interrupts the workers whose deadline has passed. Sleeps without a limit after a while without callbacks. */
    private void watch(long pauseNanos) {
        int idleChecks = 0;
        while (!isClosed || workers.stream().anyMatch(RequestWorker::isAlive)) {
            boolean isAsleep = idleChecks > IDLE_CHECKS;
            isWatchAsleep = isAsleep;
            if (isAsleep && !isClosed && workers.stream().noneMatch(RequestWorker::isRunning)) {
                LockSupport.park(this);
                idleChecks = 0;
            } else {
                LockSupport.parkNanos(this, pauseNanos);
            }
            long now = System.nanoTime();
            boolean isRunning = false;
            for (RequestWorker worker : workers) {
                isRunning |= worker.interruptAfterDeadline(now, isAborted);
            }
            idleChecks = isRunning ? 0 : idleChecks + 1;
        }
    }

    /** Wakes the watch if it sleeps. Called when a callback begins. */
    private void wakeWatch() {
        if (isWatchAsleep) {
            isWatchAsleep = false;
            LockSupport.unpark(watch);
        }
    }

    /** Returns false once all threads for instances have ended. */
    boolean isAlive() {
        return workers.stream().anyMatch(RequestWorker::isAlive);
    }

    /** Accepts no calls from now on. Waiting calls are still run, and paused requests continue. Does not block. */
    void retire() {
        isClosed = true;
        workers.forEach(RequestWorker::retire);
        wakeWatch();
    }

    /** Ends the threads, and interrupts running callbacks. Waiting calls fail. Does not block. */
    void abort() {
        isAborted = true;
        workers.forEach(RequestWorker::abort);
        retire();
        LockSupport.unpark(watch);
    }

    /**
     * Ends the threads. Blocks until waiting calls and paused requests have ended, for at most 2 seconds. After that,
     * it aborts the calls that still wait or run, and paused requests fail.
     */
    @Override
    public void close() {
        retire();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        try {
            for (RequestWorker worker : workers) {
                worker.awaitEnd(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // The watch ends after the last worker.
        abort();
    }
}
