package io.millrace.proxy.admin.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Checks and reloads the configuration. Thread-safe. */
public interface ConfigControl {
    /** Checks a file without using it. Called on a thread that may block. */
    CheckReport check(Path file);

    /** Reads the configuration file again and takes it over if all of it is valid. Called on a thread that may block. */
    CompletionStage<ReloadReport> reload();

    /** A checked file: whether it could be used, and what was found, warnings included. */
    record CheckReport(boolean ok, List<Problem> problems) {
        /** A report in which every problem is an error. */
        public CheckReport(List<Problem> problems) {
            this(problems.isEmpty(), problems);
        }
    }

    /**
     * Something wrong in a configuration file. Immutable.
     *
     * @param file the file
     * @param line counted from 1, 0 when the problem has no place
     * @param column counted from 1, 0 when the problem has no place
     * @param path the key, such as {@code cache.ram_size}
     * @param message what is wrong
     * @param suggestion what it could have meant, or null
     * @param text all of it in one line, as {@code config check} prints it
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
     * What became of each changed setting, the problems when nothing was taken over, and what else there is to know, a
     * sentence each.
     */
    record ReloadReport(boolean ok, List<Setting> settings, List<Problem> problems, List<String> notes) {
        /** A report of which nothing else is to be known. */
        public ReloadReport(boolean ok, List<Setting> settings, List<Problem> problems) {
            this(ok, settings, problems, List.of());
        }
    }

    /** A changed setting, the outcome of the change, and an explanation. */
    record Setting(String key, Result result, String detail) {}

    /** What became of a changed setting. */
    enum Result {
        /** In use now. */
        APPLIED,
        /** In use in a new worker; the old one drains. */
        ROLLED,
        /** Not in use: the change was refused. */
        REJECTED,
        /** In use after the launcher itself is started again. */
        RELAUNCH;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
