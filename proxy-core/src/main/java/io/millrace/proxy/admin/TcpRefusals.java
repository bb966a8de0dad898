package io.millrace.proxy.admin;

import io.millrace.proxy.observe.FaultLog;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Counts and logs refused TCP requests and connections of the admin API. Thread-safe. */
final class TcpRefusals {
    /** Stable words of errors for missing rights; they are also values of the label {@code reason}. */
    private static final List<String> CODES =
            List.of("role-refused", "site-refused", "kind-refused", "rate-limited", "clear-text-refused");

    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongAdder wrongToken = new LongAdder();
    private final LongAdder noToken = new LongAdder();
    private final LongAdder gaveWay = new LongAdder();
    private final LongAdder full = new LongAdder();
    private final LongAdder tooSlow = new LongAdder();
    private final Map<String, LongAdder> missingRights = new TreeMap<>();
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(TcpRefusals.class), QUIET_NANOS, System::nanoTime);

    TcpRefusals() {
        for (String code : CODES) {
            missingRights.put(code, new LongAdder());
        }
    }

    /**
     * Counts an error answer if its cause is a missing right. At most one line a minute for each cause names the token and
     * the address.
     *
     * @param code the stable word of the error
     */
    void failed(String code, @Nullable String token, @Nullable InetAddress client) {
        LongAdder count = missingRights.get(code);
        if (count != null) {
            count.increment();
            faults.reportSparing(
                    "a request to admin.listen was refused: " + code,
                    () -> "token " + (token == null ? "none" : token) + ", client " + from(client));
        }
    }

    /** A request had a credential that is no token. At most one line a minute names an address. */
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
                + line(name, "too-slow", tooSlow)
                + missingRights.entrySet().stream()
                        .map(each -> line(name, each.getKey(), each.getValue()))
                        .collect(Collectors.joining());
    }

    private static String line(String name, String reason, LongAdder count) {
        return name + "{application=\"millrace\",reason=\"" + reason + "\"} " + count.sum() + ".0\n";
    }
}
