package io.millrace.proxy.server;

import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.memory.InFlightMemory;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.memory.TcpMemory;
import io.millrace.store.CacheStore;
import io.netty.util.internal.PlatformDependent;
import java.util.function.LongSupplier;

/**
 * Measures and limits the buffer memory that connections of one proxy use ({@code limits.memory_in_flight}). Logs
 * a shortage.
 *
 * <p>Thread-safe.
 */
public final class ConnectionMemory implements InFlightMemory.Gauges {
    /**
     * The buffer pool of connections gets at least the direct memory divided by this number, even with a large cache.
     */
    private static final int MIN_DIVISOR = 8;

    private final BufferPool pool;
    private final CacheStore<?> store;
    private final InFlightMemory budget;
    private final FaultLog faults;
    private final TcpMemory kernel = new TcpMemory(System::nanoTime);

    /** @param configuredBytes returns the current value of {@code limits.memory_in_flight} */
    public ConnectionMemory(BufferPool pool, CacheStore<?> store, LongSupplier configuredBytes, FaultLog faults) {
        this.pool = pool;
        this.store = store;
        this.faults = faults;
        long storeBytes = store.statistics().memory().bytesMax();
        budget = new InFlightMemory(
                this,
                configuredBytes,
                poolBytesMax(PlatformDependent.maxDirectMemory(), storeBytes) - pool.reserveBytes());
        pool.onFailure(this::onAllocationFailure);
    }

    /**
     * Returns the limit of the connections' buffer pool in bytes. It is the direct memory minus 5/4 of the
     * store's budget, because the store's chunks contain unused space.
     */
    static long poolBytesMax(long directBytes, long storeBytes) {
        return Math.max(directBytes / MIN_DIVISOR, directBytes - storeBytes - storeBytes / 4);
    }

    public InFlightMemory budget() {
        return budget;
    }

    @Override
    public long pinnedBytes() {
        return pool.pinnedBytes();
    }

    @Override
    public long chunkBytes() {
        return pool.metric().usedDirectMemory();
    }

    @Override
    public boolean isStoreTight() {
        return store.isReadMemoryTight();
    }

    @Override
    public boolean isKernelTight() {
        return kernel.isTight();
    }

    private void onAllocationFailure() {
        budget.allocationFailed();
        faults.reportFrequent(
                "no direct memory is left, although limits.memory_in_flight is not reached",
                () -> chunkBytes() + " bytes are used by connections; raise -XX:MaxDirectMemorySize or lower"
                        + " cache.ram_size");
    }

    /** Allocates the reserve of the pool again, if connections use less than half of the budget. */
    void refillReserve() {
        if (budget.usedBytes() < budget.budgetBytes() / 2) {
            pool.fillReserve();
        }
    }

    /** Logs that a slow client is closed. Called on the client's event loop. */
    void onClosed(SlowReason reason) {
        if (reason == SlowReason.MEMORY) {
            faults.reportFrequent(
                    "slow clients are closed, because memory for connections is scarce",
                    () -> budget.usedBytes() + " bytes are in flight, limits.memory_in_flight is "
                            + budget.budgetBytes()
                            + "; store "
                            + (isStoreTight() ? "tight" : "ok")
                            + ", kernel "
                            + (isKernelTight() ? "tight (net.ipv4.tcp_mem)" : "ok"));
        } else if (reason == SlowReason.ORIGIN) {
            faults.reportFrequent(
                    "clients that read nothing are closed, because origin.connections_max is nearly reached",
                    () -> "millrace_slow_clients_closed_total counts them");
        }
    }

    static Counter counterOf(SlowReason reason) {
        return switch (reason) {
            case TIMEOUT -> Counter.SLOW_CLIENTS_TIMEOUT;
            case RATE -> Counter.SLOW_CLIENTS_RATE;
            case MEMORY -> Counter.SLOW_CLIENTS_MEMORY;
            case ORIGIN -> Counter.SLOW_CLIENTS_ORIGIN;
        };
    }

    /** Returns the report for the admin API. */
    public MemorySource.InFlight report(MetricsRegistry metrics) {
        return new MemorySource.InFlight(
                pinnedBytes(),
                budget.budgetBytes(),
                metrics.total(MetricFamily.SLOW_CLIENTS),
                metrics.total(Counter.ORIGIN_FAILURES_MEMORY));
    }

    public void bind(MetricsRegistry metrics) {
        metrics.supplyGauge(MetricFamily.IN_FLIGHT, this::pinnedBytes);
        metrics.supplyGauge(MetricFamily.IN_FLIGHT_MAX, budget::budgetBytes);
        metrics.supplyCounter(MetricFamily.ALLOCATION_FAILURES, budget::allocationFailures);
    }
}
