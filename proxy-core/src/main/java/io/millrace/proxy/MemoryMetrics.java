package io.millrace.proxy;

import io.millrace.proxy.observe.MemoryMap;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.ProcessMemory;
import io.millrace.store.StoreStatistics;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Where the memory of the process is. The parts that the kernel can tell apart by address are measured there; buffers
 * and metaspace are what their owners count, and {@code jvm} is what the kernel sees beyond all of them. Immutable.
 */
final class MemoryMetrics {
    private final ProcessMemory process = new ProcessMemory();
    private final Supplier<StoreStatistics.Memory> store;
    private final BufferPool connections;

    MemoryMetrics(Supplier<StoreStatistics.Memory> store, BufferPool connections) {
        this.store = store;
        this.connections = connections;
    }

    void bind(MetricsRegistry metrics) {
        for (String part : parts().keySet()) {
            metrics.supplyGauge(MetricFamily.MEMORY, () -> parts().getOrDefault(part, 0L), part);
        }
        metrics.supplyGauge(MetricFamily.MEMORY_ANONYMOUS, ProcessMemory::anonymousBytes);
        mapped(metrics, "index", MemoryMap::index);
        mapped(metrics, "inventory", MemoryMap::inventory);
        mapped(metrics, "files", MemoryMap::files);
        metrics.supplyGauge(MetricFamily.MEMORY_BUDGET, () -> store.get().bytesMax());
        metrics.supplyCounter(MetricFamily.MEMORY_REFUSED, () -> store.get().refusedFills(), "fill");
        metrics.supplyCounter(MetricFamily.MEMORY_REFUSED, () -> store.get().refusedReads(), "read");
    }

    private void mapped(MetricsRegistry metrics, String part, ToLongFunction<MemoryMap> value) {
        metrics.supplyGauge(MetricFamily.MEMORY_MAPPED, () -> value.applyAsLong(process.map()), part);
    }

    /** Bytes of each part of the anonymous memory. */
    Map<String, Long> parts() {
        MemoryMap map = process.map();
        StoreStatistics.Memory memory = store.get();
        Map<String, Long> parts = new LinkedHashMap<>();
        parts.put("store_resident", memory.residentBytes());
        parts.put("store_filling", memory.fillingBytes() + memory.writingBytes());
        parts.put("store_reading", memory.readingBytes());
        parts.put("store_idle", memory.idleBytes());
        parts.put("connections", connections.metric().usedDirectMemory());
        parts.put("metaspace", ProcessMemory.metaspaceBytes());
        long counted = parts.values().stream().mapToLong(Long::longValue).sum();
        parts.put("jvm", Math.max(0, map.other() - counted));
        parts.put("heap", map.heap());
        parts.put("code", map.code());
        parts.put("stacks", map.stacks());
        parts.put("data", map.data());
        return parts;
    }
}
