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
 * The detector of idle JIT compilers in this JVM. Not thread-safe.
 *
 * <p>Time is divided into windows of half a second. The compilers count as idle if they used little CPU time in two
 * consecutive windows, although requests were executed.
 */
final class CompilerWatch {
    private static final Logger LOG = LoggerFactory.getLogger(CompilerWatch.class);

    private static final long WINDOW_NANOS = 500_000_000;

    /** Number of consecutive idle windows that are required. */
    private static final int QUIET_WINDOWS = 2;

    /** Limit of compilation time in an idle window, in milliseconds. */
    private static final long QUIET_MILLIS = 20;

    private static final Pattern METHODS = Pattern.compile("\\bnmethods=(\\d+)");

    private final LongSupplier clock;
    private final LongSupplier compilation;
    /** Values at the start of the current window. */
    private long startNanos;

    private long startCompileMillis;
    private long startRequests;
    private int quietWindows;

    CompilerWatch() {
        this(System::nanoTime, compilation());
    }

    /**
     * @param clock time in nanoseconds
     * @param compilation total compilation time in milliseconds; a negative number if it is unknown
     */
    CompilerWatch(LongSupplier clock, LongSupplier compilation) {
        this.clock = clock;
        this.compilation = compilation;
        startNanos = clock.getAsLong();
        startCompileMillis = compilation.getAsLong();
    }

    /**
     * Returns a supplier of the total compilation time. Prefers the CPU time of the compiler threads, which the kernel
     * also counts during a compilation. The JVM counts a compilation only at its end, which may be seconds later.
     */
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
     * Ends the current window if it is over, and returns true if the compilers have become idle. Always false if
     * compilation times are unknown.
     *
     * @param requests number of requests answered so far
     * @param enough minimum number of requests in a window
     */
    boolean checkIdle(long requests, long enough) {
        long now = clock.getAsLong();
        if (startCompileMillis < 0 || now - startNanos < WINDOW_NANOS || requests - startRequests < enough) {
            return false;
        }
        long compileMillis = compilation.getAsLong();
        quietWindows = compileMillis - startCompileMillis <= QUIET_MILLIS ? quietWindows + 1 : 0;
        LOG.debug("requests {}, compilation {} ms", requests - startRequests, compileMillis - startCompileMillis);
        startNanos = now;
        startCompileMillis = compileMillis;
        startRequests = requests;
        return quietWindows >= QUIET_WINDOWS;
    }

    /** Returns the number of compiled methods in the code cache. Returns 0 if the JVM does not report it. */
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
            LOG.debug("the number of compiled methods cannot be read: {}", e.toString());
            return 0;
        }
    }
}
