package io.millrace.wasm;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A thread that owns one instance and runs its callbacks. After a failure the instance is replaced by a new one, whose
 * memory is as after the start of the module.
 *
 * <p>The instance is confined to the thread. The deadline is guarded by a lock, because the watch reads it.
 */
final class RequestWorker {
    /** Limit of the time of a module's start. */
    static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Interval in ms at which an idle thread checks whether it is retired. */
    private static final long POLL_MILLIS = 200;

    /** Thrown if a callback was interrupted at its deadline. */
    static final class DeadlineException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        DeadlineException(long nanos, Throwable cause) {
            super("the module has not ended its call within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms", cause);
        }
    }

    private final WasmProgram program;
    private final Shared shared;
    private final BlockingQueue<RequestWorkers.Call> waiting;
    private final Runnable onBegin;
    private final Thread thread;
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private volatile boolean isRetired;

    private final Lock lock = new ReentrantLock();
    private boolean isRunning;
    private boolean isInterrupted;
    private long deadlineNanos;

    private @Nullable WasmInstance instance;
    private long nextTickNanos;

    RequestWorker(
            WasmProgram program,
            Shared shared,
            BlockingQueue<RequestWorkers.Call> waiting,
            String name,
            Runnable onBegin) {
        this.program = program;
        this.shared = shared;
        this.waiting = waiting;
        this.onBegin = onBegin;
        thread = new Thread(this::work, "millrace-wasm-" + name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    boolean isAlive() {
        return thread.isAlive();
    }

    void retire() {
        isRetired = true;
    }

    void awaitEnd(long millis) throws InterruptedException {
        thread.join(millis);
    }

    /** @throws WasmFailure if the instance could not be started */
    void awaitInstance() throws InterruptedException {
        try {
            started.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw cause instanceof WasmFailure failure
                    ? failure
                    : new WasmFailure("the start of the module has failed: " + reason(cause), cause);
        }
    }

    /** Returns the message of a fault of the module; with the class only if there is no message. */
    private static String reason(Throwable cause) {
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    private void work() {
        try {
            renew();
            started.complete(null);
        } catch (Throwable e) {
            started.completeExceptionally(e);
            return;
        }
        while (!isRetired || !waiting.isEmpty()) {
            try {
                RequestWorkers.Call call = waiting.poll(waitMillis(), TimeUnit.MILLISECONDS);
                if (call != null) {
                    serve(call);
                }
                tickIfDue();
            } catch (InterruptedException e) {
                // Only the watch interrupts this thread, and only while a callback runs.
                shared.log().once("interrupted", "a thread for modules was interrupted without a callback");
            } catch (Throwable e) {
                shared.log().once("reply " + e.getClass(), "a result of the module could not be passed on: " + e);
            }
        }
    }

    private long waitMillis() {
        if (instance == null || instance.tickMillis() == 0) {
            return POLL_MILLIS;
        }
        long untilTick = TimeUnit.NANOSECONDS.toMillis(nextTickNanos - System.nanoTime()) + 1;
        return Math.max(0, Math.min(POLL_MILLIS, untilTick));
    }

    private void serve(RequestWorkers.Call call) {
        try {
            WasmInstance current = instance == null ? renew() : instance;
            limited(shared.settings().deadlineNanos(), () -> call.run(current));
        } catch (Throwable e) {
            instance = null;
            call.failed(e);
            return;
        }
        call.done();
    }

    private void tickIfDue() {
        WasmInstance current = instance;
        if (current == null || current.tickMillis() == 0 || System.nanoTime() - nextTickNanos < 0) {
            return;
        }
        nextTickNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(current.tickMillis());
        try {
            limited(shared.settings().deadlineNanos(), current::tick);
        } catch (Throwable e) {
            instance = null;
            shared.log().once("tick", "a tick of the module has failed: " + e);
        }
    }

    private WasmInstance renew() {
        WasmInstance[] created = new WasmInstance[1];
        limited(START_NANOS, () -> created[0] = new WasmInstance(program, shared, 0, 0));
        instance = created[0];
        nextTickNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(instance.tickMillis());
        return instance;
    }

    /**
     * Runs code of the module, which the watch interrupts after a time.
     *
     * @throws DeadlineException if it was interrupted
     */
    private void limited(long nanos, Runnable code) {
        begin(nanos);
        Throwable fault = null;
        try {
            code.run();
        } catch (Throwable e) {
            fault = e;
        }
        boolean wasInterrupted = end();
        if (fault == null) {
            return;
        }
        if (wasInterrupted) {
            throw new DeadlineException(nanos, fault);
        }
        if (fault instanceof Error error) {
            throw new WasmFailure("the module has failed: " + error, error);
        }
        throw (RuntimeException) fault;
    }

    private void begin(long nanos) {
        lock.lock();
        try {
            isRunning = true;
            isInterrupted = false;
            deadlineNanos = System.nanoTime() + nanos;
        } finally {
            lock.unlock();
        }
        onBegin.run();
    }

    /** Ends a call, so that the thread is not interrupted after it. Returns true if it was interrupted before. */
    private boolean end() {
        lock.lock();
        try {
            isRunning = false;
            boolean ignored = Thread.interrupted();
            return isInterrupted;
        } finally {
            lock.unlock();
        }
    }

    boolean isRunning() {
        lock.lock();
        try {
            return isRunning;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Interrupts the thread if its callback has exceeded its time. Called by the watch.
     *
     * @param isAborted true to interrupt a running callback before its deadline
     * @return true while a callback runs
     */
    boolean interruptAfterDeadline(long nowNanos, boolean isAborted) {
        lock.lock();
        try {
            if (isRunning && (isAborted || nowNanos - deadlineNanos > 0)) {
                // Repeated until the callback ends: host functions may clear the interruption.
                isInterrupted = true;
                thread.interrupt();
            }
            return isRunning;
        } finally {
            lock.unlock();
        }
    }
}
