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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The archive of a worker's classes, on the JDK that runs this and on each from 25 on beside it: it is made after the first
 * start and used from then on, and a broken one is given up and stops no start.
 */
class WorkerArchiveTest {
    private static final Duration BEGUN_WITHIN = Duration.ofMinutes(1);
    private static final Duration RECORDED_WITHIN = Duration.ofMinutes(10);

    private static final int AOT_CACHE_SINCE = 25;
    private static final Pattern RECORDED = Pattern.compile("-XX:(?:ArchiveClassesAtExit|AOTCacheOutput)=(.*)");
    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

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
    void isUsedOnceItIsThereAndStopsNoStartWhenItIsBroken(Path jdk) throws Exception {
        MillraceProcess proxy = product.launch()
                .demo()
                .set("worker.java_home", jdk.toString())
                .set("cache.ram_size", "32MiB")
                .start();
        Path archive = record(proxy);
        byte[] good = Files.readAllBytes(archive);
        assertFalse(isMapped(proxy, archive));
        replaceWorker(proxy);
        assertTrue(isMapped(proxy, archive), () -> archive + " is not used: " + proxy.describe());

        for (byte[] broken : broken(good)) {
            replaceFile(archive, broken);
            replaceWorker(proxy);
            await("a broken archive is given up").until(() -> !Files.exists(archive));
        }
        assertTrue(proxy.stderr().contains(archive.getFileName() + " is given up, since "), proxy::describe);
        assertFalse(proxy.stderr().contains("WARNING"), proxy::describe);
        assertEquals(
                "",
                proxy.stdout()
                        .lines()
                        .filter(line -> line.contains("warning"))
                        .findAny()
                        .orElse(""));
    }

    /** As the launcher does, but not at the lowest priority: beside other work that takes hours. */
    private static Path record(MillraceProcess proxy) throws Exception {
        AtomicReference<ProcessHandle> begun = new AtomicReference<>();
        await("a recording begins, or is done").atMost(BEGUN_WITHIN).until(() -> {
            rehearsal(proxy).ifPresent(begun::set);
            return begun.get() != null || !archives().isEmpty();
        });
        ProcessHandle slow = begun.get();
        if (slow != null) {
            List<String> line = new ArrayList<>(commandLine(slow));
            slow.destroyForcibly();
            slow.onExit().get();
            if (archives().isEmpty()) {
                finish(line);
            }
        }
        return archives().get(0);
    }

    /** Runs a recording's command again, in a directory of its own, and gives what it wrote its name. */
    private static void finish(List<String> line) throws IOException {
        line.set(line.size() - 1, product.newDirectory().toString());
        Command.run(product.home(), RECORDED_WITHIN, line).succeeds();
        Path written = Path.of(line.stream()
                .map(RECORDED::matcher)
                .filter(Matcher::matches)
                .map(option -> option.group(1))
                .findAny()
                .orElseThrow());
        String name = written.getFileName().toString();
        Files.move(written, written.resolveSibling(name.substring(1, name.lastIndexOf('.'))));
    }

    private static Optional<ProcessHandle> rehearsal(MillraceProcess proxy) {
        return ProcessHandle.of(proxy.pid())
                .orElseThrow()
                .descendants()
                .filter(process -> commandLine(process).contains("io.millrace.worker.Rehearsal"))
                .findAny();
    }

    /** Empty for a process that has ended. */
    private static List<String> commandLine(ProcessHandle process) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
            List<String> words = List.of(line.split("\0", -1));
            // Before it is the JVM it is nice(1).
            return words.get(0).endsWith("java") ? words.subList(0, words.size() - 1) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Without its beginning, and with holes as a power failure leaves them. */
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

    private static List<Path> archives() throws IOException {
        List<Path> archives = new ArrayList<>();
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(product.home().resolve("lib"), "worker-*.archive")) {
            files.forEach(archives::add);
        }
        return archives;
    }

    private static boolean isMapped(MillraceProcess proxy, Path archive) throws IOException {
        Path maps = Path.of("/proc", Long.toString(proxy.worker().pid()), "maps");
        return Files.readString(maps).contains(archive.getFileName().toString());
    }
}
