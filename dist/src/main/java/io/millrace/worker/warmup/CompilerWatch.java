package io.millrace.worker.warmup;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the JIT compilers of this JVM, and tells whether they have become quiet. Confined to one thread.
 *
 * <p>They are quiet when they have used little CPU time in each of the last windows, in which there was enough load.
 */
final class CompilerWatch {
    private static final Logger LOG = LoggerFactory.getLogger(CompilerWatch.class);

    private static final long WINDOW_NANOS = 500_000_000;

    /** Windows one after the other. */
    private static final int QUIET_WINDOWS = 2;

    /** Milliseconds of compilation in a window that count as none. */
    private static final long QUIET_MILLIS = 20;

    private static final Pattern METHODS = Pattern.compile("\\bnmethods=(\\d+)");

    private final LongSupplier clock;
    private final LongSupplier compilation;
    private long windowStartNanos;
    private long windowStartMillis;
    private long windowRequests;
    private int quietWindows;

    CompilerWatch() {
        this(System::nanoTime, compilation());
    }

    /**
     * @param clock time in nanoseconds
     * @param compilation milliseconds that the compilers have used so far; below zero where that is not known
     */
    CompilerWatch(LongSupplier clock, LongSupplier compilation) {
        this.clock = clock;
        this.compilation = compilation;
        windowStartNanos = clock.getAsLong();
        windowStartMillis = compilation.getAsLong();
    }

    /** The kernel counts while a method is compiled, and the JVM only when that is done, which may take seconds. */
    private static LongSupplier compilation() {
        CompilerThreads threads = CompilerThreads.ofThisProcess();
        if (threads.cpuMillis() >= 0) {
            return threads::cpuMillis;
        }
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers != null && compilers.isCompilationTimeMonitoringSupported()
                ? compilers::getTotalCompilationTime
                : () -> -1;
    }

    /**
     * Whether the compilers have become quiet. A JVM that does not say what they do is never quiet.
     *
     * @param requests answered so far
     * @param enough requests of a window that keep the compilers informed
     */
    boolean isQuiet(long requests, long enough) {
        long now = clock.getAsLong();
        if (windowStartMillis < 0 || now - windowStartNanos < WINDOW_NANOS || requests - windowRequests < enough) {
            return false;
        }
        long millis = compilation.getAsLong();
        quietWindows = millis - windowStartMillis <= QUIET_MILLIS ? quietWindows + 1 : 0;
        LOG.debug("requests {}, compilation {} ms", requests - windowRequests, millis - windowStartMillis);
        windowStartNanos = now;
        windowStartMillis = millis;
        windowRequests = requests;
        return quietWindows >= QUIET_WINDOWS;
    }

    /** Compiled methods in the code cache; 0 where the JVM does not say. */
    static long methods() {
        try {
            Object text = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "compilerCodecache",
                            new Object[0],
                            new String[0]);
            Matcher matcher = METHODS.matcher(String.valueOf(text));
            return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
        } catch (JMException e) {
            LOG.debug("the number of compiled methods is not known: {}", e.toString());
            return 0;
        }
    }
}
