package io.millrace.bench.trace;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the curve with full simulations, for generated traces and for the traces in a directory. */
class CurveAccuracyTest {
    private static final double ERROR_MAX = 1;
    private static final Path TRACES = Path.of(System.getProperty("millrace.traces", "../../shared/traces"))
            .toAbsolutePath();

    @Test
    void recordedTraces() throws IOException {
        assumeTrue(
                Files.isDirectory(TRACES),
                "SKIPPED: no directory " + TRACES + "; -Dmillrace.traces names one with *.csv.gz files");
        List<Trace> traces = new ArrayList<>();
        try (Stream<Path> files = Files.list(TRACES)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".csv.gz"))
                    .sorted()
                    .toList()) {
                traces.add(Trace.read(file));
            }
        }
        check(traces);
    }

    @Test
    void generatedTraces() {
        System.out.println("seed 1");
        check(List.of(SyntheticTrace.SCANS.make(1), SyntheticTrace.SIZES.make(1)));
    }

    private static void check(List<Trace> traces) {
        List<CurveAccuracy.Comparison> all = new ArrayList<>();
        for (Trace trace : traces) {
            all.addAll(CurveAccuracy.compare(trace));
        }
        all.forEach(System.out::println);
        double error = CurveAccuracy.mean(all, false);
        System.out.println("mean error in points: " + error + ", LRU: " + CurveAccuracy.mean(all, true));
        assertTrue(error <= ERROR_MAX, "mean error in points: " + error);
    }
}
