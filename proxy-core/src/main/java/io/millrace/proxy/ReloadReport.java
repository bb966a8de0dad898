package io.millrace.proxy;

import java.util.List;

/**
 * The outcome of each setting that differs between two configurations.
 *
 * <p>Immutable.
 */
public record ReloadReport(List<Setting> settings) {
    /** Copies the list. */
    public ReloadReport {
        settings = List.copyOf(settings);
    }

    /** The outcome of a setting. */
    public enum Result {
        /** The new value is in force. */
        APPLIED,
        /** The new value needs a new proxy; this one keeps the old value. */
        NEEDS_NEW_PROXY
    }

    /**
     * One changed setting.
     *
     * @param key name in the catalogue
     * @param result outcome of the change
     */
    public record Setting(String key, Result result) {}

    /** Returns true if every change is in force. */
    public boolean isComplete() {
        return settings.stream().allMatch(setting -> setting.result() == Result.APPLIED);
    }
}
