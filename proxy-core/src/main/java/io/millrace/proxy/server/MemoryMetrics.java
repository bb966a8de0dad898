package io.millrace.proxy.server;

import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.memory.MemoryMap;
import io.millrace.proxy.observe.memory.ProcessMemory;
import io.millrace.store.StoreStatistics;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Measures the memory of the process by use, for metrics and the admin API. The heap, stacks and other uses are
 * measured by the kernel's memory map. Buffers and metaspace are measured by the code that allocates them. The part
 * {@code unaccounted} is the memory that the kernel reports beyond all other parts.
 *
 * <p>All parts belong to the same moment, when {@link ProcessMemory} read its memory map. Thread-safe, but not
 * for event loops, because a call takes milliseconds.
 */
public final class MemoryMetrics implements MemorySource {
    /** The memory that remains after subtracting every other part. */
    static final String UNACCOUNTED = "unaccounted";

    /** Limit of the age of the memory map for the admin API. */
    private static final Duration AGE_MAX = Duration.ofSeconds(2);

    /** Limit of the age of the memory map for metrics, unless reading it is expensive. */
    private static final Duration AGE_MAX_OF_SCRAPES = Duration.ofSeconds(10);

    /**
     * Limit of the age of the memory map for metrics, as a multiple of the CPU time for reading it. Limits the
     * cost, because the launcher (the parent process) scrapes continuously.
     */
    private static final long COST_FACTOR_OF_SCRAPES = 500;

    /** The memory map, the parts computed from it, and the kernel's total at the same time. */
    private record Snapshot(MemoryMap map, Map<String, Long> parts, long anonymous) {}

    private final ProcessMemory process;
    private final Supplier<StoreStatistics.Memory> store;
    private final BufferPool connections;
    private final Supplier<InFlight> inFlight;
    private volatile @Nullable Snapshot last;

    public MemoryMetrics(Supplier<StoreStatistics.Memory> store, BufferPool connections) {
        this(store, connections, () -> InFlight.NONE);
    }

    public MemoryMetrics(Supplier<StoreStatistics.Memory> store, BufferPool connections, Supplier<InFlight> inFlight) {
        this(store, connections, inFlight, new ProcessMemory(AGE_MAX, 0));
    }

    private MemoryMetrics(
            Supplier<StoreStatistics.Memory> store,
            BufferPool connections,
            Supplier<InFlight> inFlight,
            ProcessMemory process) {
        this.process = process;
        this.inFlight = inFlight;
        this.store = store;
        this.connections = connections;
    }

    /**
     * Creates the source for metrics. The kernel walks all pages of the process for one memory map. Therefore scrapes
     * that follow each other within seconds, such as those of the dashboard, share one memory map.
     */
    static MemoryMetrics ofScrapes(Supplier<StoreStatistics.Memory> store, BufferPool connections) {
        ProcessMemory process = new ProcessMemory(AGE_MAX_OF_SCRAPES, COST_FACTOR_OF_SCRAPES);
        return new MemoryMetrics(store, connections, () -> InFlight.NONE, process);
    }

    void bind(MetricsRegistry metrics) {
        for (String part : parts().keySet()) {
            metrics.supplyGauge(MetricFamily.MEMORY, () -> parts().getOrDefault(part, 0L), part);
        }
        metrics.supplyGauge(MetricFamily.MEMORY_ANONYMOUS, () -> snapshot().anonymous());
        mapped(metrics, "index", MemoryMap::index);
        mapped(metrics, "files", MemoryMap::files);
        metrics.supplyGauge(MetricFamily.CACHE_HEAP, () -> store.get().entryBytes());
        metrics.supplyGauge(MetricFamily.CACHE_HEAP_MAX, () -> store.get().entryBytesMax());
        metrics.supplyGauge(MetricFamily.MEMORY_BUDGET, () -> store.get().bytesMax());
        metrics.supplyCounter(MetricFamily.MEMORY_REFUSED, () -> store.get().refusedFills(), "fill");
        metrics.supplyCounter(MetricFamily.MEMORY_REFUSED, () -> store.get().refusedReads(), "read");
    }

    private void mapped(MetricsRegistry metrics, String part, ToLongFunction<MemoryMap> value) {
        metrics.supplyGauge(MetricFamily.MEMORY_MAPPED, () -> value.applyAsLong(process.map()), part);
    }

    /** Returns the bytes of each part of the anonymous memory. */
    public Map<String, Long> parts() {
        return snapshot().parts();
    }

    @Override
    public MemoryReport memory() {
        Snapshot now = snapshot();
        StoreStatistics.Memory memory = store.get();
        Map<String, Long> parts = now.parts();
        return new MemoryReport(
                now.anonymous(),
                sum(parts) - parts.getOrDefault(UNACCOUNTED, 0L),
                memory.residentBytes() + memory.fillingBytes() + memory.writingBytes() + memory.readingBytes(),
                memory.bytesMax(),
                parts.entrySet().stream()
                        .map(part -> new Part(part.getKey(), part.getValue()))
                        .toList(),
                List.of(
                        new Part("index", now.map().index()),
                        new Part("files", now.map().files())),
                memory.refusedFills(),
                memory.refusedReads(),
                inFlight.get());
    }

    @SuppressWarnings("ReferenceEquality") // each read creates a new object, even if it is equal
    private Snapshot snapshot() {
        MemoryMap map = process.map();
        Snapshot known = last;
        if (known == null || known.map() != map) {
            known = new Snapshot(map, count(map), ProcessMemory.anonymousBytes());
            last = known;
        }
        return known;
    }

    private Map<String, Long> count(MemoryMap map) {
        StoreStatistics.Memory memory = store.get();
        Map<String, Long> parts = new LinkedHashMap<>();
        parts.put("store_resident", memory.residentBytes());
        parts.put("store_filling", memory.fillingBytes() + memory.writingBytes());
        parts.put("store_reading", memory.readingBytes());
        long chunks = connections.metric().usedDirectMemory();
        long used = Math.min(chunks, connections.pinnedBytes());
        parts.put("connections", used);
        long inUse = sum(parts);
        long idle = memory.idleBytes() + chunks - used;
        // Unused parts of new chunks have no pages yet, so only a part of the idle bytes is in RAM (resident).
        long idleResident = Math.max(0, Math.min(idle, map.mappedAfterStartBytes() - inUse));
        long storeIdle = idle == 0 ? 0 : Math.round((double) idleResident * memory.idleBytes() / idle);
        parts.put("store_idle", storeIdle);
        parts.put("connections_idle", idleResident - storeIdle);
        long metaspace = ProcessMemory.metaspaceBytes();
        parts.put("metaspace", metaspace);
        parts.put("jvm", Math.max(0, map.jvm() - metaspace));
        parts.put("heap", map.heap());
        parts.put("code", map.code());
        parts.put("stacks", map.stacks());
        parts.put("data", map.data());
        parts.put("malloc", map.malloc());
        parts.put(UNACCOUNTED, Math.max(0, map.anonymous() - sum(parts)));
        return parts;
    }

    private static long sum(Map<String, Long> parts) {
        return parts.values().stream().mapToLong(Long::longValue).sum();
    }
}
