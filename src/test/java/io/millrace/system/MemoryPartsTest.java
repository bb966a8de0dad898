package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests that the gauges of a worker's memory, each measured separately, add up to the kernel's value for the process.
 */
@Tag("nightly")
class MemoryPartsTest {

    private static final long MIB = 1L << 20;
    private static final int RAM_MIB = 128;
    private static final int CLIENTS = 16;
    private static final int FILES_OF_A_LENGTH = 200;
    private static final int ROUNDS_MAX = 120;
    private static final Pattern SAMPLE =
            Pattern.compile("^(millrace_memory_\\w+)\\{([^}]*)} ([0-9.E+]+)$", Pattern.MULTILINE);
    private static final Pattern PART = Pattern.compile("part=\"(\\w+)\"");

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.unpackedAnew();

    /** All gauges of one scrape; their parts are from one moment. */
    private record Memory(Map<String, Long> parts, Map<String, Long> mapped, long anonymous) {

        static Memory of(MillraceProcess proxy) throws IOException {
            Map<String, Long> parts = new TreeMap<>();
            Map<String, Long> mapped = new TreeMap<>();
            long anonymous = 0;
            Matcher sample = SAMPLE.matcher(proxy.admin().get("/metrics").text());
            while (sample.find()) {
                Matcher part = PART.matcher(sample.group(2));
                String name = part.find() ? part.group(1) : "";
                long value = (long) Double.parseDouble(sample.group(3));
                switch (sample.group(1)) {
                    case "millrace_memory_bytes" -> parts.put(name, value);
                    case "millrace_memory_mapped_bytes" -> mapped.put(name, value);
                    case "millrace_memory_anonymous_bytes" -> anonymous = value;
                    default -> {}
                }
            }
            return new Memory(parts, mapped, anonymous);
        }

        long accountedFor() {
            return sum(parts) - parts.getOrDefault("unaccounted", 0L);
        }

        static long sum(Map<String, Long> values) {
            return values.values().stream().mapToLong(Long::longValue).sum();
        }

        void assertAddsUpTo(long kernelBytes) {
            long difference = Math.abs(accountedFor() - kernelBytes);
            assertTrue(
                    difference <= kernelBytes / 10,
                    () -> "the parts add up to " + accountedFor() + ", the kernel says " + kernelBytes + ": " + this);
        }
    }

    /** Returns a line of the worker's {@code /proc/PID/status} in bytes. */
    private static long kernel(ProcessHandle worker, String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + worker.pid() + "/status"))) {
            if (line.startsWith(name + ":")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new AssertionError("no " + name);
    }

    /** Returns files of all lengths, together larger than RAM. */
    private static Map<String, byte[]> files() {
        Map<String, byte[]> files = new LinkedHashMap<>();
        Random random = new Random(1);
        for (int kibibytes : new int[] {1, 10, 50, 200, 700}) {
            byte[] body = new byte[kibibytes * 1024];
            random.nextBytes(body);
            for (int i = 0; i < FILES_OF_A_LENGTH; i++) {
                String target = "/" + kibibytes + "KiB/" + i;
                files.put(target, body);
                origin.on(target, exchange -> exchange.answer(200, body, "Cache-Control: max-age=3600"));
            }
        }
        return files;
    }

    @Test
    void aLoadedWorkersMemoryIsAccountedFor() throws Exception {
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("cache.ram_size", RAM_MIB + "MiB")
                .start();
        KeepAliveClients clients = new KeepAliveClients(proxy.port(), CLIENTS, files());
        Memory memory = Memory.of(proxy);
        for (int round = 0; round < ROUNDS_MAX && memory.parts().get("store_resident") < RAM_MIB * MIB / 2; round++) {
            KeepAliveClients.Outcome outcome = clients.run(2, Duration.ofSeconds(1));
            assertEquals(0, outcome.errors().size(), () -> String.join("\n", outcome.errors()));
            memory = Memory.of(proxy);
        }
        // Not in the first rounds: the heap of a new JVM grows between the reading of two parts.
        Memory loaded = memory;
        loaded.assertAddsUpTo(loaded.anonymous());
        assertTrue(loaded.parts().get("store_resident") >= RAM_MIB * MIB / 2, () -> "RAM was not filled: " + loaded);
        assertAgreesWithTheKernel("loaded", proxy);
    }

    @Test
    void aSmallWorkersMemoryIsAccountedFor() throws Exception {
        origin.serves("/small", "small", "Cache-Control: max-age=3600");
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("cache.ram_size", "16MiB")
                .set("worker.heap_size", "64MiB")
                .start();
        try (RawClient client = RawClient.connect(proxy.port())) {
            assertEquals(200, client.get("/small").response().status());
        }
        assertAgreesWithTheKernel("small", proxy);
    }

    /** The metrics and the kernel's value are from different moments; while the process grows, both are read again. */
    private static void assertAgreesWithTheKernel(String name, MillraceProcess proxy) {
        ProcessHandle worker = proxy.worker();
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            Memory memory = Memory.of(proxy);
            long anonymous = kernel(worker, "RssAnon");
            memory.assertAddsUpTo(memory.anonymous());
            memory.assertAddsUpTo(anonymous);
            assertTrue(proxy.admin().get("/v1/memory").text().contains("\"store_bytes_max\":"));
            assertMappedPagesAreApart(memory, worker);
            System.out.println(
                    name + ": RssAnon=" + anonymous + " accounted for=" + memory.accountedFor() + " " + memory);
        });
    }

    /** The kernel counts mapped pages of files separately; they are in no part of the anonymous memory. */
    private static void assertMappedPagesAreApart(Memory memory, ProcessHandle worker) throws IOException {
        long pages = kernel(worker, "RssFile") + kernel(worker, "RssShmem");
        long mapped = Memory.sum(memory.mapped());
        assertTrue(memory.mapped().get("index") > 0, memory::toString);
        assertTrue(Math.abs(mapped - pages) <= pages / 10, () -> "mapped=" + mapped + " kernel=" + pages);
    }
}
