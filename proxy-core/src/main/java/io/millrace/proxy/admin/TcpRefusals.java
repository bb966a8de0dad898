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

/**
 * Counts and logs refused TCP requests and connections of the admin API. These arrive on {@code admin.listen} and on
 * the ports of {@code millctl dashboard}. Thread-safe.
 */
final class TcpRefusals {
    /**
     * Error codes for missing rights, failed logins and reached limits. They are also values of the label
     * {@code reason}.
     */
    private static final List<String> CODES = List.of(
            "role-refused",
            "site-refused",
            "kind-refused",
            "rate-limited",
            "clear-text-refused",
            "wrong-code",
            "too-many-logins");

    /**
     * Event codes of the dashboard's limits. "-evicted": at the limit, the oldest session, one-time code or address
     * with failed logins was removed for a new one. "-full": a new dashboard was refused.
     */
    private static final List<String> LIMITS =
            List.of("session-evicted", "code-evicted", "login-address-evicted", "dashboards-full");

    /** The error code of a login with a wrong token. */
    private static final String WRONG_TOKEN = "wrong-token";

    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongAdder wrongToken = new LongAdder();
    private final LongAdder noToken = new LongAdder();
    private final LongAdder connectionEvicted = new LongAdder();
    private final LongAdder full = new LongAdder();
    private final LongAdder tooSlow = new LongAdder();
    /** Counters by the codes of {@link #CODES} and {@link #LIMITS}. */
    private final Map<String, LongAdder> byCode = new TreeMap<>();

    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(TcpRefusals.class), LOG_INTERVAL_NANOS, System::nanoTime);

    TcpRefusals() {
        CODES.forEach(code -> byCode.put(code, new LongAdder()));
        LIMITS.forEach(limit -> byCode.put(limit, new LongAdder()));
    }

    /**
     * Counts an error answer if its cause is a missing right, a failed login, or a limit. For each cause, at most one
     * log line per minute names the token and the address.
     *
     * @param code the error code
     */
    void countError(String code, @Nullable String token, @Nullable InetAddress client) {
        if (code.equals(WRONG_TOKEN)) {
            wrongToken(client);
            return;
        }
        LongAdder count = CODES.contains(code) ? byCode.get(code) : null;
        if (count != null) {
            count.increment();
            faults.reportFrequent(
                    "a request to the admin API over TCP was refused: " + code,
                    () -> "token " + (token == null ? "none" : token) + ", client " + from(client));
        }
    }

    /**
     * Counts an event at a limit of the dashboard.
     *
     * @param limit one of the event codes in {@link #LIMITS}
     */
    void atLimit(String limit) {
        LongAdder count = byCode.get(limit);
        if (count == null) {
            throw new IllegalArgumentException("no limit " + limit);
        }
        count.increment();
    }

    /**
     * Counts a request with a credential that is not a valid token. At most one log line per minute names the address.
     */
    void wrongToken(@Nullable InetAddress client) {
        wrongToken.increment();
        faults.reportFrequent("a request with a wrong token reached the admin API over TCP", () -> from(client));
    }

    void noToken() {
        noToken.increment();
    }

    /** Counts a connection without a token that was closed for a new one. */
    void connectionEvicted() {
        connectionEvicted.increment();
        faults.reportFrequent(
                "the limit of connections without a token to the admin API over TCP is reached",
                () -> TcpSlots.WITHOUT_TOKEN_MAX
                        + " were open; the oldest connection of the address with the most connections was closed");
    }

    /** Counts a request that was refused because all slots of connections with a valid token were taken. */
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
        return "# HELP " + name
                + " Requests, connections and logins that the admin API over TCP refused, or ended for newer"
                + " ones.\n# TYPE " + name + " counter\n"
                + line(name, WRONG_TOKEN, wrongToken)
                + line(name, "no-token", noToken)
                + line(name, "connection-evicted", connectionEvicted)
                + line(name, "full", full)
                + line(name, "too-slow", tooSlow)
                + byCode.entrySet().stream()
                        .map(each -> line(name, each.getKey(), each.getValue()))
                        .collect(Collectors.joining());
    }

    private static String line(String name, String reason, LongAdder count) {
        return name + "{application=\"millrace\",reason=\"" + reason + "\"} " + count.sum() + ".0\n";
    }
}
