package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests that clients receive their responses during kills, hangs, rolls, upgrades and reloads. The build has one roll
 * and one kill, the nightly run some of each kind; by hand with
 * {@code -Dmillrace.upheavals=rolls=50,kills=20,launcher_kills=5,hangs=10,upgrades=5,reloads=100}
 * {@code -Dmillrace.system.timeout=60m}.
 */
@Tag("nightly")
class RestartsUnderLoadTest {
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int FILES = 40;
    private static final int FILE_LENGTH_MAX = 100_000;
    private static final int ANSWERS_BETWEEN = 200;

    private static final int KEPT_CLOSED_MAX = 2;

    /** A new process has not loaded everything yet. */
    private static final int LAUNCHER_DESCRIPTORS_MORE_MAX = 8;

    private static final long LAUNCHER_BYTES_MAX = 80_000_000;

    private enum Upheaval {
        ROLLS,
        KILLS,
        LAUNCHER_KILLS,
        HANGS,
        UPGRADES,
        RELOADS;

        /** Returns the number of times, by {@code millrace.upheavals}. */
        int times() {
            for (String setting :
                    System.getProperty("millrace.upheavals", "rolls=1,kills=1").split(",", -1)) {
                if (setting.startsWith(name().toLowerCase(Locale.ROOT) + "=")) {
                    return Integer.parseInt(setting.substring(setting.indexOf('=') + 1));
                }
            }
            return 0;
        }
    }

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private final Random random = new Random(SEED);
    private final List<RealTree.Entry> entries = new ArrayList<>();
    private Path file = Path.of("");
    private Path otherHome = Path.of("");
    private int ramMebibytes = 32;
    private int changes;

    @BeforeEach
    void plantFiles() throws IOException {
        System.out.println("millrace.seed=" + SEED);
        for (int i = 0; i < FILES; i++) {
            byte[] body = new byte[random.nextInt(FILE_LENGTH_MAX)];
            random.nextBytes(body);
            Path planted = Files.write(nginx.root().resolve("f" + i), body);
            entries.add(new RealTree.Entry("/f" + i, planted, body.length));
        }
        file = product.newDirectory().resolve("millrace.yaml");
        otherHome = product.newDirectory().resolve("upgraded");
        copy(product.home(), otherHome);
    }

    @Test
    void noClientIsRefusedAndNoNewConnectionFailsWhateverHappensToTheProcesses() throws Exception {
        write(configuration());
        MillraceProcess proxy = product.launch().config(file).start();
        List<Upheaval> program = new ArrayList<>();
        for (Upheaval upheaval : Upheaval.values()) {
            program.addAll(Collections.nCopies(upheaval.times(), upheaval));
        }
        Collections.shuffle(program, random);
        try (LoadDuringKill load = new LoadDuringKill(proxy.port(), entries, random)) {
            load.start();
            load.awaitMoreAnswers(ANSWERS_BETWEEN);
            List<String> sizes = new ArrayList<>(List.of(size(proxy)));
            long descriptors = descriptors(proxy.pid());
            for (Upheaval upheaval : program) {
                MillraceProcess before = proxy;
                proxy = happen(upheaval, proxy, load);
                load.awaitMoreAnswers(ANSWERS_BETWEEN);
                if (proxy != before) {
                    descriptors = descriptors(proxy.pid());
                }
                sizes.add(upheaval + " " + size(proxy));
                long now = descriptors(proxy.pid());
                assertTrue(
                        now <= descriptors + LAUNCHER_DESCRIPTORS_MORE_MAX,
                        () -> "the launcher has " + now + " descriptors: " + sizes);
            }
            List<String> wrong = load.stop();
            System.out.println(load + "\n" + String.join("\n", sizes));
            System.out.println("launcher " + proxy.pid() + ": " + residentBytes(proxy.pid()) / 1000 + " kB");
            assertEquals(List.of(), wrong, load::toString);
            // A client that is delayed for longer than the time for which a drain keeps idle connections meets its end.
            assertTrue(load.keptClosed() <= KEPT_CLOSED_MAX, load::toString);
            assertTrue(residentBytes(proxy.pid()) < LAUNCHER_BYTES_MAX, () -> "the launcher is too large: " + sizes);
        }
    }

    private MillraceProcess happen(Upheaval upheaval, MillraceProcess proxy, LoadDuringKill load) throws Exception {
        long worker = proxy.worker().pid();
        switch (upheaval) {
            case ROLLS -> {
                ramMebibytes ^= 1;
                write(configuration());
                Json report = reload(proxy);
                assertTrue(report.toString().contains("\"rolled\""), report::toString);
                proxy.awaitWorkerAfter(worker);
            }
            case KILLS -> {
                load.workerDied(proxy.killWorker());
                proxy.awaitWorkerAfter(worker);
            }
            case HANGS -> {
                load.workerDied(proxy.hangWorker());
                proxy.awaitWorkerAfter(worker);
            }
            case RELOADS -> reloadOnce(proxy);
            case LAUNCHER_KILLS, UPGRADES -> {
                write(configuration());
                proxy.killLauncher();
                load.awaitMoreAnswers(ANSWERS_BETWEEN);
                Launch launch = product.launch().config(file).port(proxy.port()).state(proxy.state());
                if (upheaval == Upheaval.UPGRADES) {
                    launch.command(otherHome.resolve("bin/millrace").toString());
                }
                MillraceProcess next = launch.start();
                next.awaitWorkerAfter(worker);
                return next;
            }
        }
        return proxy;
    }

    /** A third of the files is invalid. */
    private void reloadOnce(MillraceProcess proxy) throws IOException {
        changes++;
        if (changes % 3 == 0) {
            write(configuration() + "cache: {}");
            Json report = reload(proxy);
            assertEquals(false, report.at("ok").isTrue(), report::toString);
        } else {
            write(configuration());
            Json report = reload(proxy);
            assertEquals(true, report.at("ok").isTrue(), report::toString);
        }
    }

    private static Json reload(MillraceProcess proxy) throws IOException {
        return proxy.admin().post("/v1/config/reload", "{}").json();
    }

    private String configuration() {
        return """
                remap: [{map: /, to: "%s"}]
                cache: {ram_size: %dMiB, uncacheable_ttl: %ds}
                worker: {heartbeat_interval: 100ms, heartbeat_timeout: 1500ms, heap_size: 128MiB, warm_up_limit: 3s}
                """.formatted(nginx.url(), ramMebibytes, 10 + changes);
    }

    private void write(String text) throws IOException {
        Path next = file.resolveSibling("next");
        Files.writeString(next, text);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Returns descriptors and resident memory of launcher and worker. */
    private static String size(MillraceProcess proxy) throws IOException {
        long worker = proxy.status().at("process.worker_pid").number();
        return "launcher " + descriptors(proxy.pid()) + " descriptors, " + (residentBytes(proxy.pid()) >> 20)
                + " MiB; worker " + descriptors(worker) + " descriptors, " + (residentBytes(worker) >> 20) + " MiB";
    }

    private static long descriptors(long pid) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return open.count();
        }
    }

    private static long residentBytes(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS of " + pid);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }
}
