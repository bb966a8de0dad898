package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.cache.ExplainResource;
import io.millrace.proxy.admin.cache.ListResource;
import io.millrace.proxy.admin.cache.LookupResource;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.cache.StorageChangeResource;
import io.millrace.proxy.admin.cache.StorageResource;
import io.millrace.proxy.admin.origin.OriginChangeResource;
import io.millrace.proxy.admin.origin.OriginsResource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MemoryResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ReadyzResource;
import io.millrace.proxy.admin.status.ServerResource;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.ThreadsResource;
import io.millrace.proxy.admin.tls.CertificateCheckResource;
import io.millrace.proxy.admin.tls.CertificatesResource;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.purge.Purger;
import io.millrace.proxy.server.DrainRequest;
import io.millrace.proxy.server.MemoryMetrics;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The data side of the admin API of one proxy: status, metrics, memory, health, purge, lookup and storage. The launcher forwards to it; embedded it
 * stands alone.
 *
 * <p>Thread-safe.
 */
public final class DataPlaneAdmin implements AutoCloseable, HealthSource, PurgeService {
    /** Bits for the purges of one millisecond; above them is the time of day. */
    private static final int PURGE_ID_BITS = 20;

    private final AtomicLong purges = new AtomicLong();
    private final ProxyView proxy;
    private final Path socket;
    private final DrainRequest drain;
    private final StatusReport status;
    private final ServerAdmin process;
    private final CacheInspection inspection;
    private final StorageAdmin storage;
    private final OriginAdmin origins;
    private final TlsAdmin certificates;
    private @Nullable AdminServer server;

    private DataPlaneAdmin(
            ProxyView proxy, Path socket, @Nullable Path configFile, OriginAdmin origins, DrainRequest drain) {
        this.proxy = proxy;
        this.socket = socket;
        this.drain = drain;
        this.status = new StatusReport(proxy, configFile, drain::isSet);
        this.process = new ServerAdmin(proxy, drain);
        this.inspection = new CacheInspection(proxy);
        this.storage = new StorageAdmin(proxy.store());
        this.origins = origins;
        this.certificates = new TlsAdmin(proxy.serverTls(), proxy.shared().clock()::millis);
    }

    /**
     * The admin side where one is wanted; null else.
     *
     * @param socket path of the Unix domain socket; null for no admin API
     * @param configFile the file that the configuration was read from, if any
     * @param drainMark the file that exists while a drain is asked for, if any
     */
    public static @Nullable DataPlaneAdmin of(
            ProxyView proxy,
            @Nullable Path socket,
            @Nullable Path configFile,
            @Nullable Path drainMark,
            OriginAdmin origins) {
        if (socket == null) {
            return null;
        }
        DrainRequest drain = new DrainRequest(proxy.loops(), drainMark);
        return new DataPlaneAdmin(proxy, socket, configFile, origins, drain);
    }

    public void start() throws IOException {
        drain.restore();
        proxy.metrics()
                .supplyGauge(
                        MetricFamily.DRAINING,
                        () -> drain.isSet() || proxy.state() == ProxyView.State.DRAINING ? 1 : 0);
        MemoryMetrics memory =
                new MemoryMetrics(() -> proxy.store().statistics().memory(), proxy.allocator(), () -> proxy.memory()
                        .report(proxy.metrics()));
        server = AdminServer.builder()
                .unixSocket(socket)
                .resource(new StatusResource(status))
                .resource(new MetricsResource(proxy::metricsText))
                .resource(new MemoryResource(memory))
                .resource(ServerResource.report(process))
                .resource(ServerResource.drain(process))
                .resource(new ThreadsResource(process))
                .resource(new LivezResource(this))
                .resource(new ReadyzResource(this))
                .resource(new PurgeResource(this, new ScopedPurges(proxy)))
                .resource(new LookupResource(inspection))
                .resource(new ExplainResource(new RequestExplanation(proxy)))
                .resource(new ListResource(
                        new CacheListing(proxy::store, proxy.shared().clock()::millis)))
                .resource(new StorageResource(storage))
                .resource(StorageChangeResource.offline(storage))
                .resource(StorageChangeResource.online(storage))
                .resource(new OriginsResource(origins))
                .resource(OriginChangeResource.down(origins))
                .resource(OriginChangeResource.up(origins))
                .resource(new CertificatesResource(certificates))
                .resource(new CertificateCheckResource(certificates))
                .start();
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
        TargetResult parsed = TargetUri.parseAbsolute(url);
        if (!(parsed instanceof TargetUri target)) {
            return CompletableFuture.failedFuture(notUrl(url));
        }
        Purger purger = proxy.shared().purger();
        ServingLoop loop = proxy.loops().get(0);
        CompletableFuture<PurgeReport> report = new CompletableFuture<>();
        purger.purge(target, loop.loop(), (wasPresent, failure) -> {
            if (failure != null) {
                loop.counters().increment(Counter.PURGES_FAILED);
                report.completeExceptionally(new AdminException(
                        500,
                        "purge-not-durable",
                        "purged from this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            loop.counters().increment(wasPresent ? Counter.PURGES_FOUND : Counter.PURGES_ABSENT);
            report.complete(new PurgeReport(
                    target.asString(),
                    wasPresent,
                    wasPresent ? "every stored variant is gone" : "nothing was stored",
                    purgeId()));
        });
        return report;
    }

    private String purgeId() {
        long now = proxy.shared().clock().millis() << PURGE_ID_BITS;
        return "u" + Long.toString(purges.updateAndGet(last -> Math.max(last + 1, now)), Character.MAX_RADIX);
    }

    static AdminException notUrl(String url) {
        return new AdminException(400, "bad-url", "not an absolute http or https URL: " + url);
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
