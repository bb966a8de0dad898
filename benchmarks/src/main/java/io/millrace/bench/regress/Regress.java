package io.millrace.bench.regress;

import io.millrace.bench.caching.ReuseBenchmark;
import io.millrace.bench.caching.StorableHeadBenchmark;
import io.millrace.bench.http1.StoredHeadWriteBenchmark;
import io.millrace.bench.remap.RemapBenchmark;
import io.millrace.bench.store.IndexLookupBenchmark;
import io.millrace.bench.store.RamHitBenchmark;
import io.millrace.bench.store.StoreMissBenchmark;
import io.millrace.proxy.http1.RequestReadBenchmark;
import io.millrace.proxy.http2.FieldBlockBenchmark;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the benchmarks of the stages of a hit and of a stored miss, and compares the results with budgets:
 * {@code Regress [--quick] [FILE]}. FILE contains the budgets; the default is a resource of this package. With
 * {@code --write FILE}, the command writes the results to FILE as new budgets. A quick run uses one process per
 * benchmark and checks allocation only, because times of memory-bound code differ by half between processes. It
 * measures a benchmark that exceeds its budget once more with a longer warm-up, because code that is not compiled yet
 * allocates more, and a busy machine compiles late. The exit code is 0 if all budgets are met, 1 if one of them is
 * exceeded, and 2 for wrong arguments.
 */
public final class Regress {
    private static final String BUDGETS = "budgets.txt";
    private static final String YARDSTICK = "YardstickBenchmark.round";
    private static final List<Class<?>> STAGES = List.of(
            YardstickBenchmark.class,
            RequestReadBenchmark.class,
            RemapBenchmark.class,
            RamHitBenchmark.class,
            IndexLookupBenchmark.class,
            ReuseBenchmark.class,
            StoredHeadWriteBenchmark.class,
            FieldBlockBenchmark.class,
            StorableHeadBenchmark.class,
            StoreMissBenchmark.class);

    private static final int REPEATED_WARM_UP_SECONDS = 15;

    private Regress() {}

    /** Runs the comparison and exits with its exit code. */
    public static void main(String[] args) throws IOException, RunnerException {
        List<String> rest = new ArrayList<>(List.of(args));
        boolean quick = rest.remove("--quick");
        boolean write = rest.remove("--write");
        if (rest.size() > 1 || (write && rest.size() != 1) || rest.stream().anyMatch(a -> a.startsWith("-"))) {
            System.err.println("usage: regress [--quick] [FILE] | regress [--quick] --write FILE");
            System.exit(2);
        }
        @Nullable Path file = rest.isEmpty() ? null : Path.of(rest.get(0));
        // The budget file is read before the run, which takes minutes, so that an invalid file is reported at once.
        Map<String, Budget> budgets = write ? Map.of() : Budget.parse(lines(file));
        Map<String, Measured> measured =
                run(quick, STAGES.stream().map(Class::getSimpleName).toList(), quick ? 2 : 5);
        Measured yardstick = Objects.requireNonNull(measured.remove(YARDSTICK), YARDSTICK);
        if (write) {
            Files.write(Objects.requireNonNull(file), Budget.format(measured, yardstick, !quick));
            System.exit(0);
        }
        if (quick) {
            budgets.replaceAll((name, budget) -> budget.withoutTime());
            measured.putAll(repeat(budgets, measured, yardstick));
        }
        System.exit(report(budgets, measured, yardstick) ? 0 : 1);
    }

    private static List<String> lines(@Nullable Path file) throws IOException {
        if (file != null) {
            return Files.readAllLines(file);
        }
        InputStream in = Objects.requireNonNull(Regress.class.getResourceAsStream(BUDGETS), BUDGETS);
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        }
    }

    /** Measures the benchmarks that exceed their budgets once more, with a longer warm-up. */
    private static Map<String, Measured> repeat(
            Map<String, Budget> budgets, Map<String, Measured> measured, Measured yardstick) throws RunnerException {
        Set<String> names = new TreeSet<>();
        for (Measured each : measured.values()) {
            Budget budget = budgets.get(each.name());
            if (budget != null && budget.excess(each, yardstick) != null) {
                System.out.println("again " + each.name() + ": " + budget.excess(each, yardstick));
                names.add(each.name().replaceFirst("\\[.*", ""));
            }
        }
        return names.isEmpty() ? Map.of() : run(true, names, REPEATED_WARM_UP_SECONDS);
    }

    /**
     * Runs benchmarks.
     *
     * @param names classes, or classes with methods
     */
    private static Map<String, Measured> run(boolean quick, Collection<String> names, int warmUpSeconds)
            throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .param("rules", "10", "100000")
                .param("objects", "100000")
                .param("entries", "100000")
                .forks(quick ? 1 : 3)
                .warmupIterations(warmUpSeconds)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(quick ? 2 : 5)
                .measurementTime(TimeValue.milliseconds(quick ? 500 : 1000));
        for (String name : names) {
            options.include("\\." + name + "(\\.|$)");
        }
        return Measured.of(new Runner(options.build()).run());
    }

    /** Prints the result of each benchmark. Returns true if all budgets are met. */
    private static boolean report(Map<String, Budget> budgets, Map<String, Measured> measured, Measured yardstick) {
        boolean allMet = true;
        for (Map.Entry<String, Measured> result : measured.entrySet()) {
            Budget budget = budgets.get(result.getKey());
            Measured found = result.getValue();
            String excess = budget == null ? "has no budget" : budget.excess(found, yardstick);
            allMet &= excess == null;
            System.out.printf(
                    Locale.ROOT,
                    "%-4s %-56s %8.1f B/op %9.1f +- %.1f ns%s%n",
                    excess == null ? "ok" : "FAIL",
                    result.getKey(),
                    found.bytes(),
                    found.nanos(),
                    found.errorNanos(),
                    excess == null ? "" : ": " + excess);
        }
        for (String name : budgets.keySet()) {
            if (!measured.containsKey(name)) {
                allMet = false;
                System.out.println("FAIL " + name + ": has a budget and was not run");
            }
        }
        System.out.printf(Locale.ROOT, "     yardstick %.1f +- %.1f ns%n", yardstick.nanos(), yardstick.errorNanos());
        return allMet;
    }
}
