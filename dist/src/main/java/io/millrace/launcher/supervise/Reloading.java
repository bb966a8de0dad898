package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reload in progress: a configuration to which the serving worker has not replied yet. There is at most one. A
 * reply contains the number of its request, so that a late reply is not taken for the reply to the next request. Not
 * thread-safe; confined to the event loop.
 */
final class Reloading {
    /**
     * Limit of the wait for a reply, after which the worker is replaced. A worker reads ten thousand rules per second.
     */
    static final long TIMEOUT_SECONDS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(Reloading.class);

    private static final String OTHER_VERSION =
            "the worker has another version, because an earlier launcher started it; replace the worker with millctl server restart";

    /** A request without a reply. */
    private record PendingReload(long request, ConfigSource config, CompletableFuture<List<SettingChange>> answer) {}

    private final EventLoop loop;
    private final Consumer<ConfigSource> onApplied;

    /**
     * Number of the last request. The first number is random, because this launcher may receive a reply to an earlier
     * launcher.
     */
    private long lastRequest = ThreadLocalRandom.current().nextLong();

    private @Nullable PendingReload pendingReload;

    /**
     * Creates an object without a reload in progress.
     *
     * @param onApplied called with a configuration that the worker has applied, before the caller's future completes
     */
    Reloading(EventLoop loop, Consumer<ConfigSource> onApplied) {
        this.loop = loop;
        this.onApplied = onApplied;
    }

    boolean isInProgress() {
        return pendingReload != null;
    }

    /**
     * Sends a configuration to a worker. No other reload may be in progress.
     *
     * @param answer completes with the outcome of each setting, or fails: with a {@link TimeoutException} if the worker
     *     does not reply in time
     */
    void send(WorkerProcess worker, ConfigSource config, CompletableFuture<List<SettingChange>> answer) {
        if (!worker.isOfThisVersion()) {
            answer.complete(List.of(new SettingChange("*", "rejected", OTHER_VERSION)));
            return;
        }
        lastRequest++;
        pendingReload = new PendingReload(lastRequest, config, answer);
        worker.send(new ControlMessage.Reload(lastRequest, config));
        ScheduledFuture<?> deadline = loop.schedule(
                () -> end(new TimeoutException("the worker did not answer within " + TIMEOUT_SECONDS + " s")),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        answer.whenComplete((settings, failure) -> deadline.cancel(false));
    }

    void answered(WorkerProcess worker, ControlMessage.Reloaded message) {
        PendingReload waiting = pendingReload;
        if (waiting == null || waiting.request() != message.request()) {
            LOG.warn(
                    "worker {} answered a reload for which this launcher does not wait; the result is only logged: {}",
                    worker.pid(),
                    message.settings());
            return;
        }
        pendingReload = null;
        if (message.settings().stream().noneMatch(setting -> setting.result().equals("rejected"))) {
            onApplied.accept(waiting.config());
        }
        waiting.answer().complete(message.settings());
    }

    /** Fails the reload in progress, because the worker will not reply. */
    void fail(String reason) {
        end(new IOException(reason));
    }

    private void end(Exception failure) {
        PendingReload waiting = pendingReload;
        pendingReload = null;
        if (waiting != null) {
            waiting.answer().completeExceptionally(failure);
        }
    }
}
