package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.admin.status.StatusSource;
import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.store.StoreStatistics;
import io.netty.util.NetUtil;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The answer of a proxy to {@code GET /v1/status}. Thread-safe. */
final class StatusReport implements StatusSource {
    private final ProxyView proxy;
    private final @Nullable Path configFile;
    private final BooleanSupplier isDraining;
    private final String loadedAt =
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();

    StatusReport(ProxyView proxy, @Nullable Path configFile, BooleanSupplier isDraining) {
        this.isDraining = isDraining;
        this.proxy = proxy;
        this.configFile = configFile;
    }

    @Override
    public ProxyStatus status() {
        MetricsRegistry metrics = proxy.metrics();
        StoreStatistics store = proxy.store().statistics();
        long hits = metrics.total(Counter.REQUESTS_HIT)
                + metrics.total(Counter.REQUESTS_STALE)
                + metrics.total(Counter.REQUESTS_REVALIDATED);
        long all = metrics.total(MetricFamily.REQUESTS);
        return new ProxyStatus(
                "millrace",
                proxy.version(),
                state(),
                proxy.uptime().toSeconds(),
                proxy.listeners().stream().map(StatusReport::listener).toList(),
                new ProxyStatus.Connections(clientConnections(), originConnections()),
                all,
                new ProxyStatus.Cache(
                        hits,
                        all - hits,
                        new ProxyStatus.Tier(
                                store.ram().bytes(),
                                store.ram().bytesMax(),
                                store.ram().entries()),
                        volumes(store)),
                new ProxyStatus.Config(configFile == null ? null : configFile.toString(), loadedAt, null),
                System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"),
                proxy.transport(),
                proxy.tls());
    }

    private ProxyStatus.State state() {
        return switch (proxy.state()) {
            case NEW -> ProxyStatus.State.STARTING;
            case RUNNING -> isDraining.getAsBoolean() ? ProxyStatus.State.DRAINING : ProxyStatus.State.RUNNING;
            case DRAINING, CLOSED -> ProxyStatus.State.DRAINING;
        };
    }

    private static ProxyStatus.Listener listener(Listener listener) {
        String address =
                listener.isUnix() ? listener.address() : NetUtil.toSocketAddressString(listener.localAddress());
        return new ProxyStatus.Listener(address, listener.secure() ? "https" : "http");
    }

    private static List<ProxyStatus.Volume> volumes(StoreStatistics store) {
        return store.volumes().stream()
                .map(volume -> new ProxyStatus.Volume(
                        volume.path().toString(),
                        volume.state().name().toLowerCase(Locale.ROOT),
                        volume.bytes(),
                        volume.bytesMax(),
                        volume.entries()))
                .toList();
    }

    private long clientConnections() {
        long all = 0;
        for (ServingLoop loop : proxy.loops()) {
            all += loop.connections().size();
        }
        return all;
    }

    private long originConnections() {
        long all = 0;
        for (ServingLoop loop : proxy.loops()) {
            OriginStatistics statistics = loop.origins().statistics();
            all += statistics.connectionsOpen();
        }
        return all;
    }
}
