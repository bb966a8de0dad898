package io.millrace.proxy;

import java.util.List;

/**
 * What became of each setting that differs between two configurations.
 *
 * <p>Immutable.
 */
public record ReloadReport(List<Setting> settings) {
    /** Copies the list. */
    public ReloadReport {
        settings = List.copyOf(settings);
    }

    /** What became of a setting. */
    public enum Result {
        /** In use now. */
        APPLIED,
        /** In use in a proxy that is rebuilt; this one goes on with the old value. */
        NEEDS_NEW_PROXY
    }

    /**
     * One setting.
     *
     * @param key its name in the catalogue
     * @param result outcome of the change
     */
    public record Setting(String key, Result result) {}

    /** Whether every change is in use. */
    public boolean isComplete() {
        return settings.stream().allMatch(setting -> setting.result() == Result.APPLIED);
    }
}
