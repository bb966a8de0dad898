package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;

/** The calculation of ages (RFC 9111 s4.2.3). Thread-safe: no state. */
public final class CurrentAge {

    private CurrentAge() {}

    /**
     * Returns the {@code corrected_initial_age} in milliseconds. It is the larger of two values: the time from Date to
     * receipt, and Age plus the response delay.
     */
    public static long initialMillis(FieldSection responseFields, long requestTimeMillis, long responseTimeMillis) {
        long receivedSeconds = Math.floorDiv(responseTimeMillis, 1000L);
        long date = Freshness.dateSeconds(responseFields, receivedSeconds);
        long apparentMillis = Math.max(0, receivedSeconds - date) * 1000;
        long delayMillis = Math.max(0, responseTimeMillis - requestTimeMillis);
        return Math.max(apparentMillis, ageFieldSeconds(responseFields) * 1000 + delayMillis);
    }

    /** The response's current age in whole seconds. */
    public static long seconds(StoredHead stored, long nowMillis) {
        return millis(stored, nowMillis) / 1000;
    }

    /**
     * The response's current age in milliseconds. A clock that was set back does not reduce it below the initial age.
     */
    static long millis(StoredHead stored, long nowMillis) {
        return millis(stored.initialAgeMillis(), stored.responseTimeMillis(), nowMillis);
    }

    /** Returns the current age in whole seconds of a response. */
    public static long seconds(long initialMillis, long responseMillis, long nowMillis) {
        return millis(initialMillis, responseMillis, nowMillis) / 1000;
    }

    private static long millis(long initialMillis, long responseMillis, long nowMillis) {
        return initialMillis + Math.max(0, nowMillis - responseMillis);
    }

    /**
     * Returns the first member of Age; 0 when it is absent or invalid, since an invalid field is ignored (RFC 9111
     * s5.1). If a parameter follows the number, the number still counts, because an age of 0 would make the response
     * look new.
     */
    private static long ageFieldSeconds(FieldSection fields) {
        if (!fields.contains(FieldName.AGE)) {
            return 0;
        }
        ListCursor members = ListCursor.over(fields, FieldName.AGE);
        if (!members.next()) {
            return 0;
        }
        byte[] b = members.bytes();
        int end = members.start();
        while (end < members.end() && b[end] != ';') {
            end++;
        }
        return Math.max(0, FieldLexer.deltaSeconds(b, members.start(), FieldLexer.trimEnd(b, members.start(), end)));
    }
}
