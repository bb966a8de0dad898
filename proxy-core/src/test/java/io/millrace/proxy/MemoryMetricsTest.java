package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.observe.memory.ProcessMemory;
import io.millrace.proxy.server.MemoryMetrics;
import io.millrace.store.StoreStatistics;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

@EnabledOnOs(OS.LINUX)
class MemoryMetricsTest {
    private static final int OBJECTS = 100;
    private static final int BODY_BYTES = 500_000;

    @RegisterExtension
    final ProxyExtension test = new ProxyExtension();

    @Test
    void theSumOfThePartsIsTheCountOfTheKernel() throws Exception {
        byte[] body = ProxyExtension.content(BODY_BYTES);
        test.start(
                request -> request.ok("Cache-Control: max-age=600\r\n", body),
                config -> config.set("cache.ram_size", "128MiB"));
        for (int i = 0; i < OBJECTS; i++) {
            assertEquals(BODY_BYTES, test.get("/" + i).content().length);
        }
        StoreStatistics.Memory store = test.proxy().store().statistics().memory();
        assertTrue(store.residentBytes() >= (long) OBJECTS * BODY_BYTES, store::toString);
        assertTrue(
                store.idleBytes() < (store.residentBytes() + (16 << 20)) / 5,
                () -> "much of the pool is idle: " + store);
        MemoryMetrics metrics = new MemoryMetrics(() -> store, test.proxy().allocator());
        Map<String, Long> parts = metrics.parts();
        MemorySource.MemoryReport report = metrics.memory();
        long sum = parts.values().stream().mapToLong(Long::longValue).sum();
        long kernel = ProcessMemory.anonymousBytes();
        // Malloc may have chunks of the test's JVM in its arenas, which are then counted twice.
        long twice = Math.min(parts.get("malloc"), store.residentBytes() + store.idleBytes());
        assertTrue(
                sum > kernel - kernel / 10 && sum < kernel + kernel / 10 + twice,
                () -> "sum=" + sum + " RssAnon=" + kernel + " " + parts);
        for (String part : new String[] {"heap", "code", "stacks", "data", "metaspace", "malloc"}) {
            assertTrue(parts.get(part) > 0, () -> part + " of " + parts);
        }
        long unaccounted = 0;
        long reported = 0;
        for (MemorySource.Part part : report.parts()) {
            reported += part.bytes();
            unaccounted += part.name().equals("unaccounted") ? part.bytes() : 0;
        }
        assertEquals(reported - unaccounted, report.accountedBytes());
        assertTrue(report.storeBytes() >= store.residentBytes() && report.storeBytes() <= report.storeBytesMax());
        assertTrue(test.proxy()
                .metricsText()
                .contains("millrace_memory_bytes{application=\"millrace\",part=\"unaccounted\"}"));
    }
}
