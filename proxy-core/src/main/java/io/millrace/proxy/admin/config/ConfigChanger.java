package io.millrace.proxy.admin.config;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.resource.AdminCaller;
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
     * launcher (the parent process of the workers).
     *
     * @param settings text by key, in the format of {@code --set}
     * @param save true to write the keys into the file instead of overriding the file
     */
    default CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save) {
        return set(settings, save, AdminCaller.UNKNOWN);
    }

    /** Sets keys as {@link #set(Map, boolean)} does. Events about the change name the client. */
    CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save, AdminCaller caller);

    /**
     * Removes overrides.
     *
     * @param keys the keys; empty for all
     */
    default CompletionStage<ReloadReport> reset(List<String> keys) {
        return reset(keys, AdminCaller.UNKNOWN);
    }

    /** Removes overrides as {@link #reset(List)} does. Events about the change name the client. */
    CompletionStage<ReloadReport> reset(List<String> keys, AdminCaller caller);

    /**
     * Applies an earlier configuration again; the file does not change.
     *
     * @param entry number of an entry of the history; 0 for the previous configuration
     */
    default CompletionStage<ReloadReport> rollback(int entry) {
        return rollback(entry, AdminCaller.UNKNOWN);
    }

    /** Applies an earlier configuration as {@link #rollback(int)} does. Events about the change name the client. */
    CompletionStage<ReloadReport> rollback(int entry, AdminCaller caller);
}
