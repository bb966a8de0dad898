package io.millrace.worker.control;

import java.util.Map;

/** How the log of this process is written: with times, or with priorities where systemd's journal reads it. */
public final class ProcessLog {
    private static final String CONFIGURATION = "log4j2.configurationFile";

    private ProcessLog() {}

    /** Chooses by {@code environment}, unless the JVM's command line says otherwise. Before the first logger is made. */
    public static void choose(Map<String, String> environment) {
        if (environment.containsKey("JOURNAL_STREAM") && System.getProperty(CONFIGURATION) == null) {
            System.setProperty(CONFIGURATION, "classpath:log4j2-journal.properties");
        }
    }
}
