package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.resource.AdminCaller;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Checks and reloads the configuration. Thread-safe. */
public interface ConfigControl {
    /** Checks a file without using it. Called on a thread that may block. */
    CheckReport check(Path file);

    /** Reads the configuration file again, and applies it if it is valid. Called on a thread that may block. */
    default CompletionStage<ReloadReport> reload() {
        return reload(AdminCaller.UNKNOWN);
    }

    /** Reloads as {@link #reload()} does. Events about the reload name the client. */
    CompletionStage<ReloadReport> reload(AdminCaller caller);

    /** The result of a check: whether the file is valid, and all problems, including warnings. */
    record CheckReport(boolean ok, List<Problem> problems) {
        /** Creates a report in which every problem is an error. */
        public CheckReport(List<Problem> problems) {
            this(problems.isEmpty(), problems);
        }
    }

    /**
     * A problem in a configuration file. Immutable.
     *
     * @param file the file
     * @param line line from 1; 0 for a problem without a place
     * @param column column from 1; 0 for a problem without a place
     * @param path the key, such as {@code cache.ram_size}
     * @param message description of the problem
     * @param suggestion a similar valid name, or null
     * @param text the problem in one line, in the format of {@code config check}
     */
    record Problem(
            String file,
            int line,
            int column,
            String path,
            String message,
            @Nullable String suggestion,
            String text) {}

    /**
     * The result of a reload. It contains the outcome of each changed setting, the problems if nothing was applied, and
     * notes of one sentence each.
     */
    record ReloadReport(boolean ok, List<Setting> settings, List<Problem> problems, List<String> notes) {
        /** Creates a report without notes. */
        public ReloadReport(boolean ok, List<Setting> settings, List<Problem> problems) {
            this(ok, settings, problems, List.of());
        }
    }

    /** A changed setting, the outcome of the change, and an explanation. */
    record Setting(String key, Result result, String detail) {}

    /** The outcome of a changed setting. */
    enum Result {
        /** In use now. */
        APPLIED,
        /** A new worker process uses the value; the old worker finishes its requests and ends. */
        ROLLED,
        /** The change was refused; the previous value stays in use. */
        REJECTED,
        /** The value comes into use only when the launcher (the parent process) is restarted. */
        RELAUNCH;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
