package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogOutcome;

/** A live log with one record in which every value is set. */
public final class LiveLogSample {
    private LiveLogSample() {}

    /** Writes the record as a failed request. */
    static void finish(LoopLiveLog loop) {
        AccessLogRing ring = loop.ringFor(500, LogOutcome.OK, 0);
        ring.claim()
                .receivedAtMillis(1_700_000_000_123L)
                .durationNanos(4_900_000)
                .firstByteNanos(3_000_000)
                .client(new byte[] {(byte) 192, 0, 2, 7}, 0, 4)
                .status(500)
                .originStatus(500)
                .sentBytes(464, 1256)
                .receivedBytes(12)
                .version(1, 1)
                .originVersion(1, 1)
                .text(LogField.METHOD, "GET")
                .text(LogField.URL, "http://a.example/\"<b>")
                .text(LogField.ORIGIN_HOST, "10.0.0.1")
                .text(LogField.CONTENT_TYPE, "text/html")
                .text(LogField.REFERER, "http://r.example/")
                .text(LogField.USER_AGENT, "curl/8.0")
                .text(LogField.DETAIL, "connect-refused")
                .text(LogField.TRACE_ID, "4bf92f3577b34da6a3ce929d0e0e4736")
                .text(LogField.COUNTRY, "DE")
                .text(LogField.TLS_VERSION, "TLSv1.3")
                .text(LogField.TLS_CIPHER, "TLS_AES_128_GCM_SHA256")
                .text(LogField.TLS_SERVER_NAME, "a.example")
                .text(LogField.TLS_CLIENT_SUBJECT, "CN=client");
        ring.publish();
    }

    /** Creates a live log without a thread. The record is kept, and the viewer has not taken it. */
    public static LiveLog create() {
        return new LiveLog(new LiveLogSettings(1_000_000_000, 3), () -> 0);
    }

    /** Adds a viewer and the record. Returns the identifier of the viewer. */
    public static String watchOne(LiveLog log) {
        String viewer = log.open(null).viewer();
        finish(log.newLoop());
        log.kept(KeptKind.FAILED, null, 1);
        return viewer;
    }
}
