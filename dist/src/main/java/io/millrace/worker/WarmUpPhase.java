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
 * The warm-up of one worker, cut off at its limit whatever it does.
 *
 * <p>Confined to the worker's command thread.
 */
final class WarmUpPhase {
    /** Beyond the limit, for a warm-up to notice it by itself and to free what it took. */
    static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Logger LOG = LoggerFactory.getLogger(WarmUpPhase.class);

    private final Warming.Starter starter;
    private final Executor commands;
    private @Nullable Warming running;
    private Runnable then = () -> {};

    /** @param commands the worker's command thread */
    WarmUpPhase(Warming.Starter starter, Executor commands) {
        this.starter = starter;
        this.commands = commands;
    }

    long limitNanos(ProxyConfig config) {
        return starter.limitNanos(config);
    }

    /** Warms up; {@code next} runs once when that has ended in any way, unless {@link #abandon} comes first. */
    void begin(ProxyConfig config, Runnable next) {
        long limitNanos = limitNanos(config);
        Warming started;
        try {
            started = starter.start(config);
        } catch (IOException | RuntimeException | LinkageError e) {
            LOG.warn("the worker serves without having warmed up", e);
            next.run();
            return;
        }
        running = started;
        then = next;
        // Closing waits for its threads: it has one of its own, which may hang.
        CompletableFuture<String> ended = started.finished()
                .toCompletableFuture()
                .thenApplyAsync(
                        how -> {
                            started.close();
                            return how;
                        },
                        WarmUpPhase::onThreadOfItsOwn);
        var unused = ended.whenCompleteAsync((how, failure) -> finish(started, how, failure), commands);
        CompletableFuture.delayedExecutor(limitNanos + GRACE_NANOS, TimeUnit.NANOSECONDS, commands)
                .execute(() -> cutOff(started, limitNanos));
    }

    private void finish(Warming ended, @Nullable String how, @Nullable Throwable failure) {
        if (running != ended) {
            return;
        }
        if (failure == null) {
            LOG.info("warmed up: {}", how);
        } else {
            LOG.warn("the warm-up failed; the worker serves without it", failure);
        }
        end();
    }

    private void cutOff(Warming late, long limitNanos) {
        if (running == late) {
            LOG.warn(
                    "the warm-up did not end within its limit of {} s; the worker serves without it",
                    TimeUnit.NANOSECONDS.toSeconds(limitNanos));
            stop(late);
            end();
        }
    }

    private void end() {
        running = null;
        then.run();
    }

    /** The worker is needed now. */
    void abandon() {
        Warming warming = running;
        running = null;
        if (warming != null) {
            LOG.info("the warm-up is cut short: the worker is needed now");
            stop(warming);
        }
    }

    private static void stop(Warming warming) {
        onThreadOfItsOwn(() -> {
            warming.stop();
            warming.close();
        });
    }

    private static void onThreadOfItsOwn(Runnable task) {
        Thread thread = new Thread(task, "worker-warm-up-end");
        thread.setDaemon(true);
        thread.start();
    }
}
