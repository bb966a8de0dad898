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
 * Entry point of the JVM that records the class archive. Runs the workload of a {@linkplain WarmUp warm-up} once.
 *
 * <p>An AOT cache also contains profiles of methods. Its recording lasts until the JIT compilers are idle. A class data
 * sharing archive contains only classes, which are loaded within a few seconds.
 */
public final class Rehearsal {
    /** First JDK release whose archive is an AOT cache. */
    private static final int FEATURE_WITH_AOT_CACHE = 25;

    private static final Duration LIMIT_WITH_PROFILES = Duration.ofSeconds(30);
    private static final Duration LIMIT_WITHOUT_PROFILES = Duration.ofSeconds(5);

    private Rehearsal() {}

    /**
     * Records the archive.
     *
     * @param arguments a directory for temporary files, empty before and after
     */
    public static void main(String[] arguments) {
        boolean profiles = Runtime.version().feature() >= FEATURE_WITH_AOT_CACHE;
        Duration limit = profiles ? LIMIT_WITH_PROFILES : LIMIT_WITHOUT_PROFILES;
        WarmUpReport report = perform(Path.of(arguments[0]).resolve("warm-up"), limit);
        PrintStream out = report.outcome() == Outcome.FAILED ? System.err : System.out;
        out.println("rehearsal: " + report);
        System.exit(report.outcome() == Outcome.FAILED ? 1 : 0);
    }

    /** Runs the workload, for at most {@code limit}. */
    static WarmUpReport perform(Path directory, Duration limit) {
        load(Worker.class, ControlLink.class, DescriptorExchange.class, ControlCodec.class, MillraceProxy.class);
        try (WarmUp warmUp = WarmUp.start(WarmUpPlan.withAllCores(directory, limit, ProxyConfig.defaults()))) {
            return warmUp.finished().join();
        }
    }

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
