package io.millrace.launcher.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerCommandTest {
    @TempDir
    Path directory;

    @Test
    void derivesHeapAndDirectMemoryFromTheConfiguration() throws IOException {
        List<String> line = line(config().set("worker.heap_size", "256MiB").set("cache.ram_size", "1GiB"));

        assertTrue(line.contains("-Xmx256m"), line::toString);
        assertTrue(line.contains("-XX:MaxDirectMemorySize=1792m"), line::toString);
    }

    @Test
    void theHeapGrowsWithTheRamTier() throws IOException {
        assertTrue(line(config().set("cache.ram_size", "8GiB")).contains("-Xmx1536m"));
    }

    @Test
    void letsTheOperatorsOptionsHaveTheLastWord() throws IOException {
        Path conf = Files.createDirectories(directory.resolve("conf"));
        Files.writeString(conf.resolve("jvm.options"), "-Xmx2g\n");
        List<String> line = line(config().set("cache.ram_size", "2GiB"));

        assertTrue(line.lastIndexOf("-Xmx2g") > line.indexOf("-Xmx768m"), line::toString);
        assertTrue(line.indexOf("-Xmx2g") < line.indexOf("-cp"), line::toString);
    }

    @Test
    void asksForUnsafeOnReleasesThatForbidIt() throws IOException {
        String allow = "--sun-misc-unsafe-memory-access=allow";

        assertFalse(line(config().set("worker.java_home", jdk("17.0.15"))).contains(allow));
        assertTrue(line(config().set("worker.java_home", jdk("25.0.3"))).contains(allow));
    }

    /** A JVM without the option would not start. */
    @ParameterizedTest
    @CsvSource({
        "17.0.8, false",
        "17.0.9, true",
        "17.0.15, true",
        "20.0.2, false",
        "21, false",
        "21.0.1, true",
        "22, true",
        "25.0.3, true"
    })
    void givesFreeMemoryBackOnReleasesThatCan(String version, boolean trims) throws IOException {
        List<String> line = line(config().set("worker.java_home", jdk(version)));
        assertEquals(trims, line.contains("-XX:TrimNativeHeapInterval=120000"), line::toString);
    }

    @Test
    void runsTheConfiguredJdk() throws IOException {
        String home = jdk("21.0.1");

        assertEquals(
                home + "/bin/java", line(config().set("worker.java_home", home)).get(0));
        assertEquals(21, WorkerCommand.feature(Path.of(home)));
    }

    @Test
    void mallocIsConfiguredUnlessTheOperatorDidSo() {
        Map<String, String> environment = new HashMap<>(Map.of("MALLOC_ARENA_MAX", "1"));
        WorkerCommand.setMallocVariables(environment);
        assertEquals(Map.of("MALLOC_ARENA_MAX", "1", "MALLOC_MMAP_THRESHOLD_", "524288"), environment);
    }

    @Test
    void ofClassesInDirectoriesNothingIsRecorded() throws IOException {
        WorkerCommand unpacked = new WorkerCommand(directory, config().build(), state(), "Main");

        assertNull(unpacked.archiveFile(), () -> System.getProperty("java.class.path"));
    }

    @Test
    void setsTheUmaskThatFileModeMeansWhereItsOwnIsAnother() throws IOException {
        List<String> worker = List.of("java", "a b", "$c");
        WorkerCommand command = command(config().set("file_mode", "0600"));
        assertEquals(
                List.of("/bin/sh", "-c", "umask 0077 && exec \"$@\"", "worker", "java", "a b", "$c"),
                command.withUmask(worker, 0022));
        assertEquals(worker, command.withUmask(worker, 0077));
        assertEquals(
                "umask 0027 && exec \"$@\"",
                command(config()).withUmask(worker, -1).get(2));
    }

    private WorkerCommand command(ProxyConfig.Builder config) {
        return new WorkerCommand(directory, config.build(), state(), "Main");
    }

    private String jdk(String version) throws IOException {
        Path home = Files.createTempDirectory(directory, "jdk");
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home.toString();
    }

    private static ProxyConfig.Builder config() {
        return ProxyConfig.builder().listen("127.0.0.1:0").map("/", "http://origin.example");
    }

    private List<String> line(ProxyConfig.Builder config) throws IOException {
        return new WorkerCommand(directory, config.build(), state(), "Main").line(1);
    }

    private StateDirectory state() {
        return StateDirectory.resolve(directory.resolve("state"), Map.of(), directory, 0);
    }
}
