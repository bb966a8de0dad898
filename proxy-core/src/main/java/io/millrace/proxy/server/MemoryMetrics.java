package io.millrace.proxy.server;

import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.observe.MemoryMap;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.ProcessMemory;
import io.millrace.store.StoreStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The use of the process's memory, by part. Parts that the kernel distinguishes by address are measured there. Buffers
 * and metaspace are counted by their owners. The part {@code unaccounted} is the rest of the memory that the kernel
 * reports.
 *
 * <p>All parts are from the same moment: that of the memory map in {@link ProcessMemory}. Thread-safe; not for event
 * loops.
 */
public final class MemoryMetrics implements MemorySource {
    /** The memory that remains after subtracting every other part. */
    static final String UNACCOUNTED = "unaccounted";

    /** The parts at the time of one memory map, and the kernel's total at that time. */
    private record Snapshot(MemoryMap map, Map<String, Long> parts, long anonymous) {}

    private final ProcessMemory process = new ProcessMemory();
    private final Supplier<StoreStatistics.Memory> store;
    private final BufferPool connections;
    private final Supplier<InFlight> inFlight;
    private volatile @Nullable Snapshot last;

    public MemoryMetrics(Supplier<StoreStatistics.Memory> store, BufferPool connections) {
        this(store, connections, () -> InFlight.NONE);
    }

    public MemoryMetrics(Supplier<StoreStatistics.Memory> store, BufferPool connections, Supplier<InFlight> inFlight) {
        this.inFlight = inFlight;
        this.store = store;
        this.connections = connections;
    }

    void bind(MetricsRegistry metrics) {
        for (String part : parts().keySet()) {
            metrics.supplyGauge(MetricFamily.MEMORY, () -> parts().getOrDefault(part, 0L), part);
        }
        metrics.supplyGauge(MetricFamily.MEMORY_ANONYMOUS, () -> snapshot().anonymous());
        mapped(metrics, "index", MemoryMap::index);
        mapped(metrics, "inventory", MemoryMap::inventory);
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

    /** Bytes of each part of the anonymous memory. */
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
                        new Part("inventory", now.map().inventory()),
                        new Part("files", now.map().files())),
                memory.refusedFills(),
                memory.refusedReads(),
                inFlight.get());
    }

    @SuppressWarnings("ReferenceEquality") // another map is from another time, even if equal
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
        // A new chunk has no pages yet, so only a part of the idle memory is resident.
        long idleThere = Math.max(0, Math.min(idle, map.blocks() - inUse));
        long storeIdle = idle == 0 ? 0 : Math.round((double) idleThere * memory.idleBytes() / idle);
        parts.put("store_idle", storeIdle);
        parts.put("connections_idle", idleThere - storeIdle);
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
