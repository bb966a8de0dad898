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
 * The reload in progress: a configuration that was sent to the serving worker and has no reply yet. There is at most
 * one. Replies contain the number of their request, so that a late reply is not mistaken for the next one. Not
 * thread-safe; confined to the event loop.
 */
final class Reloading {
    /** Time limit of a reload, after which the worker is replaced. A worker reads ten thousand rules per second. */
    static final long TIMEOUT_SECONDS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(Reloading.class);

    private static final String OTHER_VERSION =
            "the worker has another version, because an earlier launcher started it; replace the worker with millctl server restart";

    private record Asked(long request, ConfigSource config, CompletableFuture<List<SettingChange>> answer) {}

    private final EventLoop loop;
    private final Consumer<ConfigSource> taken;

    /** Starts at a random number, because this launcher may receive a reply to a request of an earlier one. */
    private long request = ThreadLocalRandom.current().nextLong();

    private @Nullable Asked asked;

    /** @param taken called with a configuration that the worker has applied, before the caller's future completes */
    Reloading(EventLoop loop, Consumer<ConfigSource> taken) {
        this.loop = loop;
        this.taken = taken;
    }

    boolean isUnderWay() {
        return asked != null;
    }

    /**
     * Sends {@code config} to {@code worker}. No other reload may be in progress.
     *
     * @param answer completes with the outcome of each setting, or with a {@link TimeoutException}
     */
    void ask(WorkerProcess worker, ConfigSource config, CompletableFuture<List<SettingChange>> answer) {
        if (!worker.isOfThisVersion()) {
            answer.complete(List.of(new SettingChange("*", "rejected", OTHER_VERSION)));
            return;
        }
        request++;
        asked = new Asked(request, config, answer);
        worker.send(new ControlMessage.Reload(request, config));
        ScheduledFuture<?> deadline = loop.schedule(
                () -> end(new TimeoutException("the worker did not answer within " + TIMEOUT_SECONDS + " s")),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        answer.whenComplete((settings, failure) -> deadline.cancel(false));
    }

    void answered(WorkerProcess worker, ControlMessage.Reloaded message) {
        Asked waiting = asked;
        if (waiting == null || waiting.request() != message.request()) {
            LOG.warn(
                    "worker {} answered a reload after its timeout; the reload remains reported as failed: {}",
                    worker.pid(),
                    message.settings());
            return;
        }
        asked = null;
        if (message.settings().stream().noneMatch(setting -> setting.result().equals("rejected"))) {
            taken.accept(waiting.config());
        }
        waiting.answer().complete(message.settings());
    }

    /** Fails the reload in progress, because the worker will not reply. */
    void fail(String reason) {
        end(new IOException(reason));
    }

    private void end(Exception failure) {
        Asked waiting = asked;
        asked = null;
        if (waiting != null) {
            waiting.answer().completeExceptionally(failure);
        }
    }
}
