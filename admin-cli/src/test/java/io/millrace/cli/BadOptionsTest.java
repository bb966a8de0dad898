package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.command.ProcessEnvironment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that bad values of options of {@code millctl} are reported in a sentence, with the documented exit code. */
class BadOptionsTest {
    private record Case(int exitCode, String says, List<String> words) {}

    @TempDir
    Path directory;

    @TestFactory
    List<DynamicTest> reportsTheProblem() throws Exception {
        String empty = Files.writeString(directory.resolve("empty"), "").toString();
        String folder = directory.toString();
        String none = folder + "/none";
        return List.of(
                        new Case(2, "--depth", List.of("server", "threads", "--depth", "-1")),
                        new Case(2, "--depth", List.of("server", "threads", "--depth", "65")),
                        new Case(2, "--depth", List.of("server", "threads", "--depth", "x")),
                        new Case(2, "--timeout", List.of("status", "--timeout", "-1s")),
                        new Case(2, "--timeout", List.of("status", "--timeout", "soon")),
                        new Case(2, "--watch", List.of("status", "--watch", "-5")),
                        new Case(2, "--output", List.of("status", "--output", "xml")),
                        new Case(2, "", List.of("status", "--none")),
                        new Case(2, "", List.of("none")),
                        new Case(2, "", List.of("cache", "lookup")),
                        new Case(2, "--limit", List.of("cache", "list", "--limit", "0")),
                        new Case(2, "--limit", List.of("cache", "list", "--limit", "many")),
                        new Case(2, "--rate", warm("--rate", "0")),
                        new Case(2, "--rate", warm("--rate", "NaN")),
                        new Case(2, "--concurrency", warm("--concurrency", "65")),
                        new Case(2, "Host", warm("-H", "Host: a")),
                        new Case(2, "'Name: value'", warm("-H", "a")),
                        new Case(2, "--base", warm("--base", "http://a/")),
                        new Case(2, "one of --sitemap", List.of("cache", "warm")),
                        new Case(2, "--resume", List.of("cache", "warm", "--tag", "a", "--resume", none)),
                        new Case(2, "exists", List.of("cache", "export", "--host", "a", "--out", empty)),
                        new Case(2, "no directory", List.of("cache", "export", "--host", "a", "--out", none + "/a")),
                        new Case(2, "--out", List.of("cache", "export", "--host", "a")),
                        new Case(3, "", List.of("status", "--admin", none)),
                        new Case(3, "", List.of("status", "--admin", folder)),
                        new Case(2, "", List.of("status", "--admin", "http://127.0.0.1:99999")),
                        new Case(2, "limit is 65536", List.of("metric", "match", "x".repeat(65_537))),
                        new Case(2, "nested too deeply", List.of("metric", "match", "(".repeat(60_000))),
                        new Case(2, "not a regular expression", List.of("metric", "match", "[")),
                        new Case(2, "xxx...", List.of("metric", "match", "[" + "x".repeat(60_000))),
                        new Case(2, "--watch", List.of("server", "drain", "--watch")),
                        new Case(2, "token", tokenFile(none)),
                        new Case(2, "token", tokenFile(folder)),
                        new Case(2, "token", tokenFile(empty)))
                .stream()
                .map(each -> DynamicTest.dynamicTest(each.words().toString(), () -> check(each)))
                .toList();
    }

    private static List<String> warm(String option, String value) {
        return List.of("cache", "warm", "--list", "urls", option, value);
    }

    private static List<String> tokenFile(String file) {
        return List.of("status", "--admin", "http://127.0.0.1:1", "--token-file", file);
    }

    private void check(Case each) {
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(), directory, directory.resolve("run"), directory.resolve("product"), false);
        Run run = Run.of(environment, each.words().toArray(String[]::new));
        assertFalse(run.err().contains("Exception") || run.err().contains("at io.millrace"), run.err());
        assertFalse(run.err().isBlank());
        assertTrue(run.err().lines().findFirst().orElse("").contains(each.says()), run.err());
        assertTrue(run.err().length() < 5000, () -> run.err().length() + " characters");
        assertEquals("", run.out());
        assertEquals(each.exitCode(), run.exitCode(), run.err());
    }

    /** Without a home directory Java reports {@code ?}; a file in its place stands for one that cannot be used. */
    @ParameterizedTest
    @ValueSource(strings = {"?", "", "FILE"})
    void findsNoInstanceWithoutAUsableHome(String home) throws Exception {
        Path file = Files.writeString(directory.resolve("home"), "");
        Path used = home.equals("FILE") ? file : Path.of(home);
        ProcessEnvironment environment =
                new ProcessEnvironment(Map.of(), used, directory.resolve("run"), directory.resolve("product"), false);
        Run run = Run.of(environment, "status");
        assertEquals(3, run.exitCode(), run.err());
        assertTrue(run.err().startsWith("millctl: found no running millrace"), run.err());
        assertFalse(run.err().contains("Exception"), run.err());
    }
}
