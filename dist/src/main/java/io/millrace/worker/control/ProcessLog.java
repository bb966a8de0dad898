package io.millrace.worker.control;

import java.util.Map;

/** The log format of this process: with times, or with priorities if the systemd journal reads the log. */
public final class ProcessLog {
    private static final String CONFIGURATION = "log4j2.configurationFile";

    private ProcessLog() {}

    /**
     * Selects the format by {@code environment}, unless a system property sets the log configuration. Must run before
     * the first logger is created.
     */
    public static void choose(Map<String, String> environment) {
        if (environment.containsKey("JOURNAL_STREAM") && System.getProperty(CONFIGURATION) == null) {
            System.setProperty(CONFIGURATION, "classpath:log4j2-journal.properties");
        }
    }
}
