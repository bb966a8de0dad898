package io.millrace.worker.control;

import java.util.Map;

/**
 * Selects the log format of this process. Each line begins with its time, or with its priority if the systemd journal
 * reads the log. Stateless.
 */
public final class ProcessLog {
    private static final String CONFIGURATION = "log4j2.configurationFile";

    private ProcessLog() {}

    /**
     * Selects the format by the environment variables, unless a system property sets the log configuration. Must be
     * called before the first logger is created.
     */
    public static void choose(Map<String, String> environment) {
        if (environment.containsKey("JOURNAL_STREAM") && System.getProperty(CONFIGURATION) == null) {
            System.setProperty(CONFIGURATION, "classpath:log4j2-journal.properties");
        }
    }
}
