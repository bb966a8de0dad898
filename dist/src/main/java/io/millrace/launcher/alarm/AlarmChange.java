package io.millrace.launcher.alarm;

import io.millrace.proxy.observe.alarm.Alarm;

/**
 * An alarm that was raised or cleared. Immutable.
 *
 * @param isRaised true if the alarm was raised, false if it was cleared
 * @param atMillis time of the change, epoch milliseconds
 */
record AlarmChange(Alarm alarm, boolean isRaised, long atMillis) {
    /** Returns {@code raised} or {@code cleared}. */
    String state() {
        return isRaised ? "raised" : "cleared";
    }
}
