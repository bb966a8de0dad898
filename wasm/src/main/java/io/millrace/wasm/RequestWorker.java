package io.millrace.wasm;

import io.millrace.wasm.body.BodyBuffer;
import io.millrace.wasm.callout.CalloutClient;
import io.millrace.wasm.callout.OpenCalls;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A thread that owns one instance and runs its callbacks. The contexts of many requests may be in the instance, because
 * the thread serves others while some are paused. After a failure the instance is replaced by a new one, whose memory
 * is as after the start of the module; then the paused requests fail too.
 *
 * <p>The instance is confined to the thread. The deadline is guarded by a lock, because the watch (the thread that
 * interrupts late callbacks) reads it.
 */
final class RequestWorker {
    /** Limit of the time of a module's start. */
    static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Minimum time between the failure of an instance and the start of a new one, if only a timer needs it. */
    private static final long RENEWAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Longest wait for work. After it, the thread searches for abandoned requests, and checks whether it is retired.
     */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Thrown if a callback was interrupted at its deadline. */
    static final class DeadlineException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        DeadlineException(long nanos, Throwable cause) {
            super("the module has not ended its call within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms", cause);
        }
    }

    private final WasmProgram program;
    private final Shared shared;
    /** The calls that wait for any worker. */
    private final WorkQueue waiting;
    /** The entries that wait for this worker. */
    private final WorkQueue.Inbox inbox;

    private final PausedRequests paused;
    /** The contents of responses whose contexts are in the instance. */
    private final Set<HttpContext> contents = new HashSet<>();

    private final @Nullable OpenCalls calls;
    private final Runnable onBegin;
    private final Thread thread;
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private volatile boolean isRetired;
    private volatile boolean isAborted;

    private final Lock lock = new ReentrantLock();
    private boolean isRunning;
    private boolean isInterrupted;
    private long deadlineNanos;

    private @Nullable WasmInstance instance;
    private long nextTickNanos;
    /** True if the last failed instance had a timer. */
    private boolean hasTimer;

    RequestWorker(WasmProgram program, Shared shared, WorkQueue waiting, String name, Runnable onBegin) {
        this.program = program;
        this.shared = shared;
        this.waiting = waiting;
        inbox = waiting.inbox();
        paused = new PausedRequests(shared.settings().callouts().timeoutNanos());
        CalloutClient client = shared.callouts();
        calls = client == null
                ? null
                : new OpenCalls(
                        client,
                        WasmInstance.ROOT_CONTEXT,
                        (call, response) -> inbox.add(new WorkQueue.Result(call, response)));
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

    /**
     * Requests that the thread ends, after the waiting calls, its paused requests and its open contents have ended.
     * Does not block.
     */
    void retire() {
        isRetired = true;
        inbox.wake();
    }

    /** Fails the paused requests when the thread ends, instead of waiting for them. Call before {@link #retire}. */
    void abort() {
        isAborted = true;
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
        while (isNeeded()) {
            try {
                inbox.full(isFull());
                waiting.await(inbox, waitNanos());
                WorkQueue.Entry entry = waiting.poll(inbox);
                if (entry != null) {
                    process(entry);
                }
                endLate();
                tickIfDue();
            } catch (InterruptedException e) {
                // Only the watch interrupts this thread, and only while a callback runs.
                shared.log().once("interrupted", "a thread for modules was interrupted without a callback");
            } catch (Throwable e) {
                shared.log().once("reply " + e.getClass(), "a result of the module could not be passed on: " + e);
            }
        }
        WasmFailure closed = new WasmFailure("the extension is closed");
        discard(closed);
        inbox.close().forEach(call -> pass(call, closed));
    }

    /** A retired worker continues until its paused requests, open contents and open HTTP calls have ended. */
    private boolean isNeeded() {
        if (!isRetired || !waiting.isEmpty()) {
            return true;
        }
        if (calls != null) {
            calls.retire();
        }
        return !isAborted && (!paused.isEmpty() || !contents.isEmpty() || (calls != null && calls.isOpen()));
    }

    private long waitNanos() {
        long now = System.nanoTime();
        long nanos = Math.min(POLL_NANOS, paused.untilEnd(now));
        if (calls != null) {
            nanos = Math.min(nanos, calls.untilEnd(now));
        }
        // Without ticks, nextTickNanos lies in the past and must be ignored: otherwise the thread would never wait.
        boolean hasTicks = instance != null && instance.tickMillis() > 0 && !isEnding();
        return hasTicks ? Math.min(nanos, nextTickNanos - now) : nanos;
    }

    /** True if a retired worker continues only for its open HTTP calls. The timer (ticks) of the module then stops. */
    private boolean isEnding() {
        return isRetired && paused.isEmpty() && contents.isEmpty();
    }

    private void serve(RequestWorkers.Call call) {
        if (call.isAbandoned()) {
            return;
        }
        HttpContext message = call.message();
        boolean isKnown = contents.contains(message);
        if (!isKnown && message.number() != 0) {
            call.failed(new WasmFailure("the instance of a response was discarded"));
            return;
        }
        if (!isKnown && isFull()) {
            call.refused("too many messages are paused or have open contents: limit=" + PausedRequests.COUNT_MAX);
            return;
        }
        if (!call.begin(inbox)) {
            return;
        }
        WasmInstance current;
        try {
            current = instance == null ? renew() : instance;
            limited(shared.settings().deadlineNanos(), () -> run(current, message));
        } catch (Throwable e) {
            discard(e);
            call.failed(e);
            return;
        }
        paused.add(call);
        if (message.body() != null) {
            contents.add(message);
        }
        reply(current);
        if (message.hasMoreContent()) {
            if (paused.remove(message) != null) {
                pass(call, null);
            }
            endIfClosed(message);
            return;
        }
        // Without HTTP calls and timers, no later callback is expected.
        if (paused.contains(message) && calls == null && current.tickMillis() == 0) {
            end(message, "the module has paused a message, and nothing can resume it");
        }
    }

    /** True if the instance has as many contexts as it may have. */
    private boolean isFull() {
        return paused.isFull() || contents.size() >= PausedRequests.COUNT_MAX;
    }

    private static void run(WasmInstance current, HttpContext message) {
        BodyBuffer body = message.body();
        if (body == null) {
            current.request(message);
        } else {
            current.body(message, body);
        }
    }

    /**
     * Ends the context of a response that ended before its first callback. At that time, the response did not know
     * which instance would get its context, and could not report its end to this worker.
     */
    private void endIfClosed(HttpContext message) {
        BodyBuffer body = message.body();
        if (body != null && body.isClosed()) {
            end(message, null);
        }
    }

    private void process(WorkQueue.Entry entry) {
        if (entry instanceof WorkQueue.Result result) {
            process(result);
        } else if (entry instanceof WorkQueue.CallEntry waitingCall) {
            serve(waitingCall.call());
        } else if (entry instanceof WorkQueue.End end) {
            end(end.message(), null);
        }
    }

    /** Runs the callback for the result of an HTTP call. */
    private void process(WorkQueue.Result result) {
        result.response().release();
        WasmInstance current = instance;
        if (calls == null || !calls.end(result.call()) || current == null) {
            return;
        }
        try {
            limited(shared.settings().deadlineNanos(), () -> current.callResponse(result.call(), result.response()));
        } catch (Throwable e) {
            shared.log().once("callback " + e.getClass(), "a callback for an HTTP call has failed: " + e);
            discard(e);
            return;
        }
        reply(current);
    }

    /** Passes on the decisions that the module made in the last callback. */
    private void reply(WasmInstance current) {
        for (HttpContext ended = current.takeEnded(); ended != null; ended = current.takeEnded()) {
            RequestWorkers.Call call = paused.remove(ended);
            contents.remove(ended);
            if (call != null) {
                pass(call, null);
            }
        }
    }

    /** @param cause the failure; null to pass the decision of the module on */
    private void pass(RequestWorkers.Call call, @Nullable Throwable cause) {
        try {
            if (cause == null) {
                call.done();
            } else {
                call.failed(cause);
            }
        } catch (Throwable e) {
            shared.log().once("reply " + e.getClass(), "a result of the module could not be passed on: " + e);
        }
    }

    /** Ends calls and requests whose time has passed, and requests for which nobody waits. */
    private void endLate() {
        long now = System.nanoTime();
        if (calls != null) {
            calls.expire(now);
        }
        for (HttpContext late = paused.expired(now); late != null; late = paused.expired(now)) {
            end(
                    late,
                    "the module has not resumed a paused request within "
                            + TimeUnit.NANOSECONDS.toMillis(
                                    shared.settings().callouts().timeoutNanos())
                            + " ms (key callout_timeout)");
        }
        for (HttpContext abandoned : paused.abandoned(now)) {
            end(abandoned, null);
        }
    }

    /**
     * Ends the context of a paused request or of a content, and cancels its HTTP calls.
     *
     * @param reason the failure of the request; null if nobody waits for a result
     */
    private void end(HttpContext message, @Nullable String reason) {
        RequestWorkers.Call call = paused.remove(message);
        boolean hasContext = contents.remove(message) || call != null;
        WasmInstance current = instance;
        if (!hasContext) {
            return;
        }
        if (reason != null && call != null) {
            pass(call, new WasmFailure(reason));
        }
        if (calls != null) {
            calls.cancel(message.number());
        }
        if (current == null) {
            return;
        }
        try {
            limited(shared.settings().deadlineNanos(), () -> current.abandon(message));
        } catch (Throwable e) {
            discard(e);
            return;
        }
        reply(current);
    }

    /** Drops the instance after a failure. Its paused requests fail, and its HTTP calls are cancelled. */
    private void discard(Throwable cause) {
        WasmInstance failed = instance;
        instance = null;
        if (calls != null) {
            calls.cancelAll();
            inbox.clear();
        }
        if (failed != null) {
            hasTimer = failed.tickMillis() > 0;
            nextTickNanos =
                    System.nanoTime() + Math.max(RENEWAL_NANOS, TimeUnit.MILLISECONDS.toNanos(failed.tickMillis()));
            reply(failed);
        }
        contents.clear();
        for (RequestWorkers.Call call : paused.removeAll()) {
            pass(call, new WasmFailure("the instance of a paused request was discarded: " + reason(cause), cause));
        }
    }

    private void tickIfDue() {
        WasmInstance current = instance;
        if (isEnding() || System.nanoTime() - nextTickNanos < 0) {
            return;
        }
        if (current == null) {
            renewForTimer();
            return;
        }
        if (current.tickMillis() == 0) {
            return;
        }
        nextTickNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(current.tickMillis());
        try {
            limited(shared.settings().deadlineNanos(), current::tick);
        } catch (Throwable e) {
            shared.log().once("tick", "a tick of the module has failed: " + e);
            discard(e);
            return;
        }
        reply(current);
    }

    /** Starts an instance in place of a failed one that had a timer. Without a timer, the next request starts it. */
    private void renewForTimer() {
        if (!hasTimer) {
            return;
        }
        nextTickNanos = System.nanoTime() + RENEWAL_NANOS;
        try {
            WasmInstance ignored = renew();
        } catch (Throwable e) {
            shared.log().once("renew", "a new instance of the module cannot be started: " + e);
        }
    }

    private WasmInstance renew() {
        WasmInstance[] created = new WasmInstance[1];
        limited(START_NANOS, () -> created[0] = new WasmInstance(program, shared, 0, 0, calls));
        instance = created[0];
        nextTickNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(instance.tickMillis());
        return instance;
    }

    /**
     * Runs code of the module. The watch interrupts this thread if the code takes longer than {@code nanos}.
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

    /**
     * Ends the time limit of a callback. Clears a pending interruption. Returns true if the callback was interrupted.
     */
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
                // The watch repeats this until the callback ends, because host functions may clear the interruption.
                isInterrupted = true;
                thread.interrupt();
            }
            return isRunning;
        } finally {
            lock.unlock();
        }
    }
}
