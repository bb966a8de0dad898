package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of the current worker and its candidate. The current worker serves. In a roll, the candidate
 * replaces it.
 *
 * <pre>
 * roll:  the candidate starts, warms up and reports standby
 *    ->  the current worker releases the store and still answers
 *    ->  the candidate opens the store and accepts: it becomes the current worker
 *    ->  the old worker stops accepting, finishes its requests and exits
 * </pre>
 *
 * <p>A current worker of an earlier version cannot release the store while it answers. It drains first, and then
 * the candidate opens the store. Meanwhile new connections wait in the kernel's accept queue.
 *
 * <p>Not thread-safe; confined to the event loop, except the methods marked "any thread".
 */
final class WorkerSuccession implements WorkerRegistry.Listener, WorkerConnections.Receiver {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerSuccession.class);

    /** First version of the control protocol in which a draining worker sends {@code Draining} after {@code Hello}. */
    private static final int VERSION_WITH_DRAINING = 4;

    private final EventLoop loop;
    private final WorkerIdentity identity;
    private final WorkerRegistry workers;
    private final Adoption adoption;
    private final WorkerConnections connections;
    private final HandOver handOver;
    private final Reloading reloading;
    private final WorkerShutdown shutdown;
    private final Consumer<WorkerStatus> onReady;
    private final RestartBackoff backoff = RestartBackoff.ofWorkers();
    private final TicketKeyRotation ticketKeys = new TicketKeyRotation();
    private final PublishedStatus published = new PublishedStatus();

    private volatile EventSink events = EventSink.NONE;
    /** The plan with which the next worker is started; null before {@link #start}. */
    private @Nullable WorkerPlan plan;
    /** The worker that serves or will serve next; null if none runs. */
    private @Nullable WorkerProcess current;
    /** The new worker of the roll in progress; null if none runs. */
    private @Nullable WorkerProcess candidate;
    /** The roll in progress; null for none. */
    private @Nullable WorkerRollover roll;

    /**
     * Creates a state machine without workers.
     *
     * @param onReady called when a worker of this launcher has become ready, or the adopted worker continues to serve
     */
    WorkerSuccession(EventLoop loop, ControlPaths paths, long heartbeatTimeoutNanos, Consumer<WorkerStatus> onReady) {
        this.loop = loop;
        this.onReady = onReady;
        identity = new WorkerIdentity(paths.workerIdentity());
        workers = new WorkerRegistry(loop, paths, heartbeatTimeoutNanos, this);
        adoption = new Adoption(loop, workers::kill);
        connections = new WorkerConnections(loop, workers, adoption, this);
        handOver = new HandOver(loop, identity, workers::kill);
        shutdown = new WorkerShutdown(workers);
        reloading = new Reloading(loop, this::updateConfig);
        ticketKeys.start(loop, message -> workers.all().stream()
                .filter(WorkerProcess::isOfThisVersion)
                .forEach(worker -> worker.send(message)));
    }

    /** Sets the receiver of events. Any thread. */
    void events(EventSink sink) {
        events = sink;
    }

    private void report(EventKind kind, String subject, String text) {
        events.record(new Event(System.currentTimeMillis(), kind, subject, text));
    }

    /** Returns the callbacks for the control server. Any thread. */
    WorkerConnections connections() {
        return connections;
    }

    /** Returns the adoption of a worker of an earlier launcher. Its futures may be used on any thread. */
    Adoption adoption() {
        return adoption;
    }

    /** Returns the registry of the workers. */
    WorkerRegistry workers() {
        return workers;
    }

    /** Returns the shutdown of the workers. Its future may be used on any thread. */
    WorkerShutdown shutdown() {
        return shutdown;
    }

    /** Returns the status for other threads. */
    PublishedStatus published() {
        return published;
    }

    /** Makes a worker of an earlier launcher the current one. */
    void adopt(WorkerIdentity.Survivor survivor) {
        current = workers.adopt(survivor);
        publish();
    }

    /** Drains the current worker. */
    void drainCurrent(long drainNanos) {
        WorkerProcess worker = current;
        if (worker != null && worker.state() == WorkerState.READY) {
            worker.drain(drainNanos);
            publish();
        }
    }

    /**
     * Starts the first worker, or a successor of the adopted worker.
     *
     * @param drainNanos drain timeout of the adopted worker
     */
    void start(WorkerPlan first, long drainNanos) {
        plan = first;
        if (shutdown.hasBegun()) {
            if (current == null) {
                closeSockets();
            }
        } else if (current == null) {
            startCurrent();
        } else {
            WorkerRollover takeover = new WorkerRollover(first, drainNanos, new CompletableFuture<>());
            var unused = takeover.done().exceptionally(failure -> {
                reportAdoptedReady();
                return null;
            });
            begin(takeover);
        }
    }

    /**
     * Reports that the adopted worker serves, although its successor failed to start. Without this report, the service
     * manager would stop the launcher.
     */
    private void reportAdoptedReady() {
        if (!shutdown.hasBegun() && published.status().state() == WorkerState.READY) {
            onReady.accept(published.status());
        }
    }

    /** Rewrites the file that identifies the current worker. */
    void writeIdentity() {
        WorkerProcess worker = current;
        if (worker != null && worker.state() != WorkerState.GONE) {
            identity.write(worker);
        }
    }

    /** Drains the workers. */
    void stop(long drainNanos) {
        shutdown.drain(drainNanos);
        publish();
        completeShutdownIfEmpty();
    }

    /** Kills the workers. */
    void stopAtOnce() {
        shutdown.kill();
        completeShutdownIfEmpty();
    }

    private void completeShutdownIfEmpty() {
        if (shutdown.hasBegun() && workers.isEmpty()) {
            closeSockets();
            shutdown.done().complete(null);
        }
    }

    /**
     * Sends a configuration to the current worker. Completes {@code result} with the outcome of each changed setting.
     */
    void reload(ConfigSource changed, CompletableFuture<List<SettingChange>> result) {
        WorkerProcess worker = current;
        if (!canChange(worker, result)) {
            return;
        }
        if (worker == null) {
            updateConfig(changed);
            result.complete(List.of());
        } else {
            reloading.send(worker, changed, result);
        }
    }

    private void updateConfig(ConfigSource changed) {
        if (plan != null) {
            plan = plan.with(changed);
        }
    }

    /** Replaces the current worker by a new one. Takes ownership of the sockets of the new plan. */
    void roll(WorkerRollover requested) {
        WorkerProcess worker = current;
        if (!canChange(worker, requested.done())) {
            requested.plan().closeSocketsExcept(plan);
            return;
        }
        if (worker == null) {
            replacePlan(requested.plan());
            requested.done().complete(null);
        } else {
            begin(requested);
        }
    }

    /**
     * Returns true if a change can begin now; otherwise fails {@code result} with the reason. Without a worker, a
     * change can begin, because the next worker starts with it.
     */
    private boolean canChange(@Nullable WorkerProcess worker, CompletableFuture<?> result) {
        String obstacle = null;
        if (shutdown.hasBegun()) {
            obstacle = "the proxy is stopping";
        } else if (roll != null || reloading.isInProgress()) {
            obstacle = "another change is in progress";
        } else if (worker != null && worker.state() != WorkerState.READY) {
            obstacle = "the worker is " + worker.state().word();
        }
        if (obstacle != null) {
            result.completeExceptionally(new IllegalStateException(obstacle + "; try again"));
        }
        return obstacle == null;
    }

    /** Makes {@code changed} the current plan. */
    private void replacePlan(WorkerPlan changed) {
        if (plan != null) {
            plan.closeSocketsExcept(changed);
        }
        plan = changed;
    }

    private void begin(WorkerRollover requested) {
        published.rollBegan(System.nanoTime());
        report(EventKind.ROLL_BEGUN, "worker", "a new worker starts, to replace the serving one");
        begin(requested, true);
    }

    private void begin(WorkerRollover requested, boolean warms) {
        roll = requested;
        if (requested.plan().sockets() == null) {
            // Two workers that bind their own sockets cannot use the same port, so the old one must exit first.
            drainCurrent(requested.drainNanos());
            return;
        }
        try {
            candidate = workers.launch(requested.plan(), warms);
        } catch (IOException e) {
            rollFailed(e.getMessage());
        }
    }

    private void rollFailed(@Nullable String reason) {
        WorkerRollover failed = roll;
        roll = null;
        if (failed != null) {
            LOG.error("the new worker did not start, the previous configuration stays in use: {}", reason);
            report(EventKind.ROLL_FAILED, "worker", "the new worker did not start: " + reason);
            failed.plan().closeSocketsExcept(plan);
            failed.done().completeExceptionally(new IOException(reason));
        }
    }

    /**
     * Replaces a current worker that no longer accepts connections. The candidate becomes the current worker; if there
     * is none, a new worker is started.
     */
    private void replaceCurrent() {
        WorkerProcess next = candidate;
        if (next == null) {
            startCurrent();
            return;
        }
        candidate = null;
        current = next;
        workers.expectReady(next);
        handOver.completeAlone(next);
        publish();
    }

    private void startCurrent() {
        WorkerPlan next = roll == null ? plan : roll.plan();
        if (shutdown.hasBegun() || next == null) {
            completeShutdownIfEmpty();
            return;
        }
        try {
            WorkerProcess worker = workers.launch(next, false);
            current = worker;
            identity.write(worker);
            publish();
        } catch (IOException e) {
            LOG.error("the worker cannot be started: {}", e.getMessage());
            startCurrentAfter(backoff.afterFailedStart());
        }
    }

    private void startCurrentAfter(long delayNanos) {
        if (delayNanos == 0) {
            startCurrent();
        } else {
            loop.schedule(this::startCurrent, delayNanos, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void exited(WorkerProcess worker, WorkerState before, String cause) {
        handOver.exited(worker);
        if (worker == candidate) {
            candidateExited(worker, cause);
        } else if (worker == current) {
            currentExited(worker, before, cause);
        } else {
            LOG.info("worker {} has finished its requests and exited", worker.pid());
        }
        completeShutdownIfEmpty();
    }

    private void candidateExited(WorkerProcess worker, String cause) {
        candidate = null;
        WorkerRollover attempted = roll;
        handOver.reopenStore(current);
        publish();
        if (attempted != null && !shutdown.hasBegun() && worker.warms() && !worker.standsBy()) {
            LOG.warn("worker {} {} during its warm-up; starting another worker without warm-up", worker.pid(), cause);
            begin(attempted, false);
        } else if (attempted != null && !shutdown.hasBegun() && worker.isClassArchiveDiscarded()) {
            LOG.warn(
                    "worker {} {}; the class archive may be the cause, so the worker is restarted without it",
                    worker.pid(),
                    cause);
            begin(attempted, false);
        } else {
            rollFailed(cause);
        }
        if (candidate == null && current == null) {
            startCurrent();
        }
    }

    private void currentExited(WorkerProcess worker, WorkerState before, String cause) {
        current = null;
        identity.clear();
        publish();
        adoption.onExit();
        reloading.fail("the worker exited during the reload");
        if (shutdown.hasBegun() || plan == null) {
            return;
        }
        if (before == WorkerState.DRAINING) {
            replaceCurrent();
            return;
        }
        published.restarted();
        report(EventKind.WORKER_DIED, "worker " + worker.pid(), "the serving worker " + cause);
        if (candidate != null) {
            LOG.error("worker {} {}; new connections wait for the next worker", worker.pid(), cause);
            replaceCurrent();
            return;
        }
        if (worker.isClassArchiveDiscarded()) {
            LOG.error(
                    "worker {} {}; the class archive may be the cause, so the worker is restarted without it",
                    worker.pid(),
                    cause);
            startCurrent();
            return;
        }
        rollFailed(cause);
        long delayNanos = backoff.after(worker, System.nanoTime());
        LOG.error(
                "worker {} {}; {}; the next worker starts {}",
                worker.pid(),
                cause,
                plan.sockets() == null ? "new connections are refused" : "new connections wait",
                delayNanos == 0 ? "immediately" : "in " + TimeUnit.NANOSECONDS.toMillis(delayNanos) + " ms");
        startCurrentAfter(delayNanos);
    }

    @Override
    public void killed(WorkerProcess worker) {
        publish();
    }

    private void publish() {
        published.publish(current, candidate, workers.generation(), handOver.isInProgress());
    }

    @Override
    public @Nullable WorkerProcess current() {
        return current;
    }

    @Override
    public void received(WorkerProcess worker, ControlMessage message) {
        if (message instanceof ControlMessage.Hello hello) {
            onHello(worker, hello);
        } else if (message instanceof ControlMessage.WarmingUp warmUp && worker == candidate) {
            workers.expectWarm(worker, warmUp.limitNanos());
            publish();
        } else if (message instanceof ControlMessage.Standby && worker == candidate) {
            onStandby(worker);
        } else if (message instanceof ControlMessage.StoreReleased) {
            released(worker);
        } else if (message instanceof ControlMessage.Change change) {
            handOver.change(worker, change, current);
        } else if (message instanceof ControlMessage.ChangeMade made) {
            handOver.changeMade(made);
        } else if (message instanceof ControlMessage.Ready ready) {
            onReadyMessage(worker, ready);
        } else if (message instanceof ControlMessage.Beat) {
            worker.heartbeat().beat(System.nanoTime());
        } else if (message instanceof ControlMessage.Failed failed) {
            worker.failed(failed.reason());
        } else if (message instanceof ControlMessage.Reloaded reloaded) {
            reloading.answered(worker, reloaded);
        } else if (message instanceof ControlMessage.Draining) {
            onStoppedAccepting(worker);
        } else if (message instanceof ControlMessage.WorkerEvent happened) {
            events.record(happened.event());
        }
    }

    private void onStandby(WorkerProcess next) {
        next.reportedStandby();
        workers.expectReady(next);
        WorkerProcess serving = current;
        if (serving == null) {
            replaceCurrent();
        } else if (roll != null && HandOver.isPossible(serving)) {
            handOver.begin(serving, next);
            publish();
        } else if (roll != null) {
            drainCurrent(roll.drainNanos());
        }
    }

    private void released(WorkerProcess worker) {
        WorkerProcess next = candidate;
        if (worker == current && next != null) {
            handOver.released(worker, next);
        }
    }

    /** Makes a worker that accepts connections the current one, and drains the previous worker. */
    private void takeOver(WorkerProcess next) {
        WorkerProcess old = current;
        candidate = null;
        current = next;
        handOver.complete(next);
        WorkerRollover finished = roll;
        if (old != null && finished != null) {
            old.drain(finished.drainNanos());
        }
    }

    private void onHello(WorkerProcess worker, ControlMessage.Hello hello) {
        worker.setProtocolVersion(hello.protocolVersion());
        if (!worker.isOfThisVersion() && worker.plan() != null) {
            workers.kill(
                    worker,
                    "has version " + hello.protocolVersion() + " of the control protocol, expected "
                            + ControlMessage.PROTOCOL_VERSION);
        } else if (worker.plan() == null
                && hello.listeners().isEmpty()
                && hello.protocolVersion() < VERSION_WITH_DRAINING) {
            onStoppedAccepting(worker);
        } else if (worker.plan() == null) {
            adoption.onHello(worker, hello);
        } else {
            worker.send(ticketKeys.message());
            boolean standby = worker == candidate;
            worker.send(new ControlMessage.Assignment(
                    worker.plan().listeners(), worker.plan().config(), standby, standby && worker.warms()));
            worker.markAssigned();
        }
    }

    private void onReadyMessage(WorkerProcess worker, ControlMessage.Ready ready) {
        if (worker.state() != WorkerState.STARTING) {
            return;
        }
        worker.becameReady(ready, System.nanoTime());
        if (worker == candidate) {
            takeOver(worker);
        }
        if (worker == current) {
            handOver.ready(worker);
        }
        publish();
        WorkerRollover finished = roll;
        if (finished != null && worker == current && candidate == null) {
            roll = null;
            published.rollEnded(System.nanoTime());
            report(
                    EventKind.ROLL_ENDED,
                    "worker " + worker.pid(),
                    "the new worker serves, after " + TimeUnit.NANOSECONDS.toMillis(published.lastRollNanos()) + " ms");
            replacePlan(finished.plan());
            finished.done().complete(null);
        }
        if (worker.plan() == null) {
            adoption.onServing();
        } else {
            onReady.accept(published.status());
            worker.plan().starter().becameReady(worker.process());
        }
    }

    private void onStoppedAccepting(WorkerProcess worker) {
        worker.stoppedAccepting();
        handOver.closed(worker);
        if (worker == current && plan == null) {
            adoptedDrains(worker);
            return;
        }
        if (shutdown.hasBegun()) {
            closeSockets();
        }
        if (worker.state() == WorkerState.READY) {
            LOG.warn("worker {} received a stop signal that this launcher did not send", worker.pid());
            worker.drainingWithoutOrder(System.nanoTime());
        }
        if (!shutdown.hasBegun() && worker == current && plan != null && plan.sockets() != null) {
            reloading.fail("the worker received a stop signal that the launcher did not send");
            current = null;
            publish();
            replaceCurrent();
        }
    }

    /**
     * Ends the adoption of a worker that drains before this launcher has a plan. The worker has already closed its
     * sockets.
     */
    private void adoptedDrains(WorkerProcess adopted) {
        if (adopted.state() != WorkerState.DRAINING) {
            adopted.drainingWithoutOrder(System.nanoTime());
        }
        current = null;
        publish();
        adoption.onStoppedAccepting();
    }

    /**
     * Closes the listening sockets. Connections are then refused, so that clients do not wait for a worker in vain.
     */
    private void closeSockets() {
        if (plan != null) {
            plan.closeSocketsExcept(null);
        }
    }
}
