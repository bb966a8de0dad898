package io.millrace.bench.store;

import java.nio.file.Path;
import java.util.Arrays;

/**
 * Runs one workload against a store on disk and prints the results.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.store.StoreDriver write   DIRECTORY [GIBIBYTES [LENGTH]]
 *   java -cp benchmarks.jar io.millrace.bench.store.StoreDriver reopen  DIRECTORY [OBJECTS]
 *   java -cp benchmarks.jar io.millrace.bench.store.StoreDriver reclaim DIRECTORY [GIBIBYTES]
 *   java -cp benchmarks.jar io.millrace.bench.store.StoreDriver soak    DIRECTORY [REQUESTS]
 *   java -cp benchmarks.jar io.millrace.bench.store.StoreDriver direct  DIRECTORY|DEVICE [MEBIBYTES [LENGTH]]
 * </pre>
 *
 * <p>The directory is created if missing; the files of the workload are deleted at the end. The exit code is 1 if a
 * required result was not reached, and 2 for missing arguments. {@code reopen} starts this program with the workload
 * {@code fill} as a process of its own, and kills it.
 */
public final class StoreDriver {
    private StoreDriver() {}

    /** Runs the workload in the arguments. */
    public static void main(String[] args) throws Exception {
        if (args.length < 2) {
            System.err.println("usage: StoreDriver write|reopen|reclaim|soak|direct DIRECTORY [AMOUNT]");
            System.exit(2);
        }
        Path directory = Path.of(args[1]);
        String[] more = Arrays.copyOfRange(args, 2, args.length);
        boolean passed =
                switch (args[0]) {
                    case "write" ->
                        WriteWorkload.run(
                                directory, number(more, 4), more.length < 2 ? WriteWorkload.LENGTHS : lengths(more[1]));
                    case "reopen" -> ReopenWorkload.run(directory, number(more, 10_000_000));
                    case "reclaim" -> ReclaimWorkload.run(directory, number(more, 4));
                    case "soak" -> SoakWorkload.run(directory, number(more, 24_000_000));
                    case "direct" ->
                        DirectWriteWorkload.run(
                                directory,
                                number(more, 2048),
                                more.length < 2 ? DirectWriteWorkload.LENGTHS : lengths(more[1]));
                    case "fill" -> ReopenWorkload.fill(directory, number(more, 10_000_000));
                    default -> throw new IllegalArgumentException("unknown workload " + args[0]);
                };
        System.exit(passed ? 0 : 1);
    }

    private static long[] lengths(String only) {
        return new long[] {Long.parseLong(only)};
    }

    private static long number(String[] args, long otherwise) {
        return args.length == 0 ? otherwise : Long.parseLong(args[0].replace("_", ""));
    }
}
