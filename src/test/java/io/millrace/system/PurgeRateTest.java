package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Many purges of the packed product, by URL, tag and prefix, hard and soft. Each answered purge survives the end of the
 * worker; journal, records and memory stay within their limits.
 */
@Tag("nightly")
@Tag("alone")
class PurgeRateTest {
    private static final String FRESH = "Cache-Control: max-age=86400";
    private static final int CONNECTIONS = 16;
    private static final int PER_SECOND = 1000;
    /** One purge in this number is checked: its target is a stored response that no other purge covers. */
    private static final int SAMPLE_EVERY = 50;
    /** Number of the targets of all other purges, which are purged again and again. */
    private static final int TARGETS = 1000;

    /**
     * The file is rewritten at twice the length of the entries in force: those of 1,200 samples and {@value #TARGETS}
     * other targets. Three quarters of these are purges of a URL or of everything below it, with one entry for each
     * scheme: 3,850 entries of about 150 bytes.
     */
    private static final long JOURNAL_BYTES_MAX = 3 << 19;
    /** The default of purge.history, and a batch that may be added to a file that is almost full. */
    private static final long RECORDS_PER_FILE_MAX = 10_000 + 1024;

    private static final int RECORD_FILES_MAX = 4;
    private static final long GROWTH_KIB_MAX = 64 << 10;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private MillraceProcess proxy;
    /** Number of fetches of each sample by earlier tests: all tests share the origin. */
    private int[] earlierFetches = {};

    private void start(int purges) throws IOException {
        proxy = product.launch().origin(origin.url()).start();
        earlierFetches = new int[purges / SAMPLE_EVERY];
        try (RawClient client = RawClient.connect(proxy.port())) {
            for (int sample = 0; sample < purges / SAMPLE_EVERY; sample++) {
                origin.serves(path(sample), "sample " + sample, FRESH, "Surrogate-Key: s" + sample);
                earlierFetches[sample] = origin.count(path(sample));
                get(client, sample);
                get(client, sample);
                assertEquals(1, fetches(sample), path(sample) + " is not stored");
            }
        }
    }

    private static String path(int sample) {
        return "/sample/" + sample + "/";
    }

    private int fetches(int sample) {
        return origin.count(path(sample)) - earlierFetches[sample];
    }

    private static void get(RawClient client, int sample) throws IOException {
        client.send("GET " + path(sample) + " HTTP/1.1\r\nHost: site.example\r\n\r\n");
        assertEquals("sample " + sample, client.response().text());
    }

    /** Returns the request with a number. Kinds change from one target to the next. */
    private static String purge(int number) {
        boolean isSample = number % SAMPLE_EVERY == SAMPLE_EVERY - 1;
        int target = isSample ? number / SAMPLE_EVERY : number % TARGETS;
        String path = isSample ? path(target) : "/other/" + target % 12 + "/" + target;
        String host = isSample ? "site.example" : "host" + target / 12 + ".example";
        return switch (target % 4) {
            case 0 -> text(path, host, "");
            case 1 -> text(path, host, "Fastly-Soft-Purge: 1\r\n");
            case 2 -> text("/", host, "xkey: " + (isSample ? "s" : "o") + target + "\r\n");
            default -> text(path + ".*", host, "");
        };
    }

    private static String text(String target, String host, String fields) {
        return "PURGE " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n";
    }

    @Test
    void everyAnsweredPurgeIsDurable() throws Exception {
        run(3000, 0);
    }

    @Test
    @Timeout(300)
    void aThousandPurgesASecondForAMinute() throws Exception {
        PurgeLoad load = run(60 * PER_SECOND, PER_SECOND);
        assertTrue(load.seconds() < 61, load::toString);
    }

    private PurgeLoad run(int count, int perSecond) throws Exception {
        start(count);
        PurgeLoad load = new PurgeLoad(proxy.port(), CONNECTIONS, count, perSecond, PurgeRateTest::purge);
        await("a third of the purges")
                .atMost(Duration.ofMinutes(2))
                .until(() -> load.answered() >= count / 3 || !load.failures().isEmpty());
        long worker = proxy.worker().pid();
        long early = residentKib(worker);
        load.join();
        long growth = residentKib(worker) - early;
        System.out.println(load + "; RSS grew by " + growth + " KiB");
        assertEquals(List.of(), load.failures());
        assertEquals(count, load.answered());
        assertTrue(growth < GROWTH_KIB_MAX, "RSS grew by " + growth + " KiB");
        assertLimits();
        proxy.killWorker();
        proxy.awaitWorkerAfter(worker);
        assertSamplesArePurged(count / SAMPLE_EVERY);
        return load;
    }

    private void assertSamplesArePurged(int samples) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            for (int sample = 0; sample < samples; sample++) {
                get(client, sample);
                assertEquals(
                        2, fetches(sample), "purged, but served: " + purge(sample * SAMPLE_EVERY + SAMPLE_EVERY - 1));
            }
        }
    }

    private void assertLimits() throws IOException {
        List<String> lost = proxy.admin()
                .get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith("millrace_purge_records_lost_total"))
                .toList();
        assertTrue(lost.size() == 1 && lost.get(0).endsWith(" 0.0"), lost::toString);
        try (Stream<Path> files = Files.walk(proxy.state())) {
            for (Path file : files.filter(one -> one.endsWith("journal")).toList()) {
                System.out.println(file + ": " + Files.size(file) + " bytes");
                assertTrue(Files.size(file) <= JOURNAL_BYTES_MAX, file + ": " + Files.size(file) + " bytes");
            }
        }
        int records = 0;
        try (Stream<Path> files = Files.list(proxy.state().resolve("purges"))) {
            for (Path file : files.filter(one -> one.getFileName().toString().startsWith("purges"))
                    .toList()) {
                records++;
                long lines;
                try (Stream<String> all = Files.lines(file)) {
                    lines = all.count();
                }
                assertTrue(lines <= RECORDS_PER_FILE_MAX, file + ": " + lines + " lines");
            }
        }
        assertTrue(records >= 1 && records <= RECORD_FILES_MAX, records + " files of records");
    }

    private static long residentKib(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("no VmRSS of " + pid);
    }
}
