package io.millrace.proxy;

import io.millrace.proxy.admin.data.DataPlaneAdmin;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.server.ServingLoop;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Ends the client connections of all event loops.
 *
 * <p>Stateless; the methods may be called on any thread.
 */
final class ClientDrain {
    /** Drains the connections of one event loop. */
    interface LoopDrain {
        void drain(ConnectionSet connections, Runnable onNoFurtherRequest, Runnable whenEmpty);
    }

    private ClientDrain() {}

    /**
     * Ends the connections.
     *
     * @param how {@link ConnectionSet#drain} or {@link ConnectionSet#drainGradually}
     * @param onNoFurtherRequest runs once, on an event loop, when no connection accepts a further request;
     *     before the returned stage completes
     */
    static CompletionStage<Void> begin(List<ServingLoop> loops, LoopDrain how, Runnable onNoFurtherRequest) {
        AtomicBoolean isRun = new AtomicBoolean();
        Runnable runWhenLast = () -> {
            if (isRun.compareAndSet(false, true)) {
                onNoFurtherRequest.run();
            }
        };
        Runnable loopWhenLast = afterCalls(loops.size(), runWhenLast);
        CompletableFuture<Void> drained = new CompletableFuture<>();
        Runnable loopDrained = afterCalls(loops.size(), () -> drained.complete(null));
        for (ServingLoop loop : loops) {
            loop.loop().execute(() -> how.drain(loop.connections(), loopWhenLast, loopDrained));
        }
        return drained.thenRun(runWhenLast);
    }

    /**
     * Returns the end of a drain: no client connection is left, and no admin request that changes state is in progress.
     * Waits first for the connections and then for the admin requests, so that changes which arrive during the drain
     * are awaited too. A purge may wait until the worker that replaces this one has written it to
     * storage.
     *
     * @param nanos time limit
     */
    static CompletionStage<Void> limited(
            CompletionStage<Void> connectionsEnded, @Nullable DataPlaneAdmin admin, EventLoop timer, long nanos) {
        CompletableFuture<Void> drained = new CompletableFuture<>();
        var unused = connectionsEnded
                .thenCompose(nothing -> admin == null ? connectionsEnded : admin.whenNoChange())
                .thenRun(() -> drained.complete(null));
        timer.schedule(() -> drained.complete(null), nanos, TimeUnit.NANOSECONDS);
        return drained;
    }

    /** Returns a task that runs {@code last} when it is called for the {@code count}-th time. */
    private static Runnable afterCalls(int count, Runnable last) {
        AtomicInteger remainingCalls = new AtomicInteger(count);
        return () -> {
            if (remainingCalls.decrementAndGet() == 0) {
                last.run();
            }
        };
    }
}
