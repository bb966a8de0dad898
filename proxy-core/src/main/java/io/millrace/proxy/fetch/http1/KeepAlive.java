package io.millrace.proxy.fetch.http1;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.util.concurrent.TimeUnit;

/**
 * Reads the idle timeout that an origin announces for its connections: {@code Keep-Alive: timeout=5, max=100} (RFC 2068
 * s19.7.1.1).
 *
 * <p>This proxy closes the connection one second before the origin does. So no request is sent on a connection that the
 * origin is closing, where a non-idempotent request would fail without a retry.
 *
 * <p>Thread-safe: no state.
 */
public final class KeepAlive {

    /** The origin announces no timeout. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private static final String TIMEOUT = "timeout=";
    private static final long MARGIN_SECONDS = 1;

    private KeepAlive() {}

    /** Returns the time to keep the idle connection, in nanoseconds; 0 when the announced timeout is too short. */
    public static long idleNanos(FieldSection fields) {
        if (!fields.contains(FieldName.KEEP_ALIVE)) {
            return UNLIMITED;
        }
        ListCursor members = ListCursor.over(fields, FieldName.KEEP_ALIVE);
        while (members.next()) {
            int number = members.start() + TIMEOUT.length();
            if (number < members.end()
                    && FieldLexer.equalsIgnoreCase(members.bytes(), members.start(), number, TIMEOUT)) {
                long seconds = FieldLexer.deltaSeconds(members.bytes(), number, members.end());
                if (seconds != FieldLexer.NOT_A_NUMBER) {
                    return TimeUnit.SECONDS.toNanos(Math.max(0, seconds - MARGIN_SECONDS));
                }
            }
        }
        return UNLIMITED;
    }
}
