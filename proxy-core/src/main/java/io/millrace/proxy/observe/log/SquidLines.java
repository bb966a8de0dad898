package io.millrace.proxy.observe.log;

import java.util.concurrent.TimeUnit;

/**
 * The {@code squid} line format, as in Traffic Server.
 *
 * <pre>
 *   epoch.millis  duration-ms client code/status bytes method URL user hierarchy/host type
 *   1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://h/p - NONE/- text/html
 * </pre>
 */
final class SquidLines implements LineFormat {
    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        long receivedAtMillis = logged.receivedAtMillis();
        out.putDecimal(receivedAtMillis / 1000);
        out.put('.');
        out.putDecimal(receivedAtMillis % 1000, 3);
        out.put(' ');
        out.putDecimal(TimeUnit.NANOSECONDS.toMillis(logged.durationNanos()));
        out.put(' ');
        out.putClient(logged);
        out.put(' ');
        out.putAscii(code(logged));
        out.put('/');
        out.putDecimal(logged.status(), 3);
        out.put(' ');
        out.putDecimal(logged.headBytes() + logged.bodyBytes());
        out.put(' ');
        out.putWord(logged, LogField.METHOD);
        out.put(' ');
        out.putWord(logged, LogField.URL);
        out.put(' ');
        out.putWord(logged, LogField.USER);
        out.put(' ');
        out.putAscii(logged.hierarchy().name());
        out.put('/');
        out.putWord(logged, LogField.ORIGIN_HOST);
        out.put(' ');
        appendType(logged, out);
        out.endLine();
    }

    /** Appends the media type without its parameters, as in Squid and Traffic Server. */
    static void appendType(LoggedRecord logged, LineBuffer out) {
        int start = logged.textStart(LogField.CONTENT_TYPE);
        int end = start + logged.textLength(LogField.CONTENT_TYPE);
        int position = start;
        while (position < end && logged.bytes()[position] != ';' && logged.bytes()[position] != ' ') {
            position++;
        }
        if (position <= start) {
            out.put('-');
        } else {
            out.putWord(logged.bytes(), start, position - start);
        }
    }

    /** Returns the result code, such as {@code TCP_HIT}. It depends on the outcome, the cache result and its flags. */
    static String code(LoggedRecord logged) {
        if (logged.outcome() != LogOutcome.OK) {
            return logged.outcome().squidCode();
        }
        return switch (logged.cacheResult()) {
            case HIT -> hitCode(logged);
            case STALE -> "TCP_REF_FAIL_HIT";
            case REVALIDATED -> "TCP_REFRESH_HIT";
            case STALE_MISS -> "TCP_REFRESH_MISS";
            case REQUEST -> "TCP_CLIENT_REFRESH";
            case URI_MISS, VARY_MISS, PARTIAL -> logged.isCollapsed() ? "TCP_CF_HIT" : "TCP_MISS";
            case METHOD, BYPASS -> "TCP_MISS";
            case NONE -> "NONE";
        };
    }

    private static String hitCode(LoggedRecord logged) {
        if (logged.isNotModified()) {
            return "TCP_IMS_HIT";
        }
        if (logged.isCollapsed()) {
            return "TCP_CF_HIT";
        }
        return logged.isFromRam() ? "TCP_MEM_HIT" : "TCP_HIT";
    }
}
