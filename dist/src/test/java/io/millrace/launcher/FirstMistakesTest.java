package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that the messages of likely mistakes of a new user name the remedy. Those about ports are also in
 * {@code ListeningSocketsTest}, those about storage paths in {@code FileFaultsTest}, those about origins in
 * {@code OriginFaultsTest}.
 */
class FirstMistakesTest {
    @TempDir
    Path directory;

    private final StringWriter err = new StringWriter();

    private int millrace(String... words) {
        return LauncherMain.commandLine("none")
                .setOut(new PrintWriter(new StringWriter()))
                .setErr(new PrintWriter(err, true))
                .execute(words);
    }

    private Path config(String more) throws IOException {
        return Files.writeString(
                directory.resolve("good.yaml"),
                "listen: ['127.0.0.1:0']\nremap: [{map: /, to: 'http://127.0.0.1:1/'}]\nstorage: []\n" + more);
    }

    @Test
    void aRunWithoutAnythingNamesEveryNextStep() {
        try (CannedLauncher launcher = CannedLauncher.run(directory)) {
            assertEquals(2, launcher.exitCode());
            String said = launcher.err();
            for (String step : List.of(
                    "no configuration: there is no millrace.yaml here or in /etc/millrace",
                    "  write one:       millrace init",
                    "  name a file:     millrace run --config FILE",
                    "  without a file:  millrace run --origin URL",
                    "  try it first:    millrace run --demo")) {
                assertTrue(said.contains(step + "\n"), launcher::describe);
            }
        }
    }

    @Test
    void aCommandLineWithoutACommandShowsTheFirstSteps() {
        assertEquals(2, millrace());
        assertTrue(err.toString().contains("First steps: millrace run --demo, or millrace init"), err::toString);
    }

    @Test
    void aMissingFileNamesTheCommandThatWritesIt() {
        Path none = directory.resolve("none.yaml");
        try (CannedLauncher launcher = CannedLauncher.run(directory, "--config", none.toString())) {
            assertEquals(2, launcher.exitCode());
            assertTrue(launcher.err().contains(none + ": no such file\n"), launcher::describe);
            assertTrue(launcher.err().contains("  write it with: millrace init " + none), launcher::describe);
        }
    }

    @Test
    void aPortInUseNamesTheOptionForAnotherOne() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + taken.getLocalPort();
            try (CannedLauncher launcher =
                    CannedLauncher.run(directory, "--origin", "http://origin.example", "--listen", address)) {
                assertEquals(1, launcher.exitCode());
                assertTrue(
                        launcher.err()
                                .contains("; stop that process, or choose another address with listen or --listen"),
                        launcher::describe);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"'cache:\n\tram_size: 64MiB\n'", "'cache:\n  \tram_size: 64MiB\n'", "'remap:\n  - map: /\n\tto: x\n'"})
    void aTabIsCalledATab(String text) {
        String problems = ConfigLoader.parse(text, "a.yaml", Map.of()).text();
        assertTrue(problems.contains("YAML: a tab indents this line, but YAML permits only spaces"), problems);
    }

    @Test
    void aTabElsewhereIsAnotherProblem() {
        String problems = ConfigLoader.parse("cache:\n  ram_size: [64MiB\n\n\tx", "a.yaml", Map.of())
                .text();
        assertFalse(problems.isEmpty());
        String fine = ConfigLoader.parse("listen: [':1']\t# a tab before a comment\n", "a.yaml", Map.of())
                .text();
        assertFalse(fine.contains("tab indents"), fine);
    }

    @Test
    void aStateDirectoryThatCannotBeWrittenNamesTheOption() throws IOException {
        assertEquals(1, millrace("run", "--config", config("").toString(), "--state", "/proc/millrace"));
        assertTrue(err.toString().contains("; choose another directory with --state DIR"), err::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "millrace, 11.0.2,   11",
        "millrace, 1.8.0_42, 8",
        "millctl,  16,       16",
        "millrace, 17.0.1,   ''",
        "millctl,  25,       ''"
    })
    void anOldJavaIsNamedWithTheOneThatIsNeeded(String script, String version, String shown) throws Exception {
        Path java = Files.createDirectories(directory.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\necho started\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(directory.resolve("jdk/release"), "OS_ARCH=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        ProcessBuilder builder = new ProcessBuilder(
                        "sh", Path.of("src/main/dist/bin", script).toString(), "version")
                .redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", directory.resolve("jdk").toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (shown.isEmpty()) {
            assertEquals("started\n", said);
            assertEquals(0, process.waitFor());
        } else {
            assertEquals(
                    script + ": Java " + shown + " is too old (" + java
                            + "); install a JDK or JRE 17 or later, or set JAVA_HOME\n",
                    said);
            assertEquals(1, process.waitFor());
        }
    }
}
