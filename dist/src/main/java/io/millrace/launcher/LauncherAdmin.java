package io.millrace.launcher;

import io.millrace.acme.AcmeService;
import io.millrace.launcher.alarm.Alarms;
import io.millrace.launcher.alarm.LauncherAlarms;
import io.millrace.launcher.build.BuildVersion;
import io.millrace.launcher.config.ConfigChanges;
import io.millrace.launcher.config.ConfigInspection;
import io.millrace.launcher.config.ConfigMetrics;
import io.millrace.launcher.config.RunningConfig;
import io.millrace.launcher.config.WorkerRestart;
import io.millrace.launcher.event.EventLog;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.fleet.FleetMembership;
import io.millrace.launcher.fleet.WorkerPurgesOverSocket;
import io.millrace.launcher.history.History;
import io.millrace.launcher.history.Sampler;
import io.millrace.launcher.history.TrafficSample;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.launcher.supervise.Supervisor;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.KeptAdminConnection;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.config.ConfigChangeResource;
import io.millrace.proxy.admin.config.ConfigCheckResource;
import io.millrace.proxy.admin.config.ConfigDiffResource;
import io.millrace.proxy.admin.config.ConfigHistoryResource;
import io.millrace.proxy.admin.config.ConfigReloadResource;
import io.millrace.proxy.admin.config.ConfigSchemaResource;
import io.millrace.proxy.admin.config.ConfigSettingsResource;
import io.millrace.proxy.admin.copy.ImportResource;
import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.fleet.FleetPositionResource;
import io.millrace.proxy.admin.history.EventsResource;
import io.millrace.proxy.admin.history.HistoryResource;
import io.millrace.proxy.admin.log.KeptLogResource;
import io.millrace.proxy.admin.log.LiveLogResource;
import io.millrace.proxy.admin.log.LogFieldsResource;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.status.AlarmsResource;
import io.millrace.proxy.admin.status.ExtensionsResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ProcessStatus;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.admin.status.RestartResource;
import io.millrace.proxy.admin.status.TrafficResource;
import io.millrace.proxy.admin.tls.RenewResource;
import io.millrace.proxy.admin.vendor.CloudflareResource;
import io.millrace.proxy.admin.vendor.FastlyResource;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.value.ListenAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The admin server of the launcher, at the public admin socket. It answers requests about processes and configuration,
 * and forwards all other requests to the admin socket of the worker.
 *
 * <p>Thread-safe.
 */
final class LauncherAdmin implements AutoCloseable {
    private static final Duration PURGE_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration LOOKUP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration STORAGE_TIMEOUT = Duration.ofSeconds(65);
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);

    private final AdminServer server;
    private final Status status;

    private LauncherAdmin(AdminServer server, Status status) {
        this.server = server;
        this.status = status;
    }

    /**
     * Starts the admin server. Listens at the addresses of {@code config}, by default on the socket in the state
     * directory.
     */
    static LauncherAdmin start(
            ProxyConfig config,
            LauncherContext launcherContext,
            Supervisor supervisor,
            RunningConfig running,
            ConfigChanges changes,
            AcmeService acme,
            EventLog events,
            History history,
            Alarms alarms,
            FleetMembership fleet)
            throws IOException, LaunchException {
        Status status = new Status(supervisor, running, launcherContext, Instant.now());
        ConfigInspection inspection = new ConfigInspection(running);
        AdminServer.Builder builder = AdminServer.builder()
                .unixSocket(launcherContext.adminSocket(config))
                .metrics(new ConfigMetrics(running)::prometheusText)
                .metrics(events::prometheusText)
                .metrics(alarms::prometheusText)
                .metrics(fleet::prometheusText)
                .dashboard()
                .resource(new EventsResource(events, System::currentTimeMillis))
                .resource(new AlarmsResource(alarms, System::currentTimeMillis))
                .resource(new HistoryResource(history, System::currentTimeMillis))
                .resource(new ConfigCheckResource(changes, running.reader().file()))
                .resource(new ConfigReloadResource(changes))
                .resource(ConfigChangeResource.plan(changes, running.reader().file()))
                .resource(ConfigChangeResource.set(changes))
                .resource(ConfigChangeResource.reset(changes))
                .resource(ConfigChangeResource.rollback(changes))
                .resource(new ConfigSettingsResource(inspection))
                .resource(new ConfigDiffResource(inspection))
                .resource(new ConfigHistoryResource(inspection))
                .resource(new ConfigSchemaResource())
                .resource(new RestartResource(new WorkerRestart(changes, running, supervisor::status)))
                .resource(new RenewResource(name -> acme.renew(name).thenApply(LauncherAdmin::renewal)))
                .forwardStatus(status::workerSocket, status::processes, status::withoutWorker)
                .forward("POST", "/v1/cache/purge", status::workerSocket, PURGE_TIMEOUT)
                .forward("GET", "/v1/cache/purges", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/cache/purge", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/cache/purge/dry-run", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/cache/purge/undo", status::workerSocket, PURGE_TIMEOUT)
                .forward("POST", "/v1/cache/purge/cancel", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", FastlyResource.KEY_PATH, status::workerSocket, PURGE_TIMEOUT)
                .forward("POST", FastlyResource.KEYS_PATH, status::workerSocket, PURGE_TIMEOUT)
                .forward("POST", FastlyResource.ALL_PATH, status::workerSocket, PURGE_TIMEOUT)
                .forward("POST", CloudflareResource.PATH, status::workerSocket, PURGE_TIMEOUT)
                .forward("POST", CloudflareResource.LONG_PATH, status::workerSocket, PURGE_TIMEOUT)
                .forward("GET", "/v1/cache/lookup", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/explain", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/server", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/server/threads", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/server/drain", status::changeableWorkerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/storage", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/storage/offline", status::changeableWorkerSocket, STORAGE_TIMEOUT)
                .forward("POST", "/v1/storage/online", status::changeableWorkerSocket, STORAGE_TIMEOUT)
                .forward("GET", "/v1/origins", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/origins/down", status::changeableWorkerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/origins/up", status::changeableWorkerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/hosts", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", "/v1/hosts/clear", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/tls/certificates", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/tls/check", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", TrafficResource.PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", ExtensionsResource.PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/memory", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", LiveLogResource.PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", KeptLogResource.PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", LogFieldsResource.PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/cache/curve", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/v1/cache/list", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", ObjectResource.HEAD_PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", ObjectResource.CONTENT_PATH, status::workerSocket, LOOKUP_TIMEOUT)
                .forward("POST", ImportResource.BEGIN_PATH, status::changeableWorkerSocket, PURGE_TIMEOUT)
                .forward("POST", ImportResource.CONTENT_PATH, status::changeableWorkerSocket, PURGE_TIMEOUT)
                .forward("POST", ImportResource.END_PATH, status::changeableWorkerSocket, PURGE_TIMEOUT)
                .forward("POST", ImportResource.ABORT_PATH, status::changeableWorkerSocket, PURGE_TIMEOUT)
                .forward("GET", "/metrics", status::workerSocket, LOOKUP_TIMEOUT)
                .forward("GET", "/livez", status::workerSocket, PROBE_TIMEOUT)
                .forward("GET", "/readyz", status::workerSocket, PROBE_TIMEOUT);
        fleet.resources().forEach(builder::resource);
        ListenAddress tcp = config.admin().listen();
        if (tcp != null) {
            AdminAccess access = AdminAccess.of(config.admin());
            running.onApplied(changed -> access.apply(changed.admin()));
            builder.tcp(address(tcp), access);
        }
        AdminServer server = builder.start();
        KeptAdminConnection worker = server.keptConnection(FleetPositionResource.PATH);
        fleet.setWorker(new WorkerPurgesOverSocket(worker::send, status::workerSocket));
        fleet.setTraffic(() -> {
            Path socket = status.workerSocket();
            if (socket == null) {
                throw new IOException("no worker serves");
            }
            return TrafficSample.of(socket.toString(), read(server, socket, MetricsResource.PATH));
        });
        Path ownSocket = launcherContext.adminSocket(config);
        fleet.setLocalQueries((target, timeout) -> server.get(ownSocket, target, timeout));
        return new LauncherAdmin(server, status);
    }

    private static RenewResource.Renewal renewal(AcmeRecord record) {
        return new RenewResource.Renewal(
                record.name(),
                record.issuer(),
                record.expirySeconds(),
                record.failures() > 0 ? record.error() : "",
                record.retrySeconds());
    }

    private static InetSocketAddress address(ListenAddress address) throws IOException {
        String ip = address.ip();
        return ip == null
                ? new InetSocketAddress(address.port())
                : new InetSocketAddress(InetAddress.getByName(ip), address.port());
    }

    /** Opens the dashboard until the launcher ends. Returns its URL, with a code for one login within two minutes. */
    CompletionStage<String> openDashboard() {
        return server.openDashboard();
    }

    /** Creates the sampler of the workers' counters. The caller starts it, and closes it before this object. */
    Sampler sampler(History history) {
        return new Sampler(
                history, socket -> read(socket, MetricsResource.PATH), status::workerSocket, System::currentTimeMillis);
    }

    /** Begins the checks of alarms. The caller closes {@code alarms} before this object. */
    void watch(Alarms alarms, LauncherAlarms launcher) {
        alarms.start(launcher, socket -> read(socket, AlarmsResource.PATH), status::workerSocket);
    }

    private String read(Path socket, String path) throws IOException, InterruptedException {
        return read(server, socket, path);
    }

    private static String read(AdminServer server, Path socket, String path) throws IOException, InterruptedException {
        try {
            AdminReply reply = server.get(socket, path, PROBE_TIMEOUT)
                    .toCompletableFuture()
                    .get();
            if (reply.status() == 200) {
                return new String(reply.body(), StandardCharsets.UTF_8);
            }
            throw new IOException("the worker answered " + path + " with status " + reply.status());
        } catch (ExecutionException e) {
            throw new IOException("the worker did not answer " + path, e);
        }
    }

    @Override
    public void close() {
        server.close();
    }

    /** The worker's admin sockets, and the status that the launcher knows without a worker. Thread-safe. */
    private record Status(
            Supervisor supervisor, RunningConfig running, LauncherContext launcherContext, Instant startedAt) {

        /** Admin socket of the worker; null while no worker serves. */
        @Nullable
        Path workerSocket() {
            WorkerStatus worker = supervisor.status();
            return worker.state() == WorkerState.READY || worker.state() == WorkerState.DRAINING
                    ? launcherContext.state().control().workerAdmin(worker.generation())
                    : null;
        }

        /**
         * Admin socket for requests that change state. Null while no worker serves, and while a new worker takes over.
         * The new worker has already read the state then, and would miss the change.
         */
        @Nullable
        Path changeableWorkerSocket() {
            return supervisor.status().handsOver() ? null : workerSocket();
        }

        ProcessStatus processes() {
            WorkerStatus worker = supervisor.status();
            return new ProcessStatus(
                    ProcessHandle.current().pid(),
                    Math.max(0, worker.pid()),
                    worker.restarts(),
                    worker.state().word(),
                    warmUp(worker.warmUp()));
        }

        private static ProcessStatus.@Nullable WarmUp warmUp(WorkerStatus.@Nullable WarmUp warmUp) {
            return warmUp == null
                    ? null
                    : new ProcessStatus.WarmUp(
                            warmUp.pid(),
                            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - warmUp.beganNanos()),
                            TimeUnit.NANOSECONDS.toSeconds(warmUp.limitNanos()));
        }

        /** Returns the status while no worker serves; all counters are 0. */
        ProxyStatus withoutWorker() {
            ProxyConfig config = running.config();
            List<ProxyStatus.Listener> listeners = config.listeners().stream()
                    .map(listener -> new ProxyStatus.Listener(listener.address().toString(), listener.scheme()))
                    .toList();
            return new ProxyStatus(
                    "millrace",
                    BuildVersion.ofJar(),
                    ProxyStatus.State.STARTING,
                    Duration.between(startedAt, Instant.now()).toSeconds(),
                    listeners,
                    new ProxyStatus.Connections(0, 0),
                    0,
                    new ProxyStatus.Cache(
                            0, 0, new ProxyStatus.Tier(0, config.cache().ramBytes(), 0), List.of()),
                    new ProxyStatus.Config(
                            running.name(),
                            running.loadedAt().truncatedTo(ChronoUnit.SECONDS).toString(),
                            running.lastReload()),
                    System.getProperty("java.version", ""),
                    "",
                    "");
        }
    }
}
