package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.cache.CurveResource;
import io.millrace.proxy.admin.cache.ExplainResource;
import io.millrace.proxy.admin.cache.ListResource;
import io.millrace.proxy.admin.cache.LookupResource;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.cache.StorageChangeResource;
import io.millrace.proxy.admin.cache.StorageResource;
import io.millrace.proxy.admin.copy.ImportResource;
import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.data.copy.ObjectExports;
import io.millrace.proxy.admin.data.copy.ObjectImports;
import io.millrace.proxy.admin.fleet.FleetMembersResource;
import io.millrace.proxy.admin.fleet.FleetPositionResource;
import io.millrace.proxy.admin.log.KeptLogResource;
import io.millrace.proxy.admin.log.LiveLogResource;
import io.millrace.proxy.admin.log.LogFieldsResource;
import io.millrace.proxy.admin.origin.HostsResource;
import io.millrace.proxy.admin.origin.OriginChangeResource;
import io.millrace.proxy.admin.origin.OriginsResource;
import io.millrace.proxy.admin.purge.PurgeChangeResource;
import io.millrace.proxy.admin.purge.PurgeDryRunResource;
import io.millrace.proxy.admin.purge.PurgeListResource;
import io.millrace.proxy.admin.purge.PurgeShowResource;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.AlarmsResource;
import io.millrace.proxy.admin.status.ExtensionsResource;
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MemoryResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ReadyzResource;
import io.millrace.proxy.admin.status.ServerResource;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.ThreadsResource;
import io.millrace.proxy.admin.status.TrafficResource;
import io.millrace.proxy.admin.tls.CertificateCheckResource;
import io.millrace.proxy.admin.tls.CertificatesResource;
import io.millrace.proxy.admin.vendor.CloudflareResource;
import io.millrace.proxy.admin.vendor.FastlyResource;
import io.millrace.proxy.admin.vendor.VendorPurges;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.server.DrainRequest;
import io.millrace.proxy.server.MemoryMetrics;
import io.millrace.proxy.server.ProxyView;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The admin API of one proxy: status, metrics, health, purges, lookups, storage, origins, certificates and others. The
 * launcher (the parent process) forwards requests to it. If an application embeds the proxy, there is no launcher, and
 * this is the only admin API.
 *
 * <p>Thread-safe.
 */
public final class DataPlaneAdmin implements AutoCloseable, HealthSource, PurgeService {
    private final ProxyView proxy;
    private final Path socket;
    private final DrainRequest drain;
    private final StatusReport status;
    private final ServerAdmin process;
    private final CacheInspection inspection;
    private final StorageAdmin storage;
    private final OriginAdmin origins;
    private final TlsAdmin certificates;
    private final PurgeAdmin purges;
    private final ObjectExports exports;
    private final ObjectImports imports;
    private @Nullable AdminServer server;

    private DataPlaneAdmin(
            ProxyView proxy,
            Path socket,
            @Nullable Path configFile,
            OriginAdmin origins,
            PurgeAdmin purges,
            DrainRequest drain) {
        this.proxy = proxy;
        this.socket = socket;
        this.drain = drain;
        this.status = new StatusReport(proxy, configFile, drain::isSet);
        this.process = new ServerAdmin(proxy, drain);
        this.inspection = new CacheInspection(proxy);
        this.storage = new StorageAdmin(proxy.store());
        this.origins = origins;
        this.certificates = new TlsAdmin(proxy.serverTls(), proxy.shared().clock()::millis);
        this.purges = purges;
        this.exports = new ObjectExports(proxy);
        this.imports = new ObjectImports(proxy);
    }

    /**
     * Creates the admin API, or returns null without a socket.
     *
     * @param socket path of the Unix domain socket; null for no admin API
     * @param configFile the file that the configuration was read from; null for none
     * @param drainMark the file that exists during a drain; null for none
     */
    public static @Nullable DataPlaneAdmin of(
            ProxyView proxy,
            @Nullable Path socket,
            @Nullable Path configFile,
            @Nullable Path drainMark,
            OriginAdmin origins,
            PurgeAdmin purges) {
        if (socket == null) {
            return null;
        }
        DrainRequest drain = new DrainRequest(proxy.loops(), drainMark);
        return new DataPlaneAdmin(proxy, socket, configFile, origins, purges, drain);
    }

    /**
     * Starts to listen. First begins a drain if the previous process was draining.
     *
     * @throws IOException if the socket cannot be opened
     */
    public void start() throws IOException {
        drain.restore();
        proxy.metrics()
                .supplyGauge(
                        MetricFamily.DRAINING,
                        () -> drain.isSet() || proxy.state() == ProxyView.State.DRAINING ? 1 : 0);
        MemoryMetrics memory =
                new MemoryMetrics(() -> proxy.store().statistics().memory(), proxy.allocator(), () -> proxy.memory()
                        .report(proxy.metrics()));
        VendorPurges vendors = new VendorPurges(
                this, purges.scoped(), new SitesOfRules(() -> proxy.settings().remap()));
        HostAdmin hosts = new HostAdmin(
                proxy.shared().hosts(), proxy.loops(), proxy.shared().clock());
        AdminServer.Builder builder = AdminServer.builder();
        FastlyResource.all(vendors).forEach(builder::resource);
        CloudflareResource.all(vendors).forEach(builder::resource);
        if (proxy.shared().purges().fleet().hasFile()) {
            FleetPositionResource.all(new FleetPurges(proxy, purges.scoped())).forEach(builder::resource);
            builder.resource(new FleetMembersResource(origins::readMembers));
        }
        addLiveLog(builder, proxy.liveLog());
        server = builder.unixSocket(socket)
                .resource(new StatusResource(status))
                .resource(new MetricsResource(
                        proxy::metricsText, () -> proxy.metrics().openMetricsText()))
                .resource(new AlarmsResource(
                        new ProxyAlarms(proxy), proxy.shared().clock()::millis))
                .resource(new TrafficResource(() -> proxy.metrics().hosts().report()))
                .resource(new MemoryResource(memory))
                .resource(new ExtensionsResource(
                        new ExtensionReport(proxy), proxy.shared().clock()::millis))
                .resource(ServerResource.report(process))
                .resource(ServerResource.drain(process))
                .resource(new ThreadsResource(process))
                .resource(new LivezResource(this))
                .resource(new ReadyzResource(this))
                .resource(new PurgeResource(this, purges.scoped()))
                .resource(new PurgeListResource(purges))
                .resource(new PurgeShowResource(purges))
                .resource(new PurgeDryRunResource(purges))
                .resource(PurgeChangeResource.undo(purges))
                .resource(PurgeChangeResource.cancel(purges))
                .resource(new LookupResource(inspection))
                .resource(new ExplainResource(new RequestExplanation(proxy)))
                .resource(new ListResource(new CacheListing(
                        proxy::store,
                        () -> proxy.settings().remap(),
                        proxy.shared().clock()::millis)))
                .resource(ObjectResource.head(exports))
                .resource(ObjectResource.content(exports))
                .resource(ImportResource.begin(imports))
                .resource(ImportResource.content(imports))
                .resource(ImportResource.end(imports))
                .resource(ImportResource.abort(imports))
                .resource(new CurveResource(storage))
                .resource(new StorageResource(storage))
                .resource(StorageChangeResource.offline(storage))
                .resource(StorageChangeResource.online(storage))
                .resource(new OriginsResource(origins))
                .resource(OriginChangeResource.down(origins))
                .resource(OriginChangeResource.up(origins))
                .resource(HostsResource.report(hosts))
                .resource(HostsResource.clear(hosts))
                .resource(new CertificatesResource(certificates))
                .resource(new CertificateCheckResource(certificates))
                .start();
    }

    /** Returns a stage that completes when no admin request that changes state is in progress. */
    public CompletionStage<Void> whenNoChange() {
        AdminServer started = server;
        return started == null ? CompletableFuture.completedFuture(null) : started.whenNoChange();
    }

    private static void addLiveLog(AdminServer.Builder builder, @Nullable LiveLog log) {
        if (log != null) {
            builder.resource(new LiveLogResource(log))
                    .resource(new KeptLogResource(log))
                    .resource(new LogFieldsResource());
        }
    }

    @Override
    public @Nullable String notLive() {
        return null;
    }

    @Override
    public @Nullable String notReady() {
        return switch (proxy.state()) {
            case NEW -> "starting";
            case RUNNING -> drain.isSet() ? "draining" : null;
            case DRAINING -> "draining";
            case CLOSED -> "closed";
        };
    }

    @Override
    public CompletionStage<PurgeReport> purge(String url) {
        return purge(url, AdminCaller.UNKNOWN, false);
    }

    @Override
    public CompletionStage<PurgeReport> purge(String url, AdminCaller caller, boolean counts) {
        return purges.purgeUrl(url, caller, counts);
    }

    static AdminException notUrl(String url) {
        return new AdminException(400, "bad-url", "not an absolute http or https URL: " + url);
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
        imports.close();
    }
}
