package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import io.netty.util.NetUtil;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One host of an origin group, with its health and counters. The object stays the same over reloads, as long as
 * the group contains the host.
 *
 * <p>Thread-safe: event loops and the admin API replace the health by compare-and-set. The thread that changes
 * the health logs the change. Each event loop has its own counters in a {@link HostLoad}.
 */
public final class OriginHost {
    private static final Logger log = LoggerFactory.getLogger(OriginHost.class);

    private final String group;
    private final RuleUrl url;
    private final Origin origin;
    private final boolean isAddress;
    private final long hash;
    private final AtomicReference<OriginHealth> health;
    private final EventSink events;
    private final List<HostLoad> loads = new CopyOnWriteArrayList<>();
    /** History before this object was created: from a renamed group, or from an earlier process. */
    private volatile HostHistory earlierHistory;

    /**
     * @param unixSocket Unix domain socket to which connections are made; null for TCP
     * @param renamed the same host in a removed group, whose state the new host takes over; null for none
     * @param events receives an event when the host goes up or down
     */
    OriginHost(String group, RuleUrl url, @Nullable Path unixSocket, @Nullable OriginHost renamed, EventSink events) {
        this.group = group;
        this.events = events;
        this.url = url;
        OriginHealth known = renamed == null ? OriginHealth.unknown() : renamed.health();
        // A trial in progress reports its result to the host of the removed group. In this object, it would never end.
        health = new AtomicReference<>(known.withTrialAbandoned(known.term()));
        earlierHistory = renamed == null ? HostHistory.NONE : renamed.history();
        String host = Objects.requireNonNull(url.host(), "host");
        String hostWithoutBrackets = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        Origin named = "https".equals(url.scheme())
                ? Origin.https(hostWithoutBrackets, url.effectivePort())
                : Origin.http(hostWithoutBrackets, url.effectivePort());
        origin = unixSocket != null ? named.onSocket(unixSocket.toString()) : url.port() < 0 ? named.withSrv() : named;
        isAddress = NetUtil.isValidIpV4Address(hostWithoutBrackets) || NetUtil.isValidIpV6Address(hostWithoutBrackets);
        hash = KeyHash.of(url.authority());
    }

    /** Name of the group. */
    public String group() {
        return group;
    }

    /** The scheme, address and port to which requests are sent. */
    public Origin origin() {
        return origin;
    }

    /** Returns true if the host is configured as an IP address and not by name. */
    public boolean isAddress() {
        return isAddress;
    }

    RuleUrl url() {
        return url;
    }

    /** Hash of the host's authority, the same on every proxy and after restarts. */
    long hash() {
        return hash;
    }

    /** The current health. */
    public OriginHealth health() {
        return Objects.requireNonNull(health.get());
    }

    /** The counters of the host, one element for each event loop that has used it. */
    public List<HostLoad> loads() {
        return loads;
    }

    /** The history of the host, including the requests of this process. */
    public HostHistory history() {
        HostHistory all = earlierHistory;
        for (HostLoad load : loads) {
            all = all.and(load);
        }
        return all;
    }

    /** Sets the history that an earlier process has stored. */
    public void restoreHistory(HostHistory earlier) {
        earlierHistory = earlier;
    }

    /** Creates the counters of an event loop. */
    HostLoad newLoad() {
        HostLoad load = new HostLoad();
        loads.add(load);
        return load;
    }

    /** Records the response to a request that was sent in the term {@code sentInTerm}. */
    void answered(int sentInTerm, long nowMillis) {
        OriginHealth before = health();
        if (before.state() == OriginHealth.State.UP && before.failures() == 0) {
            return;
        }
        swap(now -> now.answered(sentInTerm, nowMillis), nowMillis);
    }

    /** Records the failure of a request that was sent in the term {@code sentInTerm}. */
    void failed(String reason, int sentInTerm, long nowMillis, Markdown rules, double jitter) {
        swap(now -> now.failed(reason, sentInTerm, nowMillis, rules, jitter), nowMillis);
    }

    /** Records passed health checks that began in the term {@code sentInTerm}. */
    void checkedUp(int sentInTerm, long nowMillis) {
        swap(now -> now.checkedUp(sentInTerm, nowMillis), nowMillis);
    }

    /** Records failed health checks. */
    void checkedDown(String reason, long nowMillis, Markdown rules) {
        swap(now -> now.checkedDown(reason, nowMillis, rules), nowMillis);
    }

    /**
     * Begins the trial of a host that is down: one request tests it. Returns false if no trial is due, or another
     * thread has begun it.
     */
    boolean beginTrial(long nowMillis) {
        OriginHealth before = health();
        return before.isTrialDue(nowMillis, 0) && health.compareAndSet(before, before.withTrialBegun());
    }

    /** Ends the trial begun in the term {@code sentInTerm} without a result. */
    void abandonTrial(int sentInTerm) {
        health.updateAndGet(now -> now.withTrialAbandoned(sentInTerm));
    }

    /** Applies the current rules of the group to the health. */
    void applyRules(OriginGroupConfig now, long nowMillis) {
        swap(known -> known.underRules(now.markdown(), now.healthCheck() != null, nowMillis), nowMillis);
    }

    /** Marks the host down by an operator's command. */
    public void markDown(OriginHealth.ManualDown override, long nowMillis) {
        swap(now -> now.markDown(override), nowMillis);
    }

    /** Marks the host up by an operator's command. */
    public void markUp(long nowMillis) {
        swap(now -> now.markUp(nowMillis), nowMillis);
    }

    /** Removes an operator's override whose time is over, so that its end is logged and reported. */
    void removeExpiredMark(long nowMillis) {
        OriginHealth before = health();
        if (before.manualDown() != null && !before.isManuallyDown(nowMillis)) {
            swap(now -> now.withoutExpiredMark(nowMillis), nowMillis);
        }
    }

    private void swap(UnaryOperator<OriginHealth> change, long nowMillis) {
        OriginHealth before;
        OriginHealth after;
        do {
            before = health();
            after = Objects.requireNonNull(change.apply(before));
        } while (!health.compareAndSet(before, after));
        logChange(before, after, nowMillis);
        reportChange(before, after, nowMillis);
    }

    /**
     * Records an event if the host begins or ceases to receive requests. State and the operator's override
     * together decide this. An override whose time is over counts until {@link #removeExpiredMark} has removed it and
     * reported the host.
     */
    private void reportChange(OriginHealth before, OriginHealth after, long nowMillis) {
        boolean wasDown = before.state() != OriginHealth.State.UP || before.manualDown() != null;
        boolean isDown = after.state() != OriginHealth.State.UP || after.manualDown() != null;
        if (wasDown == isDown) {
            return;
        }
        OriginHealth.ManualDown override = after.manualDown();
        String text = "group " + group + ": ";
        if (!isDown) {
            text += "up again";
        } else if (override == null) {
            text += "down, " + after.reason() + " (" + after.failures() + " failures in a row)";
        } else {
            text += "marked down by an operator, " + override.reason();
        }
        events.record(
                new Event(nowMillis, isDown ? EventKind.ORIGIN_DOWN : EventKind.ORIGIN_UP, url.authority(), text));
    }

    private void logChange(OriginHealth before, OriginHealth after, long nowMillis) {
        OriginHealth.ManualDown override = after.manualDown();
        if (override != null && !override.equals(before.manualDown())) {
            log.warn(
                    "origin {} of group {} is marked down by an operator: {}",
                    url.authority(),
                    group,
                    override.reason());
        } else if (override == null && before.manualDown() != null) {
            log.info("origin {} of group {} is no longer marked down by an operator", url.authority(), group);
        }
        if (after.state() == before.state()) {
            return;
        }
        if (after.state() == OriginHealth.State.DOWN) {
            log.warn(
                    "origin {} of group {} is down: {}, {} failures in a row; next trial in {} ms",
                    url.authority(),
                    group,
                    after.reason(),
                    after.failures(),
                    after.retryAt() - nowMillis);
        } else {
            log.info(
                    "origin {} of group {} is up again after {} ms; the reason was: {}",
                    url.authority(),
                    group,
                    nowMillis - before.since(),
                    before.reason());
        }
    }

    /** The authority in the configuration, for example {@code http://10.0.0.1:8080}. */
    @Override
    public String toString() {
        return url.authority();
    }
}
