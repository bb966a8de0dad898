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
 * The configuration that the serving worker was handed and has not answered for, one at a time. An answer names its request:
 * one that comes late is not taken for the answer to the next. Confined to the event loop.
 */
final class Reloading {
    /** A worker reads ten thousand rules in a second; one that takes longer than this is replaced. */
    static final long TIMEOUT_SECONDS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(Reloading.class);

    private static final String OTHER_VERSION =
            "the worker is of another version, taken over from an earlier launcher; millctl server restart replaces it";

    private record Asked(long request, ConfigSource config, CompletableFuture<List<SettingChange>> answer) {}

    private final EventLoop loop;
    private final Consumer<ConfigSource> taken;

    /** From anywhere: what an earlier launcher asked of a worker may be answered to this one. */
    private long request = ThreadLocalRandom.current().nextLong();

    private @Nullable Asked asked;

    /** @param taken told of a configuration that the worker has taken over, before whoever asked for it is */
    Reloading(EventLoop loop, Consumer<ConfigSource> taken) {
        this.loop = loop;
        this.taken = taken;
    }

    boolean isUnderWay() {
        return asked != null;
    }

    /**
     * Hands {@code config} to {@code worker}; nothing else is under way.
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
                    "worker {} has answered a reload after its time; what was said of that one stands: {}",
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

    /** The worker will not answer. */
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
