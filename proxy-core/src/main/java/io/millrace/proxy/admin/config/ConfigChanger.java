package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Changes the running configuration, or says what a change would do. Changes are made one after the other, each wholly or
 * not at all. Thread-safe; nothing blocks.
 */
public interface ConfigChanger {
    /**
     * What a reload of a file would do.
     *
     * @param file absolute; null for the file that runs
     */
    CompletionStage<ReloadReport> plan(@Nullable Path file);

    /**
     * Sets keys over the file, until they are reset, the file changes them, or the launcher ends.
     *
     * @param settings text by key, as {@code --set} takes it
     * @param save whether they are written into the file instead
     */
    CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save);

    /**
     * Takes away what was set over the file.
     *
     * @param keys none for all
     */
    CompletionStage<ReloadReport> reset(List<String> keys);

    /**
     * Runs an earlier configuration again; the file stays as it is.
     *
     * @param entry of the history; 0 for the one before the one that runs
     */
    CompletionStage<ReloadReport> rollback(int entry);
}
