package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The phase in which a new worker runs sample requests, so that the JVM compiles its code before it serves. Enforces
 * the time limit even if the warm-up hangs.
 *
 * <p>Not thread-safe; confined to the worker's command thread.
 */
final class WarmUpPhase {
    /** Time after the limit in which the warm-up may still end and release its resources. */
    static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Logger LOG = LoggerFactory.getLogger(WarmUpPhase.class);

    private final Warming.Starter starter;
    private final Executor commands;
    private @Nullable Warming running;
    private Runnable afterWarmUp = () -> {};

    /** @param commands executor of the worker's command thread */
    WarmUpPhase(Warming.Starter starter, Executor commands) {
        this.starter = starter;
        this.commands = commands;
    }

    long limitNanos(ProxyConfig config) {
        return starter.limitNanos(config);
    }

    /**
     * Starts the warm-up. Runs {@code next} once, when the warm-up has ended, failed or reached its limit, unless
     * {@link #abandon} was called before.
     */
    void begin(ProxyConfig config, Runnable next) {
        long limitNanos = limitNanos(config);
        Warming started;
        try {
            started = starter.start(config);
        } catch (IOException | RuntimeException | LinkageError e) {
            LOG.warn("the warm-up cannot be started; the worker serves without a warm-up", e);
            next.run();
            return;
        }
        running = started;
        afterWarmUp = next;
        // close() waits for threads and may hang, so it is called on a separate thread.
        CompletableFuture<String> ended = started.finished()
                .toCompletableFuture()
                .thenApplyAsync(
                        description -> {
                            started.close();
                            return description;
                        },
                        WarmUpPhase::onNewThread);
        var unused = ended.whenCompleteAsync((description, failure) -> finish(started, description, failure), commands);
        CompletableFuture.delayedExecutor(limitNanos + GRACE_NANOS, TimeUnit.NANOSECONDS, commands)
                .execute(() -> enforceLimit(started, limitNanos));
    }

    private void finish(Warming ended, @Nullable String description, @Nullable Throwable failure) {
        if (running != ended) {
            return;
        }
        if (failure == null) {
            LOG.info("warm-up finished: {}", description);
        } else {
            LOG.warn("the warm-up failed; the worker serves without a complete warm-up", failure);
        }
        end();
    }

    private void enforceLimit(Warming warming, long limitNanos) {
        if (running == warming) {
            LOG.warn(
                    "the warm-up did not end within its limit of {} s; the worker serves without a complete warm-up",
                    TimeUnit.NANOSECONDS.toSeconds(limitNanos));
            stop(warming);
            end();
        }
    }

    private void end() {
        running = null;
        afterWarmUp.run();
    }

    /** Ends the warm-up, because the worker must serve now. */
    void abandon() {
        Warming warming = running;
        running = null;
        if (warming != null) {
            LOG.info("the warm-up is ended early, because the worker must serve now");
            stop(warming);
        }
    }

    private static void stop(Warming warming) {
        onNewThread(() -> {
            warming.stop();
            warming.close();
        });
    }

    private static void onNewThread(Runnable task) {
        Thread thread = new Thread(task, "worker-warm-up-end");
        thread.setDaemon(true);
        thread.start();
    }
}
