package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests a long response from disk that continues in the old worker while the new one overwrites the store. By hand with
 * {@code -Dmillrace.download.mebibytes=100}.
 */
@Tag("nightly")
class DownloadAcrossARollTest {
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int MEBIBYTES = Integer.getInteger("millrace.download.mebibytes", 16);
    private static final int STORE_MEBIBYTES = 4 * MEBIBYTES;
    private static final int WRAPS = 2;
    private static final long MIB = 1 << 20;

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    @Test
    void isByteExactThoughTheRingWrapsTwice() throws Exception {
        System.out.println("millrace.seed=" + SEED);
        Random random = new Random(SEED);
        byte[] expected = new byte[MEBIBYTES << 20];
        random.nextBytes(expected);
        byte[] filler = new byte[1 << 20];
        random.nextBytes(filler);
        Files.write(nginx.root().resolve("long"), expected);
        Files.write(nginx.root().resolve("filler"), filler);
        Path file = product.newDirectory().resolve("millrace.yaml");
        Path storage = product.newDirectory();
        Files.writeString(file, configuration(storage, "32MiB"));
        MillraceProcess proxy = product.launch().config(file).shortWarmUp().start();

        for (int i = 0; i < 2; i++) {
            assertArrayEquals(expected, RawClient.fetch(proxy.port(), "/long").body());
        }
        try (RawClient slow = RawClient.connect(proxy.port())) {
            Wire.Head head = slow.get("/long").head();
            assertTrue(head.joined("Cache-Status").contains("hit"), head::toString);
            InputStream body = slow.body(head);
            byte[] first = body.readNBytes(expected.length / 4);

            long old = proxy.worker().pid();
            Files.writeString(file, configuration(storage, "33MiB"));
            Json report = proxy.admin().post("/v1/config/reload", "{}").json();
            assertTrue(report.toString().contains("\"rolled\""), report::toString);
            proxy.awaitWorkerAfter(old);
            // Some more than fit, because a volume with a long queue refuses objects.
            int fillers = STORE_MEBIBYTES * WRAPS + 8;
            for (int i = 0; i < fillers; i++) {
                assertArrayEquals(
                        filler, RawClient.fetch(proxy.port(), "/filler?" + i).body());
            }
            assertTrue(ProcessHandle.of(old).map(ProcessHandle::isAlive).orElse(false), "the old worker has gone");

            byte[] rest = body.readAllBytes();
            assertEquals(expected.length, first.length + rest.length);
            assertArrayEquals(Arrays.copyOfRange(expected, first.length, expected.length), rest);
            assertArrayEquals(Arrays.copyOf(expected, first.length), first);
        }
        // The volume writes in the background.
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> bytesWritten(proxy), written -> written > ((long) WRAPS * STORE_MEBIBYTES) * MIB);
    }

    private static String configuration(Path storage, String ramSize) {
        return """
                remap: [{map: /, to: "%s"}]
                storage: [{path: "%s", size: %dMiB}]
                cache: {ram_size: %s}
                timeouts: {drain: 3m, client_body: 3m}
                """.formatted(nginx.url(), storage, STORE_MEBIBYTES, ramSize);
    }

    private static long bytesWritten(MillraceProcess proxy) throws IOException {
        String metrics = proxy.admin().get("/metrics").text();
        return metrics.lines()
                .filter(line -> line.startsWith("millrace_volume_written_bytes_total"))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
