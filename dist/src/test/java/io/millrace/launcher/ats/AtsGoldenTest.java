package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportReport;
import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.source.ImportedLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the sample directories in {@code src/test/resources/ats}. With {@code -Dmillrace.golden.write=true} the
 * expected files are rewritten.
 */
final class AtsGoldenTest {
    private static final Path SAMPLES = Path.of("src/test/resources/ats");
    private static final Path EXPECTED = Path.of("src/test/resources/ats-expected");

    static List<String> samples() {
        return List.of(
                "article-000",
                "article-001",
                "article-002",
                "article-004",
                "lines",
                "yaml",
                "strategies",
                "remap-yaml",
                "default-9.2",
                "default-10");
    }

    private static ImportResult read(String sample) {
        return AtsImport.read(SAMPLES.resolve(sample), Path.of("/opt/ats"));
    }

    /** Replaces paths of this machine by those of an installation. */
    private static String anywhere(String text, String sample) {
        return text.replace(SAMPLES.resolve(sample).toAbsolutePath().toString(), "/etc/trafficserver");
    }

    @ParameterizedTest
    @MethodSource("samples")
    void samplesAreImportedAsExpected(String sample) throws IOException {
        ImportResult result = read(sample);
        String yaml = anywhere(String.valueOf(result.yaml()), sample);
        String report = anywhere(String.join("\n", ImportReport.table(result)) + "\n", sample);
        Path expectedYaml = EXPECTED.resolve(sample + ".yaml");
        Path expectedReport = EXPECTED.resolve(sample + ".txt");
        if (Boolean.getBoolean("millrace.golden.write")) {
            Files.createDirectories(EXPECTED);
            Files.writeString(expectedYaml, yaml);
            Files.writeString(expectedReport, report);
        }
        assertEquals(Files.readString(expectedYaml), yaml);
        assertEquals(Files.readString(expectedReport), report);
    }

    @ParameterizedTest
    @MethodSource("samples")
    void everyLineOfEveryFileIsInTheReport(String sample) throws IOException {
        ImportResult result = read(sample);
        int counted = 0;
        try (Stream<Path> files = Files.walk(SAMPLES.resolve(sample))) {
            for (Path path : files.filter(Files::isRegularFile).sorted().toList()) {
                String name = SAMPLES.resolve(sample).relativize(path).toString();
                String reported = result.lines().stream()
                        .filter(line -> line.file().equals(name))
                        .map(ImportedLine::text)
                        .collect(Collectors.joining("\n"))
                        .replaceAll("\\s+", " ");
                for (String line : saying(path)) {
                    assertTrue(reported.contains(line), () -> name + " has lost: " + line);
                    counted++;
                }
            }
        }
        assertTrue(counted > 5, "counted " + counted);
        assertEquals(
                result.lines().size(),
                result.counts().values().stream().mapToInt(Integer::intValue).sum());
    }

    /** Returns the significant lines: neither blank lines nor comments nor the beginning of a section. */
    private static List<String> saying(Path path) throws IOException {
        List<String> saying = new ArrayList<>();
        boolean comment = false;
        for (String line : Files.readAllLines(path)) {
            String text = line.strip();
            comment |= text.startsWith("<!--");
            boolean section = path.toString().endsWith(".yaml") && text.endsWith(":");
            if (!comment && !text.isEmpty() && !text.startsWith("#") && !section) {
                String said = text.endsWith("\\") ? text.substring(0, text.length() - 1) : text;
                saying.add(said.strip().replaceAll("\\s+", " "));
            }
            comment &= !text.endsWith("-->");
        }
        return saying;
    }
}
