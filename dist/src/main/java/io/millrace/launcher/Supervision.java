package io.millrace.launcher;

import io.millrace.acme.AcmeService;
import io.millrace.launcher.build.BuildVersion;
import io.millrace.launcher.config.ConfigChanges;
import io.millrace.launcher.config.ConfigReader;
import io.millrace.launcher.config.RunningConfig;
import io.millrace.launcher.event.EventLog;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.exit.StopSignals;
import io.millrace.launcher.history.History;
import io.millrace.launcher.history.Sampler;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.RehearsalRun;
import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
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
import java.nio.file.Files;
import java.nio.file.Path;
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
     * Time limit for the reply of a worker of an earlier launcher. The drain timeout is added. The supervisor kills a
     * hung worker earlier.
     */
    private static final long TAKEOVER_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Delay between the start of serving and the recording of the class archive. The first requests have priority. */
    private static final long REHEARSAL_DELAY_MILLIS = 1000;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Supervisor supervisor;
    private final ControlServer server;
    private final RunningConfig config;
    private final ConfigChanges changes;
    private final ProxyConfig first;

    /** Completes when the adoption has ended and a configuration is in force. */
    private final CompletableFuture<Void> begun = new CompletableFuture<>();

    private final CompletableFuture<WorkerStatus> firstReady = new CompletableFuture<>();
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final RehearsalRun rehearsal;
    private final ServiceNotifier service;
    private final AcmeService acme;
    private final EventLog events;
    private final History history;
    private @Nullable LauncherAdmin admin;
    private @Nullable Sampler sampler;

    private Supervision(ConfigReader reader, ProxyConfig first, LauncherContext workplace) {
        this.first = first;
        ControlTransport transport = ControlTransport.available();
        group = transport.newEventLoopGroup("launcher");
        loop = group.next();
        supervisor = new Supervisor(
                loop,
                workplace.state().control(),
                TimeUnit.MILLISECONDS.toNanos(first.worker().heartbeatTimeoutMillis()),
                this::workerIsReady);
        supervisor.onWarmUp(this::warmUpChanged);
        Path state = workplace.state().state();
        events = EventLog.open(state.resolve("events.jsonl"));
        history = History.open(state.resolve("history.ring"), first.values().get(AdminKeys.HISTORY));
        supervisor.events(events);
        server = new ControlServer(loop, transport, workplace.state().control(), supervisor.peers());
        config = new RunningConfig(reader, workplace, supervisor);
        config.events(events);
        config.onApplied(changed -> history.resize(changed.values().get(AdminKeys.HISTORY)));
        changes = new ConfigChanges(config);
        rehearsal = new RehearsalRun(workplace.state().control().rehearsal());
        acme = new AcmeService(() -> acmeSettings(workplace), System::currentTimeMillis);
        acme.events(events);
        service = ServiceNotifier.of(System.getenv(), ProcessHandle.current().pid(), loop);
    }

    /**
     * Binds the sockets and starts the worker, or adopts the worker of a dead launcher. A stop signal during the start
     * is sent to the worker as soon as the worker is known.
     */
    static Supervision start(
            ConfigReader reader, ConfigReader.Reading reading, LauncherContext workplace, StopSignals signals)
            throws LaunchException, IOException {
        ProxyConfig first = reading.config();
        Supervision supervision = new Supervision(reader, first, workplace);
        try {
            supervision.server.open();
            signals.hear(supervision::stop);
            ProcessSignals.handle("HUP", supervision::reload);
            ListeningSockets sockets = supervision.listen(first, workplace);
            supervision.config.begin(reading, new WorkerPlan(reading.source(), workplace.starter(first), sockets));
            supervision.acme.prepare();
            LauncherAdmin opened = LauncherAdmin.start(
                    first,
                    workplace,
                    supervision.supervisor,
                    supervision.config,
                    supervision.changes,
                    supervision.acme,
                    supervision.events,
                    supervision.history);
            supervision.admin = opened;
            supervision.event(
                    EventKind.START,
                    "version " + BuildVersion.ofJar() + ", configuration " + supervision.config.name());
            Sampler sampler = opened.sampler(supervision.history);
            supervision.sampler = sampler;
            sampler.start();
            // A pending stop runs first here; no worker is started then.
            supervision.begun.complete(null);
            supervision.config.serve();
            return supervision;
        } catch (LaunchException | IOException e) {
            supervision.stopWhatWasTakenOver();
            supervision.close();
            throw e;
        }
    }

    /** ACME settings of the configuration in force; before the start, those of the first configuration. */
    private @Nullable AcmeConfig acmeSettings(LauncherContext workplace) {
        AcmeConfig settings = (config.hasBegun() ? config.config() : first).acme();
        return settings == null
                ? null
                : settings.storedIn(workplace.state().placement().acme());
    }

    private @Nullable ListeningSockets listen(ProxyConfig first, LauncherContext workplace)
            throws LaunchException, IOException {
        Optional<WorkerIdentity.Survivor> survivor =
                new WorkerIdentity(workplace.state().control().workerIdentity()).find();
        InheritedSockets inherited =
                InheritedSockets.of(System.getenv(), ProcessHandle.current().pid());
        if (!inherited.isEmpty() && !LauncherContext.bindsSockets(first)) {
            throw new LaunchException("the service manager passed listening sockets (LISTEN_FDS), but workers bind for "
                    + "themselves with worker.transport: nio, or without epoll; stop its socket unit");
        }
        long pid = survivor.map(found -> found.process().pid()).orElse(0L);
        Adoption.Left left = survivor.isPresent() ? takeOver(survivor.get()) : Adoption.Left.NOTHING;
        if (survivor.isEmpty() || left.found() == Adoption.Found.FINISHING) {
            // No worker serves and none has crashed: this is a start after a stop. A drain mark of the operator does
            // not apply to it.
            Files.deleteIfExists(workplace.state().control().drainMark());
        }
        Map<String, InetSocketAddress> addresses = LauncherContext.addresses(first);
        if (LauncherContext.bindsSockets(first)) {
            if (left.servesOnItsOwn()) {
                LOG.warn("worker {} has bound its own sockets: connections are refused until a new worker serves", pid);
                answer(
                        supervisor.dismiss(first.timeouts().drainNanos()),
                        first.timeouts().drainNanos(),
                        pid);
            }
            int perAddress = LauncherContext.socketsPerAddress(first);
            return ListeningSockets.open(addresses, perAddress, inherited.take(addresses, perAddress, left.sockets()));
        }
        // Workers bind their own sockets from now on; the returned sockets would occupy the addresses.
        left.sockets().values().forEach(ListeningSockets::closeAll);
        for (Map.Entry<String, InetSocketAddress> address : addresses.entrySet()) {
            ListeningSockets.checkFree(
                    address.getKey(), address.getValue(), left.found() == Adoption.Found.SERVING ? pid : 0);
        }
        return null;
    }

    private Adoption.Left takeOver(WorkerIdentity.Survivor survivor) throws LaunchException {
        long pid = survivor.process().pid();
        LOG.info("worker {} of an earlier launcher is running; this launcher takes over its sockets", pid);
        Adoption.Left left = answer(supervisor.adopt(survivor), 0, pid);
        if (left.found() == Adoption.Found.FINISHING) {
            LOG.info("worker {} of an earlier launcher is already stopping and finishes its requests in progress", pid);
        }
        return left;
    }

    /**
     * Waits for a reply of the adopted worker. The supervisor kills a worker that does not reply, and a killed worker
     * exits, unless the kernel blocks it.
     */
    private static <T> T answer(CompletableFuture<T> answer, long drainNanos, long pid) throws LaunchException {
        try {
            return answer.orTimeout(drainNanos + TAKEOVER_NANOS, TimeUnit.NANOSECONDS)
                    .join();
        } catch (CompletionException e) {
            throw new LaunchException("worker " + pid
                    + " of an earlier launcher was killed, but neither returned its sockets nor exited");
        }
    }

    /** Restores files that are deleted from the state directory. The caller closes the lock after this object. */
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

    /** URL of the dashboard of the demo; null otherwise, and if no port is free. */
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
        // The issuer's challenges are answered by workers.
        acme.start();
        // A class archive is recorded at every start, since the new worker may run on another JDK.
        group.schedule(() -> rehearsal.start(config.command()), REHEARSAL_DELAY_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void event(EventKind kind, String text) {
        events.record(new Event(
                System.currentTimeMillis(),
                kind,
                "launcher " + ProcessHandle.current().pid(),
                text));
    }

    /** Stops the adopted worker, if a stop signal arrived before the start of this launcher failed. */
    private void stopWhatWasTakenOver() {
        if (stopping.get()) {
            long patience = first.timeouts().drainNanos() + TAKEOVER_NANOS;
            supervisor
                    .stop(first.timeouts().drainNanos())
                    .completeOnTimeout(null, patience, TimeUnit.NANOSECONDS)
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
        event(EventKind.STOP, "stopped by a signal");
        service.stopping(begun.isDone() ? config.drainNanos() : first.timeouts().drainNanos());
        begun.thenCompose(nothing -> supervisor.stop(config.drainNanos()))
                .thenRun(() -> exitCode.complete(ExitCode.OK));
    }

    private void reload() {
        begun.thenRun(this::reloadNow);
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
        acme.close();
        rehearsal.close();
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
