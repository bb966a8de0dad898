package io.millrace.launcher;

import io.millrace.acme.AcmeService;
import io.millrace.launcher.config.ConfigChanges;
import io.millrace.launcher.config.ConfigReader;
import io.millrace.launcher.config.RunningConfig;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.exit.StopSignals;
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
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.worker.control.ControlTransport;
import io.millrace.worker.control.ProcessSignals;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running launcher: supervisor, control socket, admin socket and signals around one configuration. The state directory
 * is locked by the caller.
 *
 * <p>Thread-safe: signals may come on any thread.
 */
final class Supervision implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Supervision.class);

    /** Beyond the deadlines after which a worker of an earlier launcher is killed. */
    private static final long TAKEOVER_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** The first requests come first. */
    private static final long REHEARSAL_DELAY_MILLIS = 1000;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Supervisor supervisor;
    private final ControlServer server;
    private final RunningConfig config;
    private final ConfigChanges changes;
    private final ProxyConfig first;

    /** What there was to take over is taken over, and there is a configuration to serve. */
    private final CompletableFuture<Void> begun = new CompletableFuture<>();

    private final CompletableFuture<WorkerStatus> firstReady = new CompletableFuture<>();
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final RehearsalRun rehearsal;
    private final ServiceNotifier service;
    private final AcmeService acme;
    private @Nullable LauncherAdmin admin;

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
        server = new ControlServer(loop, transport, workplace.state().control(), supervisor);
        config = new RunningConfig(reader, workplace, supervisor);
        changes = new ConfigChanges(config);
        rehearsal = new RehearsalRun(workplace.state().control().rehearsal());
        acme = new AcmeService(() -> acmeSettings(workplace), System::currentTimeMillis);
        service = ServiceNotifier.of(System.getenv(), ProcessHandle.current().pid(), loop);
    }

    /**
     * Binds the sockets and starts the worker, or takes over the one that a dead launcher has left. Of a stop that is asked for
     * meanwhile the worker hears as soon as it is known.
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
            supervision.admin = LauncherAdmin.start(
                    first,
                    workplace,
                    supervision.supervisor,
                    supervision.config,
                    supervision.changes,
                    supervision.acme);
            // A stop comes first: then no worker is started.
            supervision.begun.complete(null);
            supervision.config.serve();
            return supervision;
        } catch (LaunchException | IOException e) {
            supervision.stopWhatWasTakenOver();
            supervision.close();
            throw e;
        }
    }

    /** As the running configuration has them; those of the start before there is one. */
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
            // Nobody serves, and nobody died: this is a start after a stop, and no operator has drained what begins
            // now.
            Files.deleteIfExists(workplace.state().control().drainMark());
        }
        Map<String, InetSocketAddress> addresses = LauncherContext.addresses(first);
        if (LauncherContext.bindsSockets(first)) {
            if (left.servesOnItsOwn()) {
                LOG.warn(
                        "worker {} has bound its sockets itself: connections are refused until its successor serves",
                        pid);
                answer(
                        supervisor.dismiss(first.timeouts().drainNanos()),
                        first.timeouts().drainNanos(),
                        pid);
            }
            int perAddress = LauncherContext.socketsPerAddress(first);
            return ListeningSockets.open(addresses, perAddress, inherited.take(addresses, perAddress, left.sockets()));
        }
        // Workers bind for themselves from now on; what the last one gave back would be in their way.
        left.sockets().values().forEach(ListeningSockets::closeAll);
        for (Map.Entry<String, InetSocketAddress> address : addresses.entrySet()) {
            ListeningSockets.checkFree(
                    address.getKey(), address.getValue(), left.found() == Adoption.Found.SERVING ? pid : 0);
        }
        return null;
    }

    private Adoption.Left takeOver(WorkerIdentity.Survivor survivor) throws LaunchException {
        long pid = survivor.process().pid();
        LOG.info("worker {} of an earlier launcher is there; taking over", pid);
        Adoption.Left left = answer(supervisor.adopt(survivor), 0, pid);
        if (left.found() == Adoption.Found.FINISHING) {
            LOG.info("worker {} was told to stop before, and finishes what it is doing", pid);
        }
        return left;
    }

    /** A worker that owes an answer is killed in time, and one that was killed ends, unless the kernel holds it. */
    private static <T> T answer(CompletableFuture<T> answer, long drainNanos, long pid) throws LaunchException {
        try {
            return answer.orTimeout(drainNanos + TAKEOVER_NANOS, TimeUnit.NANOSECONDS)
                    .join();
        } catch (CompletionException e) {
            throw new LaunchException("worker " + pid
                    + " of an earlier launcher neither gives its sockets back nor ends," + " though it was killed");
        }
    }

    /** Makes again what is deleted from the state directory. The caller closes the lock after this. */
    void watch(StateDirectory state, FileMode mode, InstanceLock lock) {
        new StateWatch(state, mode, lock, server, supervisor::writeIdentity).start(loop);
    }

    /**
     * Prints the start message, and waits until a signal has ended the workers.
     *
     * @return the exit code of the process
     */
    int untilStopped(boolean demo, PrintStream out) {
        firstReady.thenAccept(status -> config.startMessage(demo)
                .lines(ProcessHandle.current().pid(), status)
                .forEach(out::println));
        return exitCode.join();
    }

    private void workerIsReady(WorkerStatus worker) {
        firstReady.complete(worker);
        service.ready(statusOf(worker));
        // Workers answer the challenges of issuers.
        acme.start();
        // Another JDK may run the next worker.
        group.schedule(() -> rehearsal.start(config.command()), REHEARSAL_DELAY_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** This launcher cannot serve; but who asked it to stop wants no worker to serve on. */
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
            LOG.warn("stopping at once");
            supervisor.stopAtOnce().thenRun(() -> exitCode.complete(ExitCode.CUT_SHORT));
            return;
        }
        LOG.info("stopping: waiting for requests in flight; a second signal stops at once");
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
                LOG.error("the reload failed: {}", failure.getMessage());
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
        if (admin != null) {
            admin.close();
        }
        // Workers have exited by now; or the start failed, and a worker of an earlier launcher is to serve on.
        try {
            server.close();
        } catch (IOException e) {
            LOG.warn("the control socket stays behind: {}", e.getMessage());
        }
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
