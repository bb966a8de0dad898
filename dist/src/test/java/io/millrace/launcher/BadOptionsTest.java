package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Tests that bad values of options of {@code millrace} are reported in a sentence, with the documented exit code. */
class BadOptionsTest {
    private record Case(int exitCode, String says, List<String> words) {}

    @TempDir
    Path directory;

    @TestFactory
    List<DynamicTest> reportsTheProblem() throws Exception {
        Path config = Files.writeString(
                directory.resolve("good.yaml"),
                "listen: ['127.0.0.1:0']\nremap: [{map: /, to: 'http://127.0.0.1:1/'}]\nstorage: []\n");
        String good = config.toString();
        String folder = directory.toString();
        return List.of(
                        new Case(1, "is not a directory", List.of("run", "--config", good, "--state", good)),
                        new Case(1, "cannot be created", List.of("run", "--config", good, "--state", good + "/below")),
                        new Case(1, "cannot be created", List.of("run", "--config", good, "--state", "/proc/millrace")),
                        new Case(
                                1,
                                "too long",
                                List.of("run", "--config", good, "--state", folder + "/" + "x".repeat(100))),
                        new Case(2, "--state is empty", List.of("run", "--config", good, "--state", "")),
                        new Case(2, "is a directory", List.of("check", "--config", folder)),
                        new Case(2, "no such file", List.of("check", "--config", folder + "/none.yaml")),
                        new Case(2, "a device", List.of("check", "--config", "/dev/zero")),
                        new Case(3, "", List.of("store", "check", folder + "/none")),
                        new Case(3, "", List.of("store", "stat", good)),
                        new Case(3, "", List.of("store", "dump", "/proc/self/mem")))
                .stream()
                .map(each -> DynamicTest.dynamicTest(each.words().toString(), () -> check(each)))
                .toList();
    }

    private static void check(Case each) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = LauncherMain.commandLine("none")
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(each.words().toArray(String[]::new));
        String said = err.toString();
        assertFalse(said.contains("Exception") || said.contains("at io.millrace"), said);
        assertTrue(said.lines().count() <= 1, said);
        if (!said.isEmpty()) {
            assertTrue(said.contains(each.says()), said);
        }
        assertEquals(each.exitCode(), exitCode, said);
    }
}
