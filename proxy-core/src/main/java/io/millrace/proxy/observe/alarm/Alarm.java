package io.millrace.proxy.observe.alarm;

import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;

/**
 * A lasting condition that needs an operator, such as an offline disk. Kind and subject identify an alarm. Immutable.
 *
 * @param kind the kind, which determines the severity
 * @param subject the object of the alarm, such as a path, a group or a file; at most {@value Event#SUBJECT_LENGTH_MAX}
 *     characters
 * @param text one sentence for operators; at most {@value Event#TEXT_LENGTH_MAX} characters
 * @param sinceMillis time of day at which the alarm was raised, epoch milliseconds; -1 if it is not known
 */
public record Alarm(AlarmKind kind, String subject, String text, long sinceMillis) {
    /**
     * Limit of alarms of a kind that a worker (proxy process) lists. Without it, each of tens of thousands of
     * certificates could have an alarm in the list.
     */
    public static final int OF_A_KIND_MAX = 100;

    /** Cuts and cleans the texts as {@link Event} does. */
    public Alarm {
        Event plain = new Event(0, EventKind.ALARM_RAISED, subject, text);
        subject = plain.subject();
        text = plain.text();
    }

    /** Returns true if the other object is the same alarm, possibly with another text or time. */
    public boolean isSameAs(Alarm other) {
        return kind == other.kind && subject.equals(other.subject);
    }

    /** Returns this alarm with another time. */
    public Alarm since(long millis) {
        return new Alarm(kind, subject, text, millis);
    }
}
