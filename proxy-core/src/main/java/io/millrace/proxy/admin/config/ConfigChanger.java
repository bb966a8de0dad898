package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Changes the configuration in use, or plans a change. Changes are applied one after another, each completely or not at
 * all. Thread-safe; never blocks.
 */
public interface ConfigChanger {
    /**
     * Returns the effect of a reload of a file.
     *
     * @param file absolute path; null for the file in use
     */
    CompletionStage<ReloadReport> plan(@Nullable Path file);

    /**
     * Sets keys that override the file. They last until a reset, a change of these keys in the file, or the end of the
     * launcher.
     *
     * @param settings text by key, in the form of {@code --set}
     * @param save whether to write them into the file instead
     */
    CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save);

    /**
     * Removes overrides.
     *
     * @param keys the keys; empty for all
     */
    CompletionStage<ReloadReport> reset(List<String> keys);

    /**
     * Applies an earlier configuration again; the file does not change.
     *
     * @param entry number of an entry of the history; 0 for the previous configuration
     */
    CompletionStage<ReloadReport> rollback(int entry);
}
