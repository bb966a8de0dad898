package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests how much memory the product takes while it has nothing to do. */
@Tag("nightly")
@Tag("alone")
class FootprintTest {
    /** Proportional set size of launcher and worker together: the target of 180 MB and a tenth. */
    private static final long PSS_KIB_MAX = 198_000;
    /** The JVMs return memory some minutes after the start. */
    private static final Duration QUIET_WITHIN = Duration.ofMinutes(6);

    private static final Duration RECORDED_WITHIN = Duration.ofMinutes(3);

    @RegisterExtension
    static final PackedProduct product = PackedProduct.unpackedAnew();

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void launcherAndWorkerShareLittleMemoryWhileIdle() {
        Path program = product.home().resolve("bin/millrace");
        Command.run(product.home(), RECORDED_WITHIN, List.of(program.toString(), "archive"))
                .succeeds();
        MillraceProcess proxy =
                product.launch().demo().set("cache.ram_size", "256MiB").start();
        await("at most " + PSS_KIB_MAX + " kB of proportional set size")
                .atMost(QUIET_WITHIN)
                .pollInterval(Duration.ofSeconds(5))
                .untilAsserted(() -> {
                    long launcher = pssKib(proxy.pid());
                    long worker = pssKib(proxy.worker().pid());
                    assertTrue(
                            launcher + worker <= PSS_KIB_MAX, () -> "launcher " + launcher + " kB, worker " + worker);
                });
    }

    private static long pssKib(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid), "smaps_rollup")).stream()
                .filter(line -> line.startsWith("Pss:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
