package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;

/**
 * Settings of the history of purges, and of the undo of purges. Immutable.
 *
 * @param historyMax number of purges whose records are kept
 * @param undoWindowMillis time after a soft purge in which it can be undone; 0 for never
 */
public record PurgeConfig(int historyMax, long undoWindowMillis) {
    public static PurgeConfig from(ConfigValues values) {
        return new PurgeConfig(
                values.get(PurgeKeys.HISTORY), values.get(PurgeKeys.UNDO_WINDOW).toMillis());
    }
}
