package io.millrace.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The product as it is shipped: unpacks {@code millrace-<version>.tar.gz} (system property {@code millrace.packed}) and
 * starts launchers from it. It is unpacked once for all classes and test JVMs, beside the packed file. The class archive
 * of its workers is recorded at that time, so that it is not recorded during a test. Processes started
 * by a test end with the test, those of {@code @BeforeAll} with the class, each by its process id. A failed test prints
 * the logs of all processes. Register it as a static field.
 */
final class PackedProduct
        implements BeforeAllCallback,
                BeforeEachCallback,
                AfterTestExecutionCallback,
                AfterEachCallback,
                AfterAllCallback {

    /** Directories with and without leak detection. */
    private static final Map<Boolean, Path> UNPACKED = new ConcurrentHashMap<>();

    private static final Duration RECORDED_WITHIN = Duration.ofMinutes(3);

    private final boolean leakDetection;
    private final boolean again;
    private final List<MillraceProcess> ofClass = new ArrayList<>();
    private final List<MillraceProcess> ofTest = new ArrayList<>();
    private final List<Path> directories = new ArrayList<>();
    private boolean inTest;
    private Path home = Path.of("");

    private PackedProduct(boolean leakDetection, boolean again) {
        this.leakDetection = leakDetection;
        this.again = again;
    }

    /**
     * Returns the product as it is. In the normal run its workers compile with C1 only, which takes less CPU time at a
     * start.
     */
    static PackedProduct asShipped() {
        return new PackedProduct(false, false);
    }

    /** Returns an unchanged product for this class alone, which starts it for the first time. */
    static PackedProduct unpackedAnew() {
        return new PackedProduct(false, true);
    }

    /** Returns the product with assertions and Netty's leak detection in its worker; a reported leak fails the test. */
    static PackedProduct withLeakDetection() {
        return new PackedProduct(true, false);
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        if (again) {
            home = unpack(newDirectory());
            return;
        }
        Path unpacked = UNPACKED.get(leakDetection);
        if (unpacked == null) {
            unpackForAll();
        } else {
            home = unpacked;
        }
    }

    /** The first test JVM that gets the lock unpacks the product and records the archive. The others use the result. */
    private void unpackForAll() throws IOException {
        Path packed = packed();
        Path directory = packed.resolveSibling(leakDetection ? "unpacked-with-leak-detection" : "unpacked");
        Path mark = directory.resolve("ready");
        String version = Files.size(packed) + " bytes of " + Files.getLastModifiedTime(packed);
        try (FileChannel channel = FileChannel.open(
                        Path.of(directory + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && Files.exists(mark) && Files.readString(mark).equals(version)) {
                home = onlyEntry(directory.resolve("product"));
            } else {
                if (Files.exists(directory)) {
                    delete(directory);
                }
                home = unpack(Files.createDirectories(directory.resolve("product")));
                recordArchive();
                Files.writeString(mark, version);
            }
        }
        UNPACKED.put(leakDetection, home);
    }

    /** Records the class archive of the worker, so that no later start records one. */
    private void recordArchive() throws IOException {
        String options = System.getProperty("millrace.system.jvm", "") + "\n"
                + (leakDetection
                        ? "-ea\n-Dio.netty.leakDetection.level=paranoid\n-Dio.netty.leakDetection.acquireAndReleaseOnly=true\n"
                        : "");
        if (!options.isBlank()) {
            Path directory = Files.createDirectories(home.resolve("conf/jvm.options.d"));
            Files.writeString(directory.resolve("system-tests.options"), options);
        }
        Command.run(home, RECORDED_WITHIN, List.of(home.resolve("bin/millrace").toString(), "archive"))
                .succeeds();
    }

    private static Path packed() {
        String packed = System.getProperty("millrace.packed", "");
        if (packed.isEmpty() || !Files.isRegularFile(Path.of(packed))) {
            throw new IllegalStateException("the packed product is not there: millrace.packed=" + packed
                    + " (run these tests with 'mvn verify', which packs it first)");
        }
        return Path.of(packed);
    }

    private static Path unpack(Path into) throws IOException {
        Command.run(into, List.of("tar", "-xzf", packed().toString())).succeeds();
        return onlyEntry(into);
    }

    private static Path onlyEntry(Path directory) throws IOException {
        try (Stream<Path> top = Files.list(directory)) {
            List<Path> entries = top.toList();
            if (entries.size() != 1) {
                throw new AssertionError("the archive should hold one directory, not " + entries);
            }
            return entries.get(0);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        inTest = true;
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        if (context.getExecutionException().isPresent()) {
            System.err.println("==== logs of " + context.getDisplayName());
            Stream.concat(ofClass.stream(), ofTest.stream()).forEach(process -> System.err.println(process.describe()));
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        inTest = false;
        stop(ofTest);
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        stop(ofClass);
        for (Path directory : directories) {
            delete(directory);
        }
        directories.clear();
    }

    private static void stop(List<MillraceProcess> processes) {
        List<MillraceProcess> stopping = List.copyOf(processes);
        processes.clear();
        stopping.forEach(MillraceProcess::stop);
        stopping.forEach(MillraceProcess::assertNoLeaks);
    }

    /** Returns the directory with {@code bin}, {@code conf} and {@code lib}. */
    Path home() {
        return home;
    }

    /**
     * Returns a new directory with a short name, because its paths are used in Unix socket addresses. It is deleted
     * with the class.
     */
    Path newDirectory() {
        try {
            Path directory = Files.createTempDirectory("mr-");
            directories.add(directory);
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the arguments of {@code bin/millrace run}. */
    Launch launch() {
        return new Launch(this);
    }

    /** Runs {@code bin/millctl} with exactly these arguments. */
    Command millctl(String... arguments) {
        List<String> line = new ArrayList<>();
        line.add(home.resolve("bin/millctl").toString());
        line.addAll(List.of(arguments));
        return Command.run(home, line);
    }

    void register(MillraceProcess process) {
        (inTest ? ofTest : ofClass).add(process);
    }

    /** Returns an unused port on loopback that no outgoing connection takes. */
    static int freePort() {
        return FreePorts.next();
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
