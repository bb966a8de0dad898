package io.millrace.proxy.admin;

import io.millrace.proxy.observe.FaultLog;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Counts and logs refused TCP requests and connections of the admin API. Thread-safe. */
final class TcpRefusals {
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongAdder wrongToken = new LongAdder();
    private final LongAdder noToken = new LongAdder();
    private final LongAdder gaveWay = new LongAdder();
    private final LongAdder full = new LongAdder();
    private final LongAdder tooSlow = new LongAdder();
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(TcpRefusals.class), QUIET_NANOS, System::nanoTime);

    /** Counts a request with a wrong token. At most one log line per minute names an address. */
    void wrongToken(@Nullable InetAddress client) {
        wrongToken.increment();
        faults.reportSparing("a request with a wrong token reached admin.listen", () -> from(client));
    }

    void noToken() {
        noToken.increment();
    }

    /** Counts a connection without a token that was closed for a new one. */
    void gaveWay() {
        gaveWay.increment();
        faults.reportSparing(
                "the limit of connections without a token to admin.listen is reached",
                () -> TcpPlaces.WITHOUT_TOKEN_MAX + " were open, the oldest was closed");
    }

    /** Counts a connection that was refused because all places of connections with the token were taken. */
    void full() {
        full.increment();
    }

    void tooSlow() {
        tooSlow.increment();
    }

    private static String from(@Nullable InetAddress client) {
        return client == null ? "unknown" : client.getHostAddress();
    }

    /** Returns the counters in the text format of Prometheus. */
    String prometheusText() {
        String name = "millrace_admin_refused_total";
        return "# HELP " + name + " Requests and connections that admin.listen refused.\n# TYPE " + name + " counter\n"
                + line(name, "wrong-token", wrongToken)
                + line(name, "no-token", noToken)
                + line(name, "gave-way", gaveWay)
                + line(name, "full", full)
                + line(name, "too-slow", tooSlow);
    }

    private static String line(String name, String reason, LongAdder count) {
        return name + "{application=\"millrace\",reason=\"" + reason + "\"} " + count.sum() + ".0\n";
    }
}
