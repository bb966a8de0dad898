package io.millrace.launcher.importing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.ConfigProblem.Severity;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Samples of another proxy in {@code src/test/resources/NAME}, and the expected results in {@code NAME-expected}. With
 * {@code -Dmillrace.golden.write=true} the expected files are rewritten.
 */
public final class Goldens {
    private final Path samples;
    private final Path expected;

    /** @param name name of the other proxy in the resources */
    public Goldens(String name) {
        samples = Path.of("src/test/resources", name);
        expected = Path.of("src/test/resources", name + "-expected");
    }

    /** Returns the names of the samples. */
    public List<String> names() {
        try (Stream<Path> entries = Files.list(samples)) {
            return entries.map(each -> each.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the path of a sample. */
    public Path path(String sample) {
        return samples.resolve(sample);
    }

    /** Compares a result with the expected files, and checks the configuration with the loader. */
    public void assertExpected(String sample, ImportResult result) throws IOException {
        assertEquals(List.of(), result.problems());
        assertNotNull(result.yaml());
        List<ConfigProblem> errors =
                ConfigLoader.parse(result.yaml(), "millrace.yaml", samples.toAbsolutePath(), Map.of())
                        .problems()
                        .stream()
                        .filter(problem -> problem.severity() == Severity.ERROR)
                        .toList();
        assertEquals(List.of(), errors);
        String base = sample.replaceAll("\\.[a-z]+$", "");
        Path yaml = expected.resolve(base + ".yaml");
        Path report = expected.resolve(base + ".txt");
        String text = anywhere(result.yaml());
        // Warnings about the size of a disk depend on the machine.
        String table = anywhere(ImportReport.table(result).stream()
                .filter(line -> !line.contains("the file system of "))
                .collect(Collectors.joining("\n", "", "\n")));
        if (Boolean.getBoolean("millrace.golden.write")) {
            Files.createDirectories(expected);
            Files.writeString(yaml, text);
            Files.writeString(report, table);
        }
        assertEquals(Files.readString(yaml), text);
        assertEquals(Files.readString(report), table);
    }

    /** Replaces paths of this machine. */
    private String anywhere(String text) {
        return text.replace(samples.toAbsolutePath().toString(), "/etc/samples");
    }

    /**
     * Checks that every line of the files is in the report.
     *
     * @param file the directory or file of the sample
     * @param insignificant expression for lines that say nothing, such as closing braces
     */
    public void assertNothingIsLost(Path file, ImportResult result, String insignificant) throws IOException {
        Path base = Files.isDirectory(file) ? file : file.getParent();
        int counted = 0;
        try (Stream<Path> files = Files.walk(file)) {
            for (Path path : files.filter(Files::isRegularFile).sorted().toList()) {
                String name = base.relativize(path).toString();
                String reported = result.lines().stream()
                        .filter(line -> line.file().equals(name))
                        .map(ImportedLine::text)
                        .collect(Collectors.joining(" "))
                        .replaceAll("[\\s{};]+", "");
                for (String line : Files.readAllLines(path)) {
                    String text = line.strip();
                    if (!text.matches(insignificant)) {
                        String bare = text.replaceAll("\\s+(#|//).*", "").replaceAll("[\\s{};]+", "");
                        assertTrue(reported.contains(bare), () -> name + " has lost: " + line);
                        counted++;
                    }
                }
            }
        }
        assertTrue(counted > 0, "counted " + counted);
        assertEquals(
                result.lines().size(),
                result.counts().values().stream().mapToInt(Integer::intValue).sum());
    }
}
