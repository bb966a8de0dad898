package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ControlCodec;
import io.millrace.worker.warmup.WarmUp;
import io.millrace.worker.warmup.WarmUpPlan;
import io.millrace.worker.warmup.WarmUpReport;
import io.millrace.worker.warmup.WarmUpReport.Outcome;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The main class of the JVM that records the class archive. The JDK calls this a "training run". It executes the
 * workload of a {@linkplain WarmUp warm-up} once, so that the JVM loads the classes of a worker.
 *
 * <p>An AOT cache also contains profiles of methods, so its recording lasts until the JIT compilers are idle. An
 * archive of class data sharing (CDS) contains only classes, which are loaded within a few seconds.
 */
public final class TrainingRun {
    /** First JDK release whose archive is an AOT cache. */
    private static final int FEATURE_WITH_AOT_CACHE = 25;

    private static final Duration LIMIT_WITH_PROFILES = Duration.ofSeconds(30);
    private static final Duration LIMIT_WITHOUT_PROFILES = Duration.ofSeconds(5);

    private TrainingRun() {}

    /**
     * Records the archive.
     *
     * @param arguments one argument: a directory for temporary files, which is empty before and after the run
     */
    public static void main(String[] arguments) {
        boolean profiles = Runtime.version().feature() >= FEATURE_WITH_AOT_CACHE;
        Duration limit = profiles ? LIMIT_WITH_PROFILES : LIMIT_WITHOUT_PROFILES;
        WarmUpReport report = perform(Path.of(arguments[0]).resolve("warm-up"), limit);
        PrintStream out = report.outcome() == Outcome.FAILED ? System.err : System.out;
        out.println("training run: " + report);
        System.exit(report.outcome() == Outcome.FAILED ? 1 : 0);
    }

    /** Executes the workload, for at most {@code limit}. */
    static WarmUpReport perform(Path directory, Duration limit) {
        load(Worker.class, ControlLink.class, DescriptorExchange.class, ControlCodec.class, MillraceProxy.class);
        try (WarmUp warmUp = WarmUp.start(WarmUpPlan.complete(directory, limit, ProxyConfig.defaults()))) {
            return warmUp.finished().join();
        }
    }

    /** Loads classes of a worker that the workload does not use. */
    private static void load(Class<?>... classes) {
        for (Class<?> loaded : classes) {
            try {
                Class.forName(loaded.getName());
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
