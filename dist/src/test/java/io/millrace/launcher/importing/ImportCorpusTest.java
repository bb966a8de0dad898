package io.millrace.launcher.importing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.launcher.nginx.NginxImport;
import io.millrace.launcher.squid.SquidImport;
import io.millrace.launcher.varnish.VarnishImport;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests over all sample configurations of an importer: number, outcomes, and the share without an equivalent. */
final class ImportCorpusTest {
    private static final int SAMPLES_MIN = 30;
    private static final double SHARE_MIN = 0.8;

    private enum Importer {
        NGINX,
        VARNISH,
        SQUID;

        private Goldens samples() {
            return new Goldens(name().toLowerCase(Locale.ROOT));
        }

        private ImportResult read(Path path) {
            return switch (this) {
                case NGINX -> NginxImport.read(path, null);
                case VARNISH -> VarnishImport.read(path);
                case SQUID -> SquidImport.read(path);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void fourOfFiveDirectivesAreMappedAndEachHasAnOutcome(Importer importer) {
        Goldens goldens = importer.samples();
        List<String> samples = goldens.names();
        assertTrue(samples.size() >= SAMPLES_MIN, () -> importer + " has only " + samples.size() + " samples");
        Map<Outcome, Integer> counts = new TreeMap<>();
        Map<String, Integer> missing = new TreeMap<>();
        for (String sample : samples) {
            ImportResult result = importer.read(goldens.path(sample));
            check(sample, result);
            result.counts().forEach((outcome, count) -> counts.merge(outcome, count, Integer::sum));
            result.lines().stream()
                    .filter(line -> line.outcome() == Outcome.NOT_MAPPED)
                    .forEach(line -> missing.merge(firstWord(line.text()), 1, Integer::sum));
        }
        int all = counts.values().stream().mapToInt(Integer::intValue).sum();
        int set = counts.get(Outcome.MAPPED) + counts.get(Outcome.SAME_AS_DEFAULT);
        int without = counts.get(Outcome.NOT_MAPPED);
        double settings = set / (double) (set + without);
        System.out.printf(
                "%s: %d samples, %d directives: %s; %.1f %% of those that need a setting, %.1f %% of all%n  %s%n",
                importer, samples.size(), all, counts, 100 * settings, 100.0 * (all - without) / all, missing);
        assertTrue(settings >= SHARE_MIN, () -> importer + ": share " + settings + ", missing: " + missing);
    }

    /** Checks the configuration as {@code millrace config check} does, and that each line has an outcome. */
    private static void check(String sample, ImportResult result) {
        assertEquals(List.of(), result.problems(), sample);
        assertNotNull(result.yaml(), sample);
        ConfigResult config =
                ConfigLoader.parse(result.yaml(), "millrace.yaml", Path.of("").toAbsolutePath(), Map.of());
        assertTrue(config.isOk(), () -> sample + ": " + config.problems());
        List<ImportedLine> silent = new ArrayList<>();
        for (ImportedLine line : result.lines()) {
            boolean isExplained =
                    !line.note().isEmpty() && !line.note().equals("the importer does not understand the line");
            if (line.keys().isEmpty() && !isExplained) {
                silent.add(line);
            }
        }
        assertEquals(List.of(), silent, sample + ": lines without keys and without a reason");
    }

    private static String firstWord(String text) {
        String word = text.replaceAll("[\\s{(].*", "");
        boolean target = word.equals("set") || word.equals("unset") || word.equals("return");
        return target ? text.replaceAll("^(\\w+)\\s*\\(?\\s*([\\w.-]+).*", "$1 $2") : word;
    }
}
