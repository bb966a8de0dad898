package io.millrace.worker.warmup;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the JIT compilers of this JVM do, and whether they have become quiet. Confined to one thread.
 *
 * <p>They are quiet when they have used little CPU time in each of the last windows, in which there was enough load.
 */
final class CompilerWatch {
    private static final Logger LOG = LoggerFactory.getLogger(CompilerWatch.class);

    private static final long WINDOW_NANOS = 500_000_000;

    /** Windows one after the other. */
    private static final int QUIET_WINDOWS = 2;

    /** Milliseconds of compilation in a window that count as none. */
    private static final long QUIET_MILLIS = 10;

    private static final Pattern METHODS = Pattern.compile("\\bnmethods=(\\d+)");

    private final @Nullable CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    private long windowStartNanos = System.nanoTime();
    private long windowStartMillis = compilationMillis();
    private long windowRequests;
    private int quietWindows;

    private long compilationMillis() {
        return compilers != null && compilers.isCompilationTimeMonitoringSupported()
                ? compilers.getTotalCompilationTime()
                : 0;
    }

    /**
     * Whether the compilers have become quiet. A JVM that does not say what they do is never quiet.
     *
     * @param requests answered so far
     * @param enough requests of a window that keep the compilers informed
     */
    boolean isQuiet(long requests, long enough) {
        long now = System.nanoTime();
        if (compilers == null || now - windowStartNanos < WINDOW_NANOS || requests - windowRequests < enough) {
            return false;
        }
        long millis = compilationMillis();
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
