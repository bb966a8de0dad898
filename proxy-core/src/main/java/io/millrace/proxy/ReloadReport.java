package io.millrace.proxy;

import java.util.List;

/**
 * The result of a reload: the outcome for each setting whose value has changed.
 *
 * <p>Immutable.
 */
public record ReloadReport(List<Setting> settings) {
    /** Copies the list. */
    public ReloadReport {
        settings = List.copyOf(settings);
    }

    /** The outcome for one setting. */
    public enum Result {
        /** The new value is in use. */
        APPLIED,
        /** The new value takes effect in a new proxy only. This proxy keeps the old value. */
        NEEDS_NEW_PROXY
    }

    /**
     * One changed setting.
     *
     * @param key name of the configuration key
     * @param result outcome of the change
     */
    public record Setting(String key, Result result) {}

    /** Returns true if all changes were applied. */
    public boolean isComplete() {
        return settings.stream().allMatch(setting -> setting.result() == Result.APPLIED);
    }
}
