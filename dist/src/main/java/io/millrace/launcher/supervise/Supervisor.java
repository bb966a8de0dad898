package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The supervisor of the serving worker. Starts the worker, watches its heartbeats and stops it. Replaces a worker that
 * dies or hangs, or whose configuration changes.
 *
 * <pre>
 * roll:  the candidate starts, warms up and reports standby
 *    ->  the current worker releases the store and still answers
 *    ->  the candidate opens the store and accepts: it becomes the current worker
 *    ->  the old worker stops accepting, finishes its requests and exits
 * </pre>
 * A current worker of an earlier version drains before the candidate opens the store. Meanwhile connections wait in the
 * kernel's accept queue, as after a crash.
 *
 * <p>Confined to the event loop, except {@link #status()} and the methods marked "any thread".
 */
public final class Supervisor implements ControlServer.Peers, WorkerRegistry.Listener, ServingWorker {
    private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);

    /** Time after the drain deadline in which the worker must close its store and exit. */
    private static final long EXIT_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Time for a worker to exit after its control socket has closed. */
    private static final long DISCONNECTED_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** First version of the control protocol in which a draining worker sends {@code Draining} after {@code Hello}. */
    private static final int VERSION_WITH_DRAINING = 4;

    /** First version of the control protocol in which a worker releases the store and continues to answer. */
    private static final int VERSION_WITH_RELEASE = 5;

    /** Time limit from the release of the store until the candidate accepts connections. */
    private static final long HAND_OVER_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final EventLoop loop;
    private final WorkerIdentity identity;
    private final WorkerRegistry workers;
    private final Adoption adoption;
    private final Reloading reloading;
    private final Consumer<WorkerStatus> onReady;
    private final RestartBackoff backoff = RestartBackoff.ofWorkers();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    private @Nullable WorkerPlan plan;
    private @Nullable WorkerProcess current;
    private @Nullable WorkerProcess candidate;
    /** The previous worker, which has stopped accepting or is about to; its successor is {@link #current}. */
    private @Nullable WorkerProcess predecessor;

    /** Timeout of a hand-over; not null while the current worker has released its store for the candidate. */
    private @Nullable ScheduledFuture<?> handOverDeadline;

    private final ChangeRelay relay = new ChangeRelay();
    private @Nullable WorkerRollover roll;
    private long restarts;
    private boolean stopping;
    private final TicketKeyRotation ticketKeys = new TicketKeyRotation();
    private Consumer<WorkerStatus> onWarmUp = changed -> {};
    private long rollBeganNanos;
    private volatile long lastRollNanos = -1;
    private volatile WorkerStatus status = WorkerStatus.NONE;

    /**
     * @param onReady called on the event loop whenever a worker of this launcher has become ready. Also called when the
     *     adopted worker continues to serve because its successor failed to start
     */
    public Supervisor(EventLoop loop, ControlPaths paths, long heartbeatTimeoutNanos, Consumer<WorkerStatus> onReady) {
        this.loop = loop;
        this.identity = new WorkerIdentity(paths.workerIdentity());
        this.workers = new WorkerRegistry(loop, paths, heartbeatTimeoutNanos, this);
        this.onReady = onReady;
        adoption = new Adoption(loop, workers::kill);
        reloading = new Reloading(loop, this::updateConfig);
        ticketKeys.start(loop, message -> workers.all().stream()
                .filter(WorkerProcess::isOfThisVersion)
                .forEach(worker -> worker.send(message)));
    }

    /**
     * Sets the listener of warm-ups. Call before {@link #start}.
     *
     * @param changed called on the event loop whenever a warm-up begins or ends
     */
    public void onWarmUp(Consumer<WorkerStatus> changed) {
        onWarmUp = changed;
    }

    /**
     * Adopts a worker whose launcher has died. Any thread, before {@link #start}.
     *
     * @return the sockets and state that the worker hands over; completes within seconds, unless a killed process does
     *     not exit
     */
    public CompletableFuture<Adoption.Left> adopt(WorkerIdentity.Survivor survivor) {
        loop.execute(() -> {
            current = workers.adopt(survivor);
            publish();
        });
        return adoption.left();
    }

    /**
     * Drains the adopted worker. Any thread, before {@link #start}.
     *
     * @return completes when the adopted worker has stopped accepting
     */
    public CompletableFuture<Void> dismiss(long drainNanos) {
        loop.execute(() -> {
            WorkerProcess adopted = current;
            if (adopted != null) {
                drain(adopted, drainNanos);
            }
        });
        return adoption.acceptsNoMore();
    }

    /**
     * Starts the first worker, or a successor of the adopted worker. Any thread.
     *
     * @param first plan of the first worker; the supervisor takes ownership of its sockets
     * @param drainNanos drain timeout of the adopted worker
     */
    @Override
    public void start(WorkerPlan first, long drainNanos) {
        loop.execute(() -> {
            plan = first;
            if (stopping) {
                if (current == null) {
                    closeSockets();
                }
            } else if (current == null) {
                spawn();
            } else {
                WorkerRollover takeover = new WorkerRollover(first, drainNanos, new CompletableFuture<>());
                var unused = takeover.done().exceptionally(failure -> {
                    reportAdoptedReady();
                    return null;
                });
                begin(takeover);
            }
        });
    }

    /**
     * Reports READY although the successor failed to start, since the adopted worker serves. Otherwise the service
     * manager would stop the launcher.
     */
    private void reportAdoptedReady() {
        if (!stopping && status.state() == WorkerState.READY) {
            onReady.accept(status);
        }
    }

    /** Rewrites the file that identifies the current worker. On the event loop. */
    public void writeIdentity() {
        WorkerProcess worker = current;
        if (worker != null && worker.state() != WorkerState.GONE) {
            identity.write(worker);
        }
    }

    /** The current status. Any thread. */
    public WorkerStatus status() {
        return status;
    }

    /** Drains the workers, and completes when they have exited. Any thread. */
    public CompletableFuture<Void> stop(long drainNanos) {
        loop.execute(() -> {
            stopping = true;
            for (WorkerProcess worker : workers.all()) {
                if (isToldToDrain(worker)) {
                    worker.send(new ControlMessage.Drain(drainNanos));
                    worker.draining(System.nanoTime() + drainNanos + EXIT_GRACE_NANOS);
                } else if (worker.state() == WorkerState.STARTING) {
                    worker.kill();
                }
            }
            publish();
            stoppedWhenEmpty();
        });
        return stopped;
    }

    /**
     * Whether {@link #stop} drains the worker. A starting worker has no requests to finish, except an adopted one that
     * has not reported {@code Ready} yet.
     */
    private static boolean isToldToDrain(WorkerProcess worker) {
        return switch (worker.state()) {
            case READY, DRAINING -> true;
            case STARTING -> worker.plan() == null && worker.hasConnected();
            case DYING, GONE -> false;
        };
    }

    /** Kills the workers, and completes when they have exited. Any thread. */
    public CompletableFuture<Void> stopAtOnce() {
        loop.execute(() -> {
            stopping = true;
            workers.all().forEach(WorkerProcess::kill);
            stoppedWhenEmpty();
        });
        return stopped;
    }

    private void stoppedWhenEmpty() {
        if (stopping && workers.isEmpty()) {
            closeSockets();
            stopped.complete(null);
        }
    }

    /**
     * Sends {@code changed} to the serving worker. Later workers start with it unless a setting is rejected. Any
     * thread.
     *
     * @return the outcome of each changed setting
     */
    @Override
    public CompletableFuture<List<SettingChange>> reload(ConfigSource changed) {
        CompletableFuture<List<SettingChange>> result = new CompletableFuture<>();
        loop.execute(() -> {
            WorkerProcess worker = current;
            if (!canChange(worker, result)) {
                return;
            }
            if (worker == null) {
                updateConfig(changed);
                result.complete(List.of());
            } else {
                reloading.ask(worker, changed, result);
            }
        });
        return result;
    }

    private void updateConfig(ConfigSource changed) {
        if (plan != null) {
            plan = plan.with(changed);
        }
    }

    /**
     * Replaces the worker by a new one with the plan {@code changed}. Fails if the new worker does not become ready;
     * the old plan then stays in force. Any thread.
     *
     * @param changed plan of the new worker; the supervisor takes ownership of its sockets
     */
    @Override
    public CompletableFuture<Void> roll(WorkerPlan changed, long drainNanos) {
        WorkerRollover requested = new WorkerRollover(changed, drainNanos, new CompletableFuture<>());
        loop.execute(() -> {
            WorkerProcess worker = current;
            if (!canChange(worker, requested.done())) {
                changed.closeSocketsExcept(plan);
                return;
            }
            if (worker == null) {
                replacePlan(changed);
                requested.done().complete(null);
            } else {
                begin(requested);
            }
        });
        return requested.done();
    }

    /**
     * Whether a change can begin now; if not, fails {@code result} with the reason. Without a worker it can: the next
     * worker starts with the change.
     */
    private boolean canChange(@Nullable WorkerProcess worker, CompletableFuture<?> result) {
        String obstacle = null;
        if (stopping) {
            obstacle = "the proxy is stopping";
        } else if (roll != null || reloading.isUnderWay()) {
            obstacle = "another change is in progress";
        } else if (worker != null && worker.state() != WorkerState.READY) {
            obstacle = "the worker is " + worker.state().word();
        }
        if (obstacle != null) {
            result.completeExceptionally(new IllegalStateException(obstacle + "; try again"));
        }
        return obstacle == null;
    }

    @Override
    public OptionalLong lastRollNanos() {
        long last = lastRollNanos;
        return last < 0 ? OptionalLong.empty() : OptionalLong.of(last);
    }

    /** Makes all workers reopen their log files. Any thread. */
    public void reopenLogs() {
        loop.execute(() -> workers.all().forEach(worker -> worker.send(new ControlMessage.ReopenLogs())));
    }

    /** Makes {@code changed} the current plan. */
    private void replacePlan(WorkerPlan changed) {
        if (plan != null) {
            plan.closeSocketsExcept(changed);
        }
        plan = changed;
    }

    private void begin(WorkerRollover requested) {
        rollBeganNanos = System.nanoTime();
        begin(requested, true);
    }

    private void begin(WorkerRollover requested, boolean warms) {
        roll = requested;
        if (requested.plan().sockets() == null) {
            // Without shared sockets two workers cannot bind the same port: the old one must exit first.
            drainCurrent(requested);
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
            failed.plan().closeSocketsExcept(plan);
            failed.done().completeExceptionally(new IOException(reason));
        }
    }

    private void drainCurrent(WorkerRollover requested) {
        WorkerProcess old = current;
        if (old != null) {
            drain(old, requested.drainNanos());
        }
    }

    private void drain(WorkerProcess worker, long drainNanos) {
        if (worker.state() == WorkerState.READY) {
            worker.send(new ControlMessage.Drain(drainNanos));
            worker.draining(System.nanoTime() + drainNanos + EXIT_GRACE_NANOS);
            publish();
        }
    }

    /**
     * Replaces a current worker that no longer accepts: by the candidate as soon as it is on standby, or by a new
     * worker.
     */
    private void replaceCurrent() {
        WorkerProcess next = candidate;
        if (next == null) {
            spawn();
            return;
        }
        endHandOver();
        candidate = null;
        current = next;
        workers.expectReady(next);
        identity.write(next);
        if (next.isToldToServe()) {
            next.send(new ControlMessage.TakenOver());
            next.send(new ControlMessage.PredecessorClosed());
        } else if (next.isAssigned()) {
            // Also during its warm-up. A candidate that has not connected yet gets an assignment without standby.
            next.serve(false);
        }
        publish();
    }

    private void endHandOver() {
        ScheduledFuture<?> deadline = handOverDeadline;
        handOverDeadline = null;
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    private void spawn() {
        WorkerPlan next = roll == null ? plan : roll.plan();
        if (stopping || next == null) {
            stoppedWhenEmpty();
            return;
        }
        try {
            WorkerProcess worker = workers.launch(next, false);
            current = worker;
            identity.write(worker);
            publish();
        } catch (IOException e) {
            LOG.error("the worker cannot be started: {}", e.getMessage());
            spawnAfter(backoff.afterFailedStart());
        }
    }

    private void spawnAfter(long delayNanos) {
        if (delayNanos == 0) {
            spawn();
        } else {
            loop.schedule(this::spawn, delayNanos, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void exited(WorkerProcess worker, WorkerState before, String cause) {
        relay.gone(worker);
        predecessorClosed(worker);
        if (worker == candidate) {
            candidateExited(worker, cause);
        } else if (worker == current) {
            currentExited(worker, before, cause);
        } else {
            LOG.info("worker {} has finished its requests and exited", worker.pid());
        }
        stoppedWhenEmpty();
    }

    private void candidateExited(WorkerProcess worker, String cause) {
        candidate = null;
        WorkerRollover attempted = roll;
        takeBack();
        if (attempted != null && !stopping && worker.warms() && !worker.standsBy()) {
            LOG.warn("worker {} {} during its warm-up; starting another worker without warm-up", worker.pid(), cause);
            begin(attempted, false);
        } else if (attempted != null && !stopping && worker.isWorthAnotherStart()) {
            LOG.warn("worker {} {}; restarting it, since the cause may be temporary", worker.pid(), cause);
            begin(attempted, false);
        } else {
            rollFailed(cause);
        }
        if (candidate == null && current == null) {
            spawn();
        }
    }

    /** Makes the current worker open its store again, because the candidate will not take over. */
    private void takeBack() {
        WorkerProcess serves = current;
        if (handOverDeadline != null && serves != null && serves.state() == WorkerState.READY) {
            LOG.warn("no new worker took over; worker {} opens its store again and continues to serve", serves.pid());
            relay.drop();
            serves.send(new ControlMessage.TakeBack());
            identity.write(serves);
        }
        endHandOver();
        publish();
    }

    private void currentExited(WorkerProcess worker, WorkerState before, String cause) {
        current = null;
        identity.clear();
        publish();
        adoption.gone();
        reloading.fail("the worker exited during the reload");
        if (stopping || plan == null) {
            return;
        }
        if (before == WorkerState.DRAINING) {
            replaceCurrent();
            return;
        }
        restarts++;
        if (candidate != null) {
            LOG.error("worker {} {}; new connections wait for the next worker", worker.pid(), cause);
            replaceCurrent();
            return;
        }
        if (worker.isWorthAnotherStart()) {
            LOG.error("worker {} {}; restarting it, since the cause may be temporary", worker.pid(), cause);
            spawn();
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
        spawnAfter(delayNanos);
    }

    @Override
    public void killed(WorkerProcess worker) {
        publish();
    }

    private void publish() {
        WorkerProcess worker = current;
        WorkerProcess next = candidate;
        WorkerStatus.WarmUp warmUp = next == null ? null : next.warmUp();
        boolean changed = !Objects.equals(warmUp, status.warmUp());
        status = worker == null
                ? new WorkerStatus(-1, WorkerState.GONE, workers.generation(), restarts, null, warmUp, false)
                : new WorkerStatus(
                        worker.pid(),
                        worker.state(),
                        worker.generation(),
                        restarts,
                        worker.ready(),
                        warmUp,
                        handOverDeadline != null);
        if (changed) {
            onWarmUp.accept(status);
        }
    }

    /** The worker with this process id. Without process ids (pid below 0) there is only one worker at a time. */
    private @Nullable WorkerProcess workerOf(long pid) {
        return pid < 0 ? current : workers.byPid(pid);
    }

    @Override
    public boolean isExpected(long pid) {
        return workerOf(pid) != null;
    }

    @Override
    public void connected(long pid, Channel channel) {
        WorkerProcess worker = workerOf(pid);
        if (worker != null) {
            worker.connected(channel);
        }
    }

    @Override
    public void received(long pid, ControlMessage message) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null) {
            return;
        }
        if (message instanceof ControlMessage.Hello hello) {
            onHello(worker, hello);
        } else if (message instanceof ControlMessage.WarmingUp warmUp && worker == candidate) {
            workers.expectWarm(worker, warmUp.limitNanos());
            publish();
        } else if (message instanceof ControlMessage.Standby && worker == candidate) {
            standsBy(worker);
        } else if (message instanceof ControlMessage.Released) {
            released(worker);
        } else if (message instanceof ControlMessage.Change change) {
            WorkerProcess to = current;
            boolean isReady = to != null && to != worker && to.state() == WorkerState.READY;
            relay.pass(worker, change, isReady ? to : null);
        } else if (message instanceof ControlMessage.ChangeMade made) {
            relay.made(made);
        } else if (message instanceof ControlMessage.Ready ready) {
            becameReady(worker, ready);
        } else if (message instanceof ControlMessage.Beat) {
            worker.heartbeat().beat(System.nanoTime());
        } else if (message instanceof ControlMessage.Failed failed) {
            worker.failed(failed.reason());
        } else if (message instanceof ControlMessage.Reloaded done) {
            reloading.answered(worker, done);
        } else if (message instanceof ControlMessage.Draining) {
            acceptsNoMore(worker);
        }
    }

    private void standsBy(WorkerProcess next) {
        next.standsByNow();
        workers.expectReady(next);
        WorkerProcess serves = current;
        if (serves == null) {
            replaceCurrent();
        } else if (roll != null
                && serves.protocolVersion() >= VERSION_WITH_RELEASE
                && serves.state() == WorkerState.READY) {
            handOverDeadline = loop.schedule(
                    () -> workers.kill(next, "did not take over from the old worker in time"),
                    HAND_OVER_NANOS,
                    TimeUnit.NANOSECONDS);
            serves.send(new ControlMessage.Release());
            publish();
        } else if (roll != null) {
            drainCurrent(roll);
        }
    }

    private void released(WorkerProcess worker) {
        WorkerProcess next = candidate;
        if (worker == current && next != null && handOverDeadline != null) {
            // The file names both workers: if this launcher dies now, one of the two exits by itself.
            identity.write(worker, next);
            next.serve(true);
        }
    }

    /** Makes {@code next} current, since it accepts connections, and drains the previous worker. */
    private void takeOver(WorkerProcess next) {
        WorkerProcess old = current;
        endHandOver();
        candidate = null;
        current = next;
        predecessor = old;
        next.send(new ControlMessage.TakenOver());
        identity.write(next);
        WorkerRollover finished = roll;
        if (old != null && finished != null) {
            old.send(new ControlMessage.Drain(finished.drainNanos()));
            old.draining(System.nanoTime() + finished.drainNanos() + EXIT_GRACE_NANOS);
        }
    }

    private void predecessorClosed(WorkerProcess worker) {
        WorkerProcess successor = current;
        if (worker == predecessor) {
            predecessor = null;
            if (successor != null) {
                successor.send(new ControlMessage.PredecessorClosed());
            }
        }
    }

    private void onHello(WorkerProcess worker, ControlMessage.Hello hello) {
        worker.speaks(hello.protocolVersion());
        if (!worker.isOfThisVersion() && worker.plan() != null) {
            workers.kill(
                    worker,
                    "has version " + hello.protocolVersion() + " of the control protocol, expected "
                            + ControlMessage.PROTOCOL_VERSION);
        } else if (worker.plan() == null
                && hello.listeners().isEmpty()
                && hello.protocolVersion() < VERSION_WITH_DRAINING) {
            acceptsNoMore(worker);
        } else if (worker.plan() == null) {
            adoption.greeted(worker, hello);
        } else {
            worker.send(ticketKeys.message());
            boolean standby = worker == candidate;
            worker.send(new ControlMessage.Assignment(
                    worker.plan().listeners(), worker.plan().config(), standby, standby && worker.warms()));
            worker.wasAssigned();
        }
    }

    private void becameReady(WorkerProcess worker, ControlMessage.Ready ready) {
        if (worker.state() != WorkerState.STARTING) {
            return;
        }
        worker.becameReady(ready, System.nanoTime());
        if (worker == candidate) {
            takeOver(worker);
        }
        if (worker == current) {
            relay.ready(worker);
        }
        publish();
        WorkerRollover finished = roll;
        if (finished != null && worker == current && candidate == null) {
            roll = null;
            lastRollNanos = System.nanoTime() - rollBeganNanos;
            replacePlan(finished.plan());
            finished.done().complete(null);
        }
        if (worker.plan() == null) {
            adoption.serves();
        } else {
            onReady.accept(status);
            worker.plan().starter().cameUp(worker.process());
        }
    }

    private void acceptsNoMore(WorkerProcess worker) {
        worker.hasStoppedAccepting();
        predecessorClosed(worker);
        if (worker == current && plan == null) {
            adoptedDrains(worker);
            return;
        }
        if (stopping) {
            closeSockets();
        }
        if (worker.state() == WorkerState.READY) {
            LOG.warn("worker {} received a stop signal that this launcher did not send", worker.pid());
            worker.drainingUnasked(System.nanoTime());
        }
        if (!stopping && worker == current && plan != null && plan.sockets() != null) {
            reloading.fail("the worker received a stop signal that the launcher did not send");
            current = null;
            publish();
            replaceCurrent();
        }
    }

    /**
     * Ends the adoption of a worker that drains before this launcher has a plan: the worker has already closed its
     * sockets.
     */
    private void adoptedDrains(WorkerProcess adopted) {
        if (adopted.state() != WorkerState.DRAINING) {
            adopted.drainingUnasked(System.nanoTime());
        }
        current = null;
        publish();
        adoption.finishes();
    }

    /**
     * Closes the listening sockets. When no worker accepts, clients should get a refused connection instead of a long
     * wait.
     */
    private void closeSockets() {
        if (plan != null) {
            plan.closeSocketsExcept(null);
        }
    }

    @Override
    public void disconnected(long pid) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null || worker.state() == WorkerState.DRAINING) {
            return;
        }
        loop.schedule(
                () -> {
                    if (worker.state() != WorkerState.DYING && worker.state() != WorkerState.GONE) {
                        workers.kill(worker, "has closed its control socket");
                    }
                },
                DISCONNECTED_GRACE_NANOS,
                TimeUnit.NANOSECONDS);
    }

    @Override
    public @Nullable List<FileDescriptor> descriptorsFor(long pid) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null || worker.plan() == null) {
            return null;
        }
        return worker.plan().descriptors();
    }

    @Override
    public void took(long pid, List<FileDescriptor> descriptors) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null) {
            ListeningSockets.closeAll(descriptors);
        } else {
            adoption.took(worker, descriptors);
        }
    }
}
