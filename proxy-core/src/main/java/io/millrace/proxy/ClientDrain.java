package io.millrace.proxy;

import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.server.ServingLoop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * Ends the client connections of all event loops.
 *
 * <p>Stateless; the methods may be called on any thread.
 */
final class ClientDrain {
    private ClientDrain() {}

    /** Ends each connection after its current request, see {@link ConnectionSet#drain}. */
    static CompletionStage<Void> atOnce(List<ServingLoop> loops) {
        return drain(loops, ConnectionSet::drain);
    }

    /**
     * Ends the connections one after another, see {@link ConnectionSet#drainGradually}.
     *
     * @param whenLast runs once, on an event loop, when no connection accepts a further request; before the returned
     *     stage completes
     */
    static CompletionStage<Void> gradually(List<ServingLoop> loops, Runnable whenLast) {
        AtomicBoolean isRun = new AtomicBoolean();
        Runnable last = () -> {
            if (isRun.compareAndSet(false, true)) {
                whenLast.run();
            }
        };
        Runnable loopLast = afterCalls(loops.size(), last);
        return drain(loops, (connections, whenEmpty) -> connections.drainGradually(loopLast, whenEmpty))
                .thenRun(last);
    }

    private static CompletionStage<Void> drain(List<ServingLoop> loops, BiConsumer<ConnectionSet, Runnable> how) {
        CompletableFuture<Void> drained = new CompletableFuture<>();
        Runnable loopDrained = afterCalls(loops.size(), () -> drained.complete(null));
        for (ServingLoop loop : loops) {
            loop.loop().execute(() -> how.accept(loop.connections(), loopDrained));
        }
        return drained;
    }

    /** Returns a task that runs {@code last} at its call with this number. */
    private static Runnable afterCalls(int count, Runnable last) {
        AtomicInteger left = new AtomicInteger(count);
        return () -> {
            if (left.decrementAndGet() == 0) {
                last.run();
            }
        };
    }
}
