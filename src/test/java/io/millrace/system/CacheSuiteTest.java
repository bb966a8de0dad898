package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the public HTTP cache test suite (npm {@code http-cache-tests}) against the product in its default
 * configuration, and with rules and compression. {@code docs/reference/conformance.md} lists the failing cases with
 * reasons. The environment variable {@code CACHE_TESTS_DIR} selects another edition of the suite; its verdicts are
 * printed and not checked.
 */
class CacheSuiteTest {

    private static final int OPTIMAL_MIN = 82;
    private static final Duration SUITE_WITHIN = Duration.ofMinutes(3);

    /** Directory of another edition of the suite; null for the one in {@code package.json}. */
    private static final @Nullable String OTHER_EDITION = System.getenv("CACHE_TESTS_DIR");

    private static final Path SOURCE = Path.of(System.getProperty("millrace.source", ".."));
    private static final Path SCRIPTS = SOURCE.resolve("src/test/conformance");

    /**
     * The default of min_size is larger than the content of the cases. Compression of the content would change Vary,
     * the entity tag and the length, which the cases do not expect.
     */
    private static final String RULES_AND_COMPRESSION = "compression: {}\n" + MatchAllRules.YAML;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    /** The verdict of one case, in the suite's words. */
    private record Verdict(String id, String kind, String outcome, String detail) {
        static Verdict of(String line) {
            String[] parts = line.split("\t", -1);
            return new Verdict(parts[0], parts[1], parts[2], parts[3]);
        }

        boolean isPassed() {
            return outcome.equals("pass");
        }

        @Override
        public String toString() {
            return kind + " " + id + ": " + outcome + ", " + detail;
        }
    }

    /** A configuration in which the cases are run. */
    private enum Setup {
        DEFAULT(false, ""),
        HTTP2(true, ""),
        RULES(false, RULES_AND_COMPRESSION),
        RULES_AND_HTTP2(true, RULES_AND_COMPRESSION);

        private final boolean http2;
        private final String more;

        Setup(boolean http2, String more) {
            this.http2 = http2;
            this.more = more;
        }
    }

    @Test
    @Timeout(300)
    void passesWhatSharedCachesAreRequiredToDo() throws Exception {
        judge(run(Setup.DEFAULT, List.of()));
    }

    /** The parts of the suite on which rules and compression have the most influence. */
    @Test
    @Timeout(300)
    void passesSomeWithRulesAndCompression() throws Exception {
        assumeTrue(OTHER_EDITION == null, "the results of another edition are not checked");
        List<Verdict> verdicts =
                run(Setup.RULES, List.of("method", "vary", "conditional-inm", "updateHEAD", "partial"));
        assertTrue(verdicts.size() > 50, verdicts.size() + " cases were run");
        List<String> listed = listedAsLeft();
        List<Verdict> failed = ofKind(verdicts, "required").stream()
                .filter(verdict -> !verdict.isPassed() && !listed.contains(verdict.id()))
                .toList();
        assertTrue(failed.isEmpty(), () -> "required cases not passed\n" + text(failed));
        assertExplained(verdicts);
    }

    /** All cases have the same verdicts over HTTP/2, and with rules and compression. */
    @Tag("nightly")
    @ParameterizedTest
    @EnumSource(value = Setup.class, names = "DEFAULT", mode = EnumSource.Mode.EXCLUDE)
    @Timeout(300)
    void passesTheSameInOtherSetups(Setup setup) throws Exception {
        judge(run(setup, List.of()));
    }

    /** Returns the verdicts of the cases in these groups; of all cases if there are no groups. */
    private static List<Verdict> run(Setup setup, List<String> groups) throws Exception {
        assumeTrue(
                Command.isInstalled("npm") || System.getenv("CI") != null,
                "needs node and npm, which are not installed");
        Path suite = OTHER_EDITION == null ? fetchSuite() : Path.of(OTHER_EDITION);
        int originPort = PackedProduct.freePort();
        int port = PackedProduct.freePort();
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                listen: [{address: "127.0.0.1:%d", h2c: %s}]
                remap: [{map: /, to: "http://127.0.0.1:%d/"}]
                %s
                """.formatted(port, setup.http2, originPort, setup.more));
        product.launch().config(config).listeningByFile(port).start();

        List<String> line = new ArrayList<>(List.of(
                "node",
                "--no-warnings",
                SCRIPTS.resolve("cache-suite.mjs").toAbsolutePath().toString(),
                suite.toAbsolutePath().toString(),
                "http://127.0.0.1:" + port,
                Integer.toString(originPort),
                setup.http2 ? "http2" : "http1"));
        line.addAll(groups);
        Command run = Command.run(product.home(), SUITE_WITHIN, line).succeeds();
        return run.out().lines().map(Verdict::of).toList();
    }

    private static void judge(List<Verdict> verdicts) throws IOException {
        if (OTHER_EDITION != null) {
            verdicts.stream().filter(verdict -> !verdict.isPassed()).forEach(System.out::println);
            return;
        }
        List<Verdict> required = ofKind(verdicts, "required");
        List<Verdict> optimal = ofKind(verdicts, "optimal");
        assertTrue(required.size() > 150 && optimal.size() > 80, verdicts.size() + " cases were run");
        Set<String> failed = required.stream()
                .filter(verdict -> !verdict.isPassed())
                .map(Verdict::id)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(listedAsLeft()), failed, () -> "required cases not passed\n" + text(required));
        List<Verdict> passed = optimal.stream().filter(Verdict::isPassed).toList();
        assertTrue(
                passed.size() >= OPTIMAL_MIN,
                () -> passed.size() + " optimal cases passed, not " + OPTIMAL_MIN + "\n" + text(optimal));
        assertExplained(verdicts);
    }

    /** Returns the required cases that are known not to pass. */
    private static List<String> listedAsLeft() throws IOException {
        return Files.readAllLines(SCRIPTS.resolve("cache-suite-left.txt")).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    /** Asserts that the page on conformance lists all cases that do not pass. */
    private static void assertExplained(List<Verdict> verdicts) throws IOException {
        String page = Files.readString(SOURCE.resolve("docs/reference/conformance.md"));
        for (Verdict verdict : verdicts) {
            boolean left = !verdict.kind().equals("check") && !verdict.isPassed();
            assertTrue(
                    !left || page.contains("`" + verdict.id() + "`"),
                    () -> "docs/reference/conformance.md says nothing of " + verdict);
        }
    }

    private static List<Verdict> ofKind(List<Verdict> verdicts, String kind) {
        return verdicts.stream().filter(verdict -> verdict.kind().equals(kind)).toList();
    }

    private static String text(List<Verdict> verdicts) {
        return verdicts.stream()
                .filter(verdict -> !verdict.isPassed())
                .map(Verdict::toString)
                .collect(Collectors.joining("\n"));
    }

    /** Fetches the suite named in {@code package.json}, unless an earlier run has. */
    private static Path fetchSuite() throws IOException {
        Path directory = Path.of("target", "cache-suite").toAbsolutePath();
        Path suite = directory.resolve("node_modules/http-cache-tests");
        if (!Files.isRegularFile(suite.resolve("package.json"))) {
            Files.createDirectories(directory);
            Files.copy(
                    SCRIPTS.resolve("package.json"),
                    directory.resolve("package.json"),
                    StandardCopyOption.REPLACE_EXISTING);
            Command.run(
                            directory,
                            SUITE_WITHIN,
                            List.of(
                                    "npm",
                                    "install",
                                    "--ignore-scripts",
                                    "--no-audit",
                                    "--no-fund",
                                    "--no-package-lock"))
                    .succeeds();
        }
        return suite;
    }
}
