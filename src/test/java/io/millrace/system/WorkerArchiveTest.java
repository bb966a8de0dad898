package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the class archive of workers, on the JDK of the tests and on each installed one from 25 on. It is recorded
 * after the first start and used from then on. A damaged archive is discarded and prevents no start.
 */
class WorkerArchiveTest {
    private static final int AOT_CACHE_SINCE = 25;
    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

    @RegisterExtension
    static final PackedProduct product = PackedProduct.unpackedAnew();

    static Stream<Path> jdks() throws IOException {
        Path own = Path.of(System.getProperty("java.home")).toRealPath();
        List<Path> jdks = new ArrayList<>(List.of(own));
        try (DirectoryStream<Path> beside = Files.newDirectoryStream(own.getParent())) {
            for (Path jdk : beside) {
                if (!jdk.equals(own) && !Files.isSymbolicLink(jdk) && feature(jdk) >= AOT_CACHE_SINCE) {
                    jdks.add(jdk);
                }
            }
        }
        return jdks.stream();
    }

    private static int feature(Path jdk) throws IOException {
        Path release = jdk.resolve("release");
        Matcher matcher = VERSION.matcher(Files.isRegularFile(release) ? Files.readString(release) : "");
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("nightly")
    void isSoWithEveryJdkOfThisMachine(Path jdk) throws Exception {
        isUsedAndStopsNoStart(jdk);
    }

    private void isUsedAndStopsNoStart(Path jdk) throws Exception {
        MillraceProcess proxy = product.launch()
                .demo()
                .set("worker.java_home", jdk.toString())
                .set("cache.ram_size", "32MiB")
                .start();
        Path archive = WorkerArchive.recordedBy(proxy, product.home());
        byte[] good = Files.readAllBytes(archive);
        assertFalse(isMapped(proxy, archive));
        replaceWorker(proxy);
        assertTrue(isMapped(proxy, archive), () -> archive + " is not used: " + proxy.describe());

        for (byte[] broken : broken(good)) {
            replaceFile(archive, broken);
            replaceWorker(proxy);
            await("a broken archive is given up").until(() -> !Files.exists(archive));
        }
        assertTrue(proxy.stderr().contains(archive.getFileName() + " is discarded, because "), proxy::describe);
        assertFalse(proxy.stderr().contains("WARNING"), proxy::describe);
        assertEquals(
                "",
                proxy.stdout()
                        .lines()
                        .filter(line -> line.contains("warning"))
                        .findAny()
                        .orElse(""));
    }

    /** Returns archives without their beginning, and with holes as after a power failure. */
    private static List<byte[]> broken(byte[] good) {
        byte[] headless = good.clone();
        Arrays.fill(headless, 0, 4096, (byte) 0);
        byte[] holes = good.clone();
        Arrays.fill(holes, good.length / 4, good.length, (byte) 0);
        return List.of(headless, holes);
    }

    private static void replaceFile(Path file, byte[] content) throws IOException {
        Path next = file.resolveSibling("next");
        Files.write(next, content);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void replaceWorker(MillraceProcess proxy) throws IOException {
        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
        assertNotEquals(before, proxy.worker().pid());
        assertEquals(200, RawClient.fetch(proxy.port(), "/style.css").status());
    }

    private static boolean isMapped(MillraceProcess proxy, Path archive) throws IOException {
        Path maps = Path.of("/proc", Long.toString(proxy.worker().pid()), "maps");
        return Files.readString(maps).contains(archive.getFileName().toString());
    }
}
