package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;

/**
 * Records and undo of purges. Immutable.
 *
 * @param historyMax records kept
 * @param undoWindowMillis time in which a soft purge can be undone, 0 for never
 */
public record PurgeConfig(int historyMax, long undoWindowMillis) {
    public static PurgeConfig from(ConfigValues values) {
        return new PurgeConfig(
                values.get(PurgeKeys.HISTORY), values.get(PurgeKeys.UNDO_WINDOW).toMillis());
    }
}
