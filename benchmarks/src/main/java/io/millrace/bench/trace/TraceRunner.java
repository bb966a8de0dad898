package io.millrace.bench.trace;

import io.millrace.store.DiskAdmission;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Replays traces through the RAM tier, the disk tier, and both together, and prints the hit ratios. Cache sizes
 * ({@code --sizes}) are percentages of the total size of the objects in the trace. The hit ratios of LRU, FIFO and
 * plain Caffeine are printed for comparison.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.trace.TraceRunner [FILE…] [--synthetic scans|shifting|sizes] [--seed 1]
 *        [--sizes 1,5,10,25] [--tier ram|disk|both|all] [--admission always|second-hit|frequency]
 *        [--directory DIRECTORY]
 * </pre>
 *
 * A file has lines of {@code time,id,size}; {@code .gz} files are decompressed. If all sizes are 1, each object counts
 * {@value Trace#UNIT_BYTES} bytes. If both tiers are used together, RAM gets a tenth of the size and the disk nine
 * tenths. {@link StoreReplay} describes how the overhead of the store is counted. {@code --synthetic} adds a generated
 * trace of {@link SyntheticTrace}.
 */
public final class TraceRunner {
    private static final String USAGE = "usage: TraceRunner [FILE...] [--synthetic scans|shifting|sizes] [--seed 1]"
            + " [--sizes 1,5,10,25] [--tier ram|disk|both|all] [--admission always|second-hit|frequency]"
            + " [--directory DIRECTORY]";
    /** If both tiers are used together, RAM gets the cache size divided by this number. */
    private static final int RAM_DIVISOR = 10;

    private final List<Path> files = new ArrayList<>();
    private final List<SyntheticTrace> synthetic = new ArrayList<>();
    private long seed = 1;
    private List<Double> sizes = List.of(1.0, 5.0, 10.0, 25.0);
    private String tier = "all";
    private DiskAdmission admission = DiskAdmission.FREQUENCY;
    private Path directory = inMemory();

    private TraceRunner() {}

    /** Replays the traces and prints the results; see the class for the arguments. */
    public static void main(String[] arguments) throws IOException {
        TraceRunner runner = new TraceRunner();
        try {
            runner.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println(USAGE);
            System.exit(2);
        }
        for (Path file : runner.files) {
            runner.table(Trace.read(file), System.out);
        }
        for (SyntheticTrace one : runner.synthetic) {
            runner.table(one.make(runner.seed), System.out);
        }
    }

    /** Returns a directory on a file system in memory if there is one, otherwise the temporary directory. */
    private static Path inMemory() {
        Path shared = Path.of("/dev/shm");
        return Files.isWritable(shared) ? shared : Path.of(System.getProperty("java.io.tmpdir"));
    }

    private void parse(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            String argument = arguments[i];
            if (!argument.startsWith("--")) {
                files.add(Path.of(argument));
                continue;
            }
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(argument + ": value missing");
            }
            String value = arguments[++i];
            switch (argument) {
                case "--sizes" -> sizes = sizes(value);
                case "--tier" -> tier = oneOf(argument, value, List.of("ram", "disk", "both", "all"));
                case "--admission" ->
                    admission =
                            DiskAdmission.valueOf(oneOf(argument, value, List.of("always", "second-hit", "frequency"))
                                    .replace('-', '_')
                                    .toUpperCase(Locale.ROOT));
                case "--synthetic" ->
                    synthetic.add(SyntheticTrace.valueOf(oneOf(argument, value, List.of("scans", "shifting", "sizes"))
                            .toUpperCase(Locale.ROOT)));
                case "--seed" -> seed = Long.parseLong(value);
                case "--directory" -> directory = Path.of(value);
                default -> throw new IllegalArgumentException(argument + ": unknown");
            }
        }
        if (files.isEmpty() && synthetic.isEmpty()) {
            throw new IllegalArgumentException("FILE or --synthetic missing");
        }
    }

    private static List<Double> sizes(String value) {
        List<Double> percents = new ArrayList<>();
        for (String one : value.split(",", -1)) {
            double percent = Double.parseDouble(one);
            if (!(percent > 0)) {
                throw new IllegalArgumentException("--sizes: actual=" + one + ", expected percents above 0");
            }
            percents.add(percent);
        }
        return percents;
    }

    private static String oneOf(String argument, String value, List<String> known) {
        if (!known.contains(value)) {
            throw new IllegalArgumentException(argument + ": actual=" + value + ", expected one of " + known);
        }
        return value;
    }

    private boolean wants(String one) {
        return tier.equals("all") || tier.equals(one);
    }

    private void table(Trace trace, PrintStream out) throws IOException {
        out.println("### " + trace.name() + ": " + trace.length() + " requests, " + trace.objects() + " objects, "
                + trace.footprint() + " bytes, admission "
                + admission.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        out.println();
        out.println("Hit ratio in percent of requests (of bytes); WA is the disk's write amplification.");
        out.println();
        out.println("| size | LRU | FIFO | Caffeine | RAM tier | disk tier | WA | RAM and disk | WA |");
        out.println("|---|---|---|---|---|---|---|---|---|");
        for (double percent : sizes) {
            out.println(row(trace, percent));
        }
        out.println();
    }

    private String row(Trace trace, double percent) throws IOException {
        long bytes = Math.round(trace.footprint() * percent / 100);
        StringBuilder row = new StringBuilder(96).append("| ").append(percent).append(" % |");
        for (ReferencePolicy policy : ReferencePolicy.values()) {
            row.append(' ').append(text(policy.replay(trace, bytes))).append(" |");
        }
        row.append(' ')
                .append(wants("ram") ? text(replay(trace, bytes, 0)) : "")
                .append(" |");
        long ram = bytes / RAM_DIVISOR;
        row.append(wants("disk") ? withDisk(replay(trace, 0, bytes)) : " | |");
        return row.append(wants("both") ? withDisk(replay(trace, ram, bytes - ram)) : " | |")
                .toString();
    }

    /** Replays the trace in a new directory, which is deleted afterwards. */
    private HitRatio replay(Trace trace, long ramBytes, long diskBytes) throws IOException {
        return replay(trace, ramBytes, diskBytes, admission, directory);
    }

    static HitRatio replay(Trace trace, long ramBytes, long diskBytes, DiskAdmission admission, Path parent)
            throws IOException {
        Path volume = Files.createTempDirectory(parent, "millrace-trace");
        try {
            return StoreReplay.replay(trace, ramBytes, diskBytes, admission, volume);
        } finally {
            try (var paths = Files.walk(volume)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static String text(HitRatio ratio) {
        return String.format(Locale.ROOT, "%.1f (%.1f)", ratio.objects(), ratio.bytes());
    }

    private static String withDisk(HitRatio ratio) {
        return String.format(Locale.ROOT, " %s | %.1f |", text(ratio), ratio.writeAmplification());
    }
}
