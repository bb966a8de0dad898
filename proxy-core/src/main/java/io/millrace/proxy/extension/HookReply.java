package io.millrace.proxy.extension;

import io.millrace.proxy.spi.Continuation;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The result of a hook, which may arrive after the call of the hook. The first result is used; further results count as
 * failures.
 *
 * <p>{@link #await}, its callback and {@link #forget} are confined to one event loop; the other methods are
 * thread-safe.
 *
 * @param <V> the type of the view that was passed to the hook
 */
class HookReply<V> implements Continuation<V> {
    /** The result of a hook that continues without a change. */
    static final Consumer<Object> UNCHANGED = view -> {};

    /** The result of a hook that delivered no result before its deadline. */
    static final class DeadlineException extends TimeoutException {
        private static final long serialVersionUID = 1L;

        DeadlineException(long millis) {
            super("no result within " + millis + " ms");
        }
    }

    private record Waiting(EventExecutor loop, Runnable then) {}

    private final LoadedExtension extension;
    private final Hook hook;
    /** A Consumer, an Answer, or a Throwable; null before the result. */
    private final AtomicReference<@Nullable Object> result = new AtomicReference<>();

    private final AtomicReference<@Nullable Waiting> waiting = new AtomicReference<>();
    private @Nullable Future<?> deadline;
    private volatile boolean isForgotten;

    HookReply(LoadedExtension extension, Hook hook) {
        this.extension = extension;
        this.hook = hook;
    }

    LoadedExtension extension() {
        return extension;
    }

    Hook hook() {
        return hook;
    }

    /** The result; null before it is known. */
    @Nullable
    Object result() {
        return result.get();
    }

    @Override
    public void proceed() {
        complete(UNCHANGED);
    }

    @Override
    public void proceed(Consumer<? super V> change) {
        complete(Objects.requireNonNull(change));
    }

    @Override
    public void fail(Throwable reason) {
        complete(Objects.requireNonNull(reason));
    }

    @Override
    public boolean isAbandoned() {
        return isForgotten || result.get() != null;
    }

    /** Sets the result, if there is none yet, and wakes the request. */
    void complete(Object value) {
        if (!result.compareAndSet(null, value)) {
            extension.recordFailure(hook, FailureReason.REPEATED, null);
            return;
        }
        wake();
    }

    /**
     * Sets the exception that the hook has thrown as the result, even if there is a result already. Call before {@link
     * #await}.
     */
    void setThrown(Throwable fault) {
        result.set(fault);
    }

    /**
     * Waits for the result.
     *
     * @param then runs once, as a later task of the loop, even if the result is known already
     */
    void await(EventExecutor loop, Runnable then) {
        long nanos = extension.entry().deadlineNanos();
        deadline = loop.schedule(this::expire, nanos, TimeUnit.NANOSECONDS);
        waiting.set(new Waiting(loop, then));
        if (result.get() != null) {
            wake();
        }
    }

    private void expire() {
        long millis = TimeUnit.NANOSECONDS.toMillis(extension.entry().deadlineNanos());
        if (result.compareAndSet(null, new DeadlineException(millis))) {
            wake();
        }
    }

    /** Stops waiting, because the request has ended. */
    void forget() {
        isForgotten = true;
        waiting.set(null);
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    private void wake() {
        Waiting request = waiting.getAndSet(null);
        if (request != null) {
            request.loop().execute(() -> {
                if (deadline != null) {
                    deadline.cancel(false);
                }
                request.then().run();
            });
        }
    }
}
