package io.millrace.proxy.config.value;

import java.lang.management.ManagementFactory;

/** The memory available to this process. The control group may limit it to less than the memory of the machine. */
public final class SystemMemory {
    private static final long MIB = 1024 * 1024;

    private SystemMemory() {}

    /** Returns a quarter of the memory, in whole MiB, at least 16 MiB. */
    public static long quarterBytes() {
        return Math.max(16 * MIB, totalBytes() / 4 / MIB * MIB);
    }

    /** Returns the whole memory in bytes. */
    public static long totalBytes() {
        // The value of the JDK respects control groups, version 1 and 2, since JDK 15.
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            return system.getTotalMemorySize();
        }
        return Runtime.getRuntime().maxMemory();
    }
}
