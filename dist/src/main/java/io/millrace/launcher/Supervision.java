package io.millrace.launcher;

import io.millrace.acme.AcmeService;
import io.millrace.launcher.alarm.Alarms;
import io.millrace.launcher.alarm.LauncherAlarms;
import io.millrace.launcher.build.BuildVersion;
import io.millrace.launcher.config.ConfigChanges;
import io.millrace.launcher.config.ConfigReader;
import io.millrace.launcher.config.PushedRevisions;
import io.millrace.launcher.config.RunningConfig;
import io.millrace.launcher.event.EventLog;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.exit.StopSignals;
import io.millrace.launcher.fleet.FleetMembership;
import io.millrace.launcher.history.History;
import io.millrace.launcher.history.Sampler;
import io.millrace.launcher.process.ArchiveRecorder;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.launcher.sockets.InheritedSockets;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.launcher.state.InstanceLock;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.launcher.supervise.Adoption;
import io.millrace.launcher.supervise.ControlServer;
import io.millrace.launcher.supervise.StateWatch;
import io.millrace.launcher.supervise.Supervisor;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.worker.control.ControlTransport;
import io.millrace.worker.control.ProcessSignals;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running launcher: supervisor, control socket, admin socket and signal handlers of one configuration. The caller
 * holds the lock of the state directory.
 *
 * <p>Thread-safe: signal handlers run on any thread.
 */
final class Supervision implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Supervision.class);

    /**
     * Limit of the wait for a worker of an earlier launcher, in addition to the drain timeout. The supervisor kills a
     * worker that does not respond before this limit.
     */
    private static final long TAKEOVER_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Delay from the start of serving to the recording of the class archive (AppCDS). The recording would slow the
     * first requests.
     */
    private static final long RECORDING_DELAY_MILLIS = 1000;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Supervisor supervisor;
    private final ControlServer server;
    private final RunningConfig config;
    private final ConfigChanges changes;
    private final ProxyConfig firstConfig;

    /** Completes when a worker of an earlier launcher, if any, has been adopted and a configuration is in force. */
    private final CompletableFuture<Void> startCompleted = new CompletableFuture<>();

    private final CompletableFuture<WorkerStatus> firstReady = new CompletableFuture<>();
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final ArchiveRecorder archiveRecorder;
    private final ServiceNotifier service;
    private final AcmeService acme;
    private final EventLog events;
    private final History history;
    private final Alarms alarms;
    private final FleetMembership fleet;
    private @Nullable LauncherAdmin admin;
    private @Nullable Sampler sampler;

    private Supervision(ConfigReader reader, ProxyConfig firstConfig, LauncherContext launcherContext) {
        this.firstConfig = firstConfig;
        ControlTransport transport = ControlTransport.available();
        group = transport.newEventLoopGroup("launcher");
        loop = group.next();
        supervisor = new Supervisor(
                loop,
                launcherContext.state().control(),
                TimeUnit.MILLISECONDS.toNanos(firstConfig.worker().heartbeatTimeoutMillis()),
                this::workerIsReady);
        supervisor.onWarmUp(this::warmUpChanged);
        Path state = launcherContext.state().state();
        events = EventLog.open(state.resolve("events.jsonl"));
        history =
                History.open(state.resolve("history.ring"), firstConfig.values().get(AdminKeys.HISTORY));
        supervisor.events(events);
        alarms = new Alarms(this::alarmSettings, state, events);
        server = new ControlServer(loop, transport, launcherContext.state().control(), supervisor.peers());
        config = new RunningConfig(reader, launcherContext, supervisor);
        config.events(events);
        fleet = new FleetMembership(state.resolve("fleet"), events, BuildVersion.ofJar());
        config.onApplied(changed -> applyFleet(changed));
        config.onApplied(changed -> history.resize(changed.values().get(AdminKeys.HISTORY)));
        changes = new ConfigChanges(config);
        Path drainMark = launcherContext.state().control().drainMark();
        fleet.setDraining(() -> stopping.get() || Files.exists(drainMark));
        fleet.setConfig(new PushedRevisions(config, changes, firstReady::isDone));
        archiveRecorder = new ArchiveRecorder(launcherContext.state().control().recording());
        acme = new AcmeService(() -> acmeSettings(launcherContext), System::currentTimeMillis);
        acme.events(events);
        service = ServiceNotifier.of(System.getenv(), ProcessHandle.current().pid(), loop);
    }

    /**
     * Binds the sockets and starts the worker, or adopts the worker of a dead launcher. A stop signal during the start
     * is sent to the worker as soon as the worker is known.
     */
    static Supervision start(
            ConfigReader reader, ConfigReader.Reading reading, LauncherContext launcherContext, StopSignals signals)
            throws LaunchException, IOException {
        ProxyConfig firstConfig = reading.config();
        Supervision supervision = new Supervision(reader, firstConfig, launcherContext);
        try {
            supervision.server.open();
            signals.onSignal(supervision::stop);
            ProcessSignals.handle("HUP", supervision::reload);
            ListeningSockets sockets = supervision.listen(firstConfig, launcherContext);
            supervision.config.begin(
                    reading, new WorkerPlan(reading.source(), launcherContext.workerCommand(firstConfig), sockets));
            supervision.acme.prepare();
            supervision.fleet.announce(supervision.config.config().fleet());
            LauncherAdmin opened = LauncherAdmin.start(
                    firstConfig,
                    launcherContext,
                    supervision.supervisor,
                    supervision.config,
                    supervision.changes,
                    supervision.acme,
                    supervision.events,
                    supervision.history,
                    supervision.alarms,
                    supervision.fleet);
            supervision.admin = opened;
            supervision.recordEvent(
                    EventKind.START,
                    "version " + BuildVersion.ofJar() + ", configuration " + supervision.config.name());
            Sampler sampler = opened.sampler(supervision.history);
            supervision.sampler = sampler;
            sampler.start();
            opened.watch(supervision.alarms, supervision.launcherAlarms());
            supervision.joinFleetEarly();
            // If a stop signal has arrived, this call runs the stop. No worker is started then.
            supervision.startCompleted.complete(null);
            supervision.config.serve();
            return supervision;
        } catch (LaunchException | IOException e) {
            supervision.stopAdoptedWorker();
            supervision.close();
            throw e;
        }
    }

    private AlarmConfig alarmSettings() {
        return AlarmConfig.from((config.hasBegun() ? config.config() : firstConfig).values());
    }

    private LauncherAlarms launcherAlarms() {
        return new LauncherAlarms(
                () -> supervisor.status().restarts(), config::lastReload, config::name, fleet::alarms);
    }

    /**
     * Joins the fleet at once if an adopted worker serves. Otherwise this worker would miss the purges of other nodes
     * until its successor has warmed up.
     */
    private void joinFleetEarly() {
        if (supervisor.status().state() == WorkerState.READY) {
            fleet.apply(config.config().fleet());
        }
    }

    /**
     * Applies changed fleet settings. Before a worker of this launcher has served, only announces them; they come into
     * force when a worker serves.
     */
    private List<String> applyFleet(ProxyConfig changed) {
        if (!firstReady.isDone()) {
            fleet.announce(changed.fleet());
        }
        // A worker may have become ready since the first check, and may have applied the earlier configuration.
        if (firstReady.isDone()) {
            fleet.apply(changed.fleet());
            fleet.retry();
        }
        return List.of();
    }

    /** Returns the ACME settings in force; during the start, those of the first configuration. */
    private @Nullable AcmeConfig acmeSettings(LauncherContext launcherContext) {
        AcmeConfig settings = (config.hasBegun() ? config.config() : firstConfig).acme();
        return settings == null
                ? null
                : settings.storedIn(launcherContext.state().defaultPaths().acme());
    }

    /**
     * Opens the listening sockets. Uses the sockets of an earlier launcher's worker, and those that the service manager
     * has passed. Null if workers bind their own sockets.
     */
    private @Nullable ListeningSockets listen(ProxyConfig firstConfig, LauncherContext launcherContext)
            throws LaunchException, IOException {
        Optional<WorkerIdentity.Survivor> survivor =
                new WorkerIdentity(launcherContext.state().control().workerIdentity()).find();
        InheritedSockets inherited =
                InheritedSockets.of(System.getenv(), ProcessHandle.current().pid());
        if (!inherited.isEmpty() && !LauncherContext.bindsSockets(firstConfig)) {
            throw new LaunchException("the service manager passed listening sockets (LISTEN_FDS), but with "
                    + "worker.transport: nio, or without epoll, the workers bind their own sockets; "
                    + "stop the socket unit");
        }
        long pid = survivor.map(found -> found.process().pid()).orElse(0L);
        Adoption.Result adopted = survivor.isPresent() ? takeOver(survivor.get()) : Adoption.Result.NOTHING;
        if (survivor.isEmpty() || adopted.found() == Adoption.Found.FINISHING) {
            // The previous launcher was stopped, not killed. An operator's request to drain applied only until that
            // stop.
            Files.deleteIfExists(launcherContext.state().control().drainMark());
        }
        Map<String, SocketAddress> addresses = LauncherContext.addresses(firstConfig);
        if (LauncherContext.bindsSockets(firstConfig)) {
            if (adopted.servesOnItsOwn()) {
                LOG.warn("worker {} has bound its own sockets: connections are refused until a new worker serves", pid);
                awaitReply(
                        supervisor.drainAdopted(firstConfig.timeouts().drainNanos()),
                        firstConfig.timeouts().drainNanos(),
                        pid);
            }
            int perAddress = LauncherContext.socketsPerAddress(firstConfig);
            ListeningSockets sockets = ListeningSockets.open(
                    addresses,
                    perAddress,
                    inherited.take(addresses, perAddress, adopted.sockets()),
                    inherited.names(addresses));
            sockets.applyTransparency(LauncherContext.transparency(firstConfig));
            return sockets;
        }
        // Workers bind their own sockets with this configuration. The inherited sockets would occupy the addresses.
        adopted.sockets().values().forEach(ListeningSockets::closeAll);
        for (Map.Entry<String, SocketAddress> address : addresses.entrySet()) {
            if (address.getValue() instanceof InetSocketAddress tcp) {
                ListeningSockets.checkFree(address.getKey(), tcp, adopted.found() == Adoption.Found.SERVING ? pid : 0);
            } else {
                throw new LaunchException(address.getKey() + ": Unix sockets in listen need epoll");
            }
        }
        return null;
    }

    private Adoption.Result takeOver(WorkerIdentity.Survivor survivor) throws LaunchException {
        long pid = survivor.process().pid();
        LOG.info("worker {} of an earlier launcher is running; this launcher takes over its sockets", pid);
        Adoption.Result adopted = awaitReply(supervisor.adopt(survivor), 0, pid);
        if (adopted.found() == Adoption.Found.FINISHING) {
            LOG.info("worker {} of an earlier launcher is already stopping and finishes its requests in progress", pid);
        }
        return adopted;
    }

    /**
     * Waits for a reply of the adopted worker. The supervisor kills a worker that does not reply. So the wait fails
     * only if the kernel blocks the exit of the killed worker.
     */
    private static <T> T awaitReply(CompletableFuture<T> reply, long drainNanos, long pid) throws LaunchException {
        try {
            return reply.orTimeout(drainNanos + TAKEOVER_NANOS, TimeUnit.NANOSECONDS)
                    .join();
        } catch (CompletionException e) {
            throw new LaunchException("worker " + pid
                    + " of an earlier launcher was killed, but neither returned its sockets nor exited");
        }
    }

    /**
     * Starts to restore files that are deleted from the state directory. The caller closes the lock after this object.
     */
    void watch(StateDirectory state, FileMode mode, InstanceLock lock) {
        new StateWatch(state, mode, lock, server, supervisor::writeIdentity).start(loop);
    }

    /**
     * Prints the start message, and blocks until the workers have exited after a signal.
     *
     * @return the exit code of the process
     */
    int untilStopped(boolean demo, PrintStream out) {
        firstReady.thenAccept(status -> dashboard(demo).thenAccept(url -> config.startMessage(demo)
                .lines(ProcessHandle.current().pid(), status, url)
                .forEach(out::println)));
        return exitCode.join();
    }

    /** Returns the URL of the demo's dashboard; null without a demo, or if no port is free. */
    private CompletionStage<@Nullable String> dashboard(boolean demo) {
        LauncherAdmin opened = admin;
        if (!demo || opened == null) {
            return CompletableFuture.completedFuture(null);
        }
        return opened.openDashboard().<@Nullable String>handle((url, failure) -> failure == null ? url : null);
    }

    private void workerIsReady(WorkerStatus worker) {
        firstReady.complete(worker);
        service.ready(statusOf(worker));
        // Certificates can be ordered from now on, because workers answer the issuer's challenges.
        acme.start();
        fleet.apply((config.hasBegun() ? config.config() : firstConfig).fleet());
        // This is repeated for every worker, since a new worker may run on another JDK, which needs its own archive.
        group.schedule(() -> archiveRecorder.start(config.command()), RECORDING_DELAY_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void recordEvent(EventKind kind, String text) {
        events.record(new Event(
                System.currentTimeMillis(),
                kind,
                "launcher " + ProcessHandle.current().pid(),
                text));
    }

    /** Stops the adopted worker if a stop signal has arrived. Called when the start of this launcher has failed. */
    private void stopAdoptedWorker() {
        if (stopping.get()) {
            long limitNanos = firstConfig.timeouts().drainNanos() + TAKEOVER_NANOS;
            supervisor
                    .stop(firstConfig.timeouts().drainNanos())
                    .completeOnTimeout(null, limitNanos, TimeUnit.NANOSECONDS)
                    .join();
        }
    }

    private static String statusOf(WorkerStatus worker) {
        WorkerStatus.WarmUp warmUp = worker.warmUp();
        return "serving, worker " + worker.pid() + ", restarts " + worker.restarts()
                + (warmUp == null
                        ? ""
                        : "; worker " + warmUp.pid() + " is warming up, for at most "
                                + TimeUnit.NANOSECONDS.toSeconds(warmUp.limitNanos()) + " s, and takes over then");
    }

    private void warmUpChanged(WorkerStatus worker) {
        if (firstReady.isDone() && !stopping.get()) {
            service.status(statusOf(worker));
        }
    }

    private void stop() {
        if (!stopping.compareAndSet(false, true)) {
            LOG.warn("stopping immediately, requests in progress are aborted");
            supervisor.stopAtOnce().thenRun(() -> exitCode.complete(ExitCode.CUT_SHORT));
            return;
        }
        LOG.info("stopping: waiting for requests in progress; a second signal stops immediately");
        recordEvent(EventKind.STOP, "stopped by a signal");
        service.stopping(
                startCompleted.isDone()
                        ? config.drainNanos()
                        : firstConfig.timeouts().drainNanos());
        startCompleted
                .thenCompose(nothing -> supervisor.stop(config.drainNanos()))
                .thenRun(() -> exitCode.complete(ExitCode.OK));
    }

    private void reload() {
        startCompleted.thenRun(this::reloadNow);
    }

    private void reloadNow() {
        boolean serving = firstReady.isDone();
        if (serving) {
            service.reloading();
        }
        supervisor.reopenLogs();
        changes.reload().whenComplete((report, failure) -> {
            if (serving) {
                service.ready(statusOf(supervisor.status()));
            }
            if (failure != null) {
                LOG.error("reload failed: {}", failure.getMessage());
            } else {
                report.problems().forEach(problem -> LOG.error("{}", problem.text()));
                report.notes().forEach(note -> LOG.info("{}", note));
                report.settings().forEach(setting -> {
                    String result = setting.result().name().toLowerCase(Locale.ROOT);
                    LOG.info("{} {}: {}", result, setting.key(), setting.detail());
                });
            }
        });
    }

    @Override
    public void close() {
        fleet.close();
        acme.close();
        alarms.close();
        archiveRecorder.close();
        service.close();
        changes.close();
        if (sampler != null) {
            sampler.close();
        }
        if (admin != null) {
            admin.close();
        }
        history.close();
        events.close();
        // Workers have exited by now, or the start failed and the worker of an earlier launcher continues to serve.
        try {
            server.close();
        } catch (IOException e) {
            LOG.warn("the control socket cannot be deleted: {}", e.getMessage());
        }
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
