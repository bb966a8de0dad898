package io.millrace.proxy.config.value;

import java.lang.management.ManagementFactory;

/** The memory that this process may use: the machine's, or the limit of its control group where that is lower. */
public final class SystemMemory {
    private static final long MIB = 1024 * 1024;

    private SystemMemory() {}

    /** A quarter of the memory, in whole MiB, at least 16 MiB. */
    public static long quarterBytes() {
        return Math.max(16 * MIB, totalBytes() / 4 / MIB * MIB);
    }

    /** All of it. */
    public static long totalBytes() {
        // The JDK's figure knows control groups, version 1 and 2, since 15.
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            return system.getTotalMemorySize();
        }
        return Runtime.getRuntime().maxMemory();
    }
}
