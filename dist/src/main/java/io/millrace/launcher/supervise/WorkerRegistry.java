package io.millrace.launcher.supervise;

import io.millrace.launcher.process.HeartbeatWatch;
import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.extension.trail.HookTrail;
import io.millrace.worker.WarmUpStarter;
import io.millrace.worker.control.ControlPaths;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of all live worker processes, including draining ones. It starts workers, kills workers that hang, and
 * reports every exit. Not thread-safe; confined to the event loop.
 */
final class WorkerRegistry {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerRegistry.class);

    /**
     * Time after which a worker that is not ready counts as hung. A slow disk may delay a start by seconds, but not by
     * a minute.
     */
    private static final long START_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);

    /**
     * Time after the warm-up limit at which a worker counts as hung. A worker that does not hang ends its warm-up at
     * the limit.
     */
    private static final long WARM_UP_GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * Limit of the wait for an adopted worker to connect. A worker without launcher tries to connect several times a
     * second.
     */
    private static final long ADOPTION_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Number of checks within a heartbeat timeout. */
    private static final int CHECKS = 10;

    /**
     * Number of {@link #CHECKS} without a heartbeat after which a thread dump is requested. The worker will probably be
     * killed soon.
     */
    private static final int CHECKS_BEFORE_DUMP = 7;

    private static final long CHECK_PERIOD_MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Base of the exit values of killed processes. The JDK reports death by signal n as 128 + n. */
    private static final int SIGNALLED = 128;

    /** Signals of crashes: SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV. */
    private static final Set<Integer> CRASH_SIGNALS = Set.of(4, 6, 7, 8, 11);

    /** The listener of exits and kills. */
    interface Listener {
        /**
         * @param before the state of the worker before the exit
         * @param cause the cause of the exit, for the log
         */
        void exited(WorkerProcess worker, WorkerState before, String cause);

        /** Called when a worker that hangs was killed. Its exit is reported later. */
        void killed(WorkerProcess worker);
    }

    private final EventLoop loop;
    private final ControlPaths paths;
    private final long heartbeatTimeoutNanos;
    private final Listener listener;
    private final Map<Long, WorkerProcess> workers = new HashMap<>();
    private long generation;

    WorkerRegistry(EventLoop loop, ControlPaths paths, long heartbeatTimeoutNanos, Listener listener) {
        this.loop = loop;
        this.paths = paths;
        this.heartbeatTimeoutNanos = heartbeatTimeoutNanos;
        this.listener = listener;
        long period = Math.max(CHECK_PERIOD_MIN_NANOS, heartbeatTimeoutNanos / CHECKS);
        loop.scheduleAtFixedRate(this::check, period, period, TimeUnit.NANOSECONDS);
    }

    /**
     * Starts a worker.
     *
     * @param warms whether the worker warms up before it reports standby
     */
    WorkerProcess launch(WorkerPlan plan, boolean warms) throws IOException {
        generation++;
        Process process = start(plan);
        WorkerProcess worker = add(process.toHandle(), plan, warms, heartbeatTimeoutNanos, START_TIMEOUT_NANOS);
        process.onExit()
                .thenAcceptAsync(
                        ended -> {
                            if (failedDuringStart(worker, ended.exitValue())) {
                                discardArchive(worker);
                            }
                            exited(worker, causeOfDeath(worker, ended.exitValue()));
                        },
                        loop);
        return worker;
    }

    /**
     * Starts a process. Converts every exception to an IOException, because the caller retries only after an
     * IOException.
     */
    private Process start(WorkerPlan plan) throws IOException {
        try {
            return plan.starter().start(generation);
        } catch (RuntimeException e) {
            throw new IOException(e.toString(), e);
        }
    }

    /** Discards the class archive with which a worker started. It may have caused the failed start. */
    private static void discardArchive(WorkerProcess worker) {
        WorkerPlan plan = worker.plan();
        if (plan != null && plan.starter().discardArchive()) {
            worker.classArchiveDiscarded();
        }
    }

    /**
     * Returns true if the worker failed during its start. It crashed before it had been ready for some time, or exited
     * before it connected to the launcher.
     */
    private static boolean failedDuringStart(WorkerProcess worker, int exitValue) {
        return CRASH_SIGNALS.contains(exitValue - SIGNALLED)
                ? !RestartBackoff.wasHealthy(worker, System.nanoTime())
                : exitValue < SIGNALLED && !worker.hasConnected();
    }

    WorkerProcess adopt(WorkerIdentity.Survivor survivor) {
        generation = survivor.generation();
        // The adopted worker still sends heartbeats at the interval of its previous launcher.
        long timeoutNanos = Math.max(heartbeatTimeoutNanos, survivor.heartbeatTimeoutNanos());
        WorkerProcess worker = add(survivor.process(), null, false, timeoutNanos, ADOPTION_TIMEOUT_NANOS);
        // The exit value of an adopted worker is unknown, because it is not a child process.
        survivor.process().onExit().thenRunAsync(() -> exited(worker, "exited"), loop);
        return worker;
    }

    private WorkerProcess add(
            ProcessHandle process,
            @Nullable WorkerPlan plan,
            boolean warms,
            long timeoutNanos,
            long readyTimeoutNanos) {
        long now = System.nanoTime();
        HeartbeatWatch heartbeat = new HeartbeatWatch(timeoutNanos, now);
        WorkerProcess worker = new WorkerProcess(generation, process, plan, warms, heartbeat, now + readyTimeoutNanos);
        workers.put(worker.pid(), worker);
        return worker;
    }

    /** Records that a worker warms up. It must then be ready soon after the warm-up limit, counted from now. */
    void expectWarm(WorkerProcess worker, long limitNanos) {
        long now = System.nanoTime();
        worker.warmUpBegan(new WorkerStatus.WarmUp(worker.pid(), now, limitNanos));
        worker.expectReadyBy(now + limitNanos + WARM_UP_GRACE_NANOS);
    }

    /** Restarts the time limit in which a worker on standby must become ready. */
    void expectReady(WorkerProcess worker) {
        worker.expectReadyBy(System.nanoTime() + START_TIMEOUT_NANOS);
    }

    @Nullable
    WorkerProcess byPid(long pid) {
        return workers.get(pid);
    }

    /** A copy of the list of workers. */
    List<WorkerProcess> all() {
        return List.copyOf(workers.values());
    }

    boolean isEmpty() {
        return workers.isEmpty();
    }

    /** Number of the latest worker; 0 before the first. */
    long generation() {
        return generation;
    }

    private void exited(WorkerProcess worker, String cause) {
        WorkerState before = worker.state();
        workers.remove(worker.pid());
        worker.markGone();
        try {
            // A killed worker leaves its socket file behind.
            Files.deleteIfExists(paths.workerAdmin(worker.generation()));
        } catch (IOException e) {
            LOG.debug("the admin socket of worker {} cannot be deleted: {}", worker.pid(), e.getMessage());
        }
        if (worker.warms()) {
            // A killed worker leaves the directory of its warm-up behind.
            CompletableFuture.runAsync(() -> WarmUpStarter.clear(paths, worker.generation()));
        }
        listener.exited(worker, before, cause + hooks(worker));
    }

    /** Names the hooks of extensions that the worker was running at its end; empty if there were none. */
    private String hooks(WorkerProcess worker) {
        Path file = paths.workerHooks(worker.generation());
        try {
            List<String> hooks = HookTrail.read(file);
            HookTrail.delete(file);
            return hooks.isEmpty() ? "" : " while it ran " + String.join(" and ", hooks);
        } catch (IOException e) {
            LOG.debug("{}: the hooks of worker {} cannot be read: {}", file, worker.pid(), e.getMessage());
            return "";
        }
    }

    private static String causeOfDeath(WorkerProcess worker, int exitValue) {
        String failure = worker.failure();
        if (failure != null) {
            return "failed: " + failure;
        }
        String killReason = worker.killReason();
        if (killReason != null) {
            return killReason + " and was killed by the launcher";
        }
        return exitValue > SIGNALLED && exitValue < 160
                ? "was killed by signal " + (exitValue - SIGNALLED)
                : "exited with status " + exitValue;
    }

    /** Kills workers that have missed a deadline. */
    private void check() {
        long now = System.nanoTime();
        for (WorkerProcess worker : all()) {
            boolean overdue = worker.heartbeat().checkOverdue(now);
            switch (worker.state()) {
                case STARTING -> {
                    if (now - worker.readyDeadlineNanos() > 0) {
                        if (worker.warmUp() == null) {
                            discardArchive(worker);
                        }
                        kill(
                                worker,
                                worker.warmUp() == null
                                        ? "did not become ready in time"
                                        : "did not finish its warm-up in time");
                    }
                }
                case READY -> {
                    if (overdue) {
                        kill(worker, silence(worker));
                    } else if (worker.heartbeat().silenceNanos(now)
                            > worker.heartbeat().timeoutNanos() / CHECKS * CHECKS_BEFORE_DUMP) {
                        requestThreadDump(worker);
                    }
                }
                case DRAINING -> {
                    if (now - worker.exitDeadlineNanos() > 0) {
                        kill(worker, "did not exit within the drain timeout");
                    } else if (overdue && !worker.hasStoppedAccepting()) {
                        // The replies to purges wait for this worker until it reports Draining.
                        kill(worker, silence(worker) + " while draining");
                    }
                }
                case DYING, GONE -> {}
            }
        }
    }

    private static String silence(WorkerProcess worker) {
        long millis = TimeUnit.NANOSECONDS.toMillis(worker.heartbeat().timeoutNanos());
        return "has sent no heartbeat for " + millis + " ms";
    }

    private static void requestThreadDump(WorkerProcess worker) {
        try {
            if (worker.requestThreadDump()) {
                LOG.warn(
                        "worker {} sends no heartbeats: the stacks of its threads are printed to standard output",
                        worker.pid());
            }
        } catch (IOException e) {
            LOG.warn(
                    "worker {} sends no heartbeats, and the stacks of its threads cannot be requested: {}",
                    worker.pid(),
                    e.getMessage());
        }
    }

    void kill(WorkerProcess worker, String reason) {
        LOG.error("worker {} {}; killing the worker", worker.pid(), reason);
        worker.kill(reason);
        listener.killed(worker);
    }
}
