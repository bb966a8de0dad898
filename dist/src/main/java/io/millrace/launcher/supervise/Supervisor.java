package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The supervisor of the worker. It starts the worker, checks its heartbeats, and stops it. It replaces a worker that
 * dies or hangs, or that must run with a changed configuration. This class delegates to {@link WorkerSuccession} on the
 * event loop.
 *
 * <p>Thread-safe, except for {@link #onWarmUp} and {@link #writeIdentity}.
 */
public final class Supervisor implements ServingWorker {
    private final EventLoop loop;
    private final WorkerSuccession succession;

    /**
     * @param onReady called on the event loop when a worker of this launcher has become ready. Also called when the
     *     adopted worker continues to serve, because its successor failed to start
     */
    public Supervisor(EventLoop loop, ControlPaths paths, long heartbeatTimeoutNanos, Consumer<WorkerStatus> onReady) {
        this.loop = loop;
        succession = new WorkerSuccession(loop, paths, heartbeatTimeoutNanos, onReady);
    }

    /** Returns the callbacks for the control server. */
    public ControlServer.Peers peers() {
        return succession.connections();
    }

    /**
     * Sets the listener of warm-ups. Call before {@link #start}.
     *
     * @param changed called on the event loop whenever a warm-up begins or ends
     */
    public void onWarmUp(Consumer<WorkerStatus> changed) {
        succession.published().onWarmUp(changed);
    }

    /** Sets the receiver of events about workers, and of events that workers report. Call before {@link #start}. */
    public void events(EventSink sink) {
        succession.events(sink);
    }

    /**
     * Adopts a worker whose launcher has died. Call before {@link #start}.
     *
     * @return the sockets and state that the worker hands over; completes within seconds, unless a killed process does
     *     not exit
     */
    public CompletableFuture<Adoption.Result> adopt(WorkerIdentity.Survivor survivor) {
        loop.execute(() -> succession.adopt(survivor));
        return succession.adoption().result();
    }

    /**
     * Drains the adopted worker, so that it finishes its requests and exits. Call before {@link #start}.
     *
     * @return completes when the adopted worker has stopped accepting
     */
    public CompletableFuture<Void> drainAdopted(long drainNanos) {
        loop.execute(() -> succession.drainCurrent(drainNanos));
        return succession.adoption().acceptingEnded();
    }

    /**
     * Starts the first worker, or a successor of the adopted worker.
     *
     * @param first plan of the first worker; the supervisor takes ownership of its sockets
     * @param drainNanos drain timeout of the adopted worker
     */
    @Override
    public void start(WorkerPlan first, long drainNanos) {
        loop.execute(() -> succession.start(first, drainNanos));
    }

    /** Rewrites the file that identifies the current worker. Call on the event loop. */
    public void writeIdentity() {
        succession.writeIdentity();
    }

    /** The current status. */
    public WorkerStatus status() {
        return succession.published().status();
    }

    /** Drains the workers, and completes when they have exited. */
    public CompletableFuture<Void> stop(long drainNanos) {
        loop.execute(() -> succession.stop(drainNanos));
        return succession.shutdown().done();
    }

    /** Kills the workers, and completes when they have exited. */
    public CompletableFuture<Void> stopAtOnce() {
        loop.execute(succession::stopAtOnce);
        return succession.shutdown().done();
    }

    /**
     * Sends a configuration to the serving worker. Later workers also start with it, unless the worker rejects a
     * setting.
     *
     * @return the outcome of each changed setting
     */
    @Override
    public CompletableFuture<List<SettingChange>> reload(ConfigSource changed) {
        CompletableFuture<List<SettingChange>> result = new CompletableFuture<>();
        loop.execute(() -> succession.reload(changed, result));
        return result;
    }

    /**
     * Replaces the worker by a new worker with another plan. Fails if the new worker does not become ready; the old
     * plan then stays in force.
     *
     * @param changed plan of the new worker; the supervisor takes ownership of its sockets
     */
    @Override
    public CompletableFuture<Void> roll(WorkerPlan changed, long drainNanos) {
        WorkerRollover requested = new WorkerRollover(changed, drainNanos, new CompletableFuture<>());
        loop.execute(() -> succession.roll(requested));
        return requested.done();
    }

    @Override
    public OptionalLong lastRollNanos() {
        long last = succession.published().lastRollNanos();
        return last < 0 ? OptionalLong.empty() : OptionalLong.of(last);
    }

    /** Makes all workers reopen their log files. */
    public void reopenLogs() {
        loop.execute(() -> succession.workers().all().forEach(worker -> worker.send(new ControlMessage.ReopenLogs())));
    }
}
