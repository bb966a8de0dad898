package io.millrace.proxy.observe.event;

import java.nio.charset.StandardCharsets;

/**
 * A notable event of operation, such as a reload or a failed disk, for operators. Immutable.
 *
 * @param atMillis time of day, epoch milliseconds
 * @param kind the kind of event, which determines the severity
 * @param subject the object of the event, such as a host, a path or a process; at most {@value
 * #SUBJECT_LENGTH_MAX} characters
 * @param text one sentence for operators; at most {@value #TEXT_LENGTH_MAX} characters
 * @param more number of earlier events of the same kind that were suppressed, because there were too many
 */
public record Event(long atMillis, EventKind kind, String subject, String text, long more) {
    /** Limit of a subject in characters; the rest is cut. */
    public static final int SUBJECT_LENGTH_MAX = 256;

    /** Limit of a text in characters; the rest is cut. */
    public static final int TEXT_LENGTH_MAX = 1024;

    /** Cuts long texts, and replaces characters that UTF-8 cannot encode or that would break a line. */
    public Event {
        subject = plain(subject, SUBJECT_LENGTH_MAX);
        text = plain(text, TEXT_LENGTH_MAX);
    }

    /** Creates an event before which no event of its kind was suppressed. */
    public Event(long atMillis, EventKind kind, String subject, String text) {
        this(atMillis, kind, subject, text, 0);
    }

    /** Returns a copy with the number of suppressed events of this kind. */
    Event withMore(long suppressed) {
        return new Event(atMillis, kind, subject, text, suppressed);
    }

    private static String plain(String text, int lengthMax) {
        String cut = text.length() > lengthMax ? text.substring(0, lengthMax - 3) + "..." : text;
        boolean isPlain = cut.chars().noneMatch(c -> c < ' ' || Character.isSurrogate((char) c));
        return isPlain
                ? cut
                : new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
                        .replaceAll("\\p{Cntrl}", " ");
    }
}
