package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of origins that belong to no group: those named by {@code to} of a rule. An origin is marked down after
 * some failed connections in a row, as in Traffic Server's host database. While it is down, stale responses are served
 * without a request to it. All other requests are still sent, because there is no other host.
 *
 * <p>Contains at most {@link #HOSTS_MAX} origins. If the limit is reached, a new origin replaces the eighth of the
 * origins that were used least recently. Thread-safe; never blocks.
 */
public final class HostDatabase {
    /** Limit of origins. A forward proxy has as many origins as its clients name. */
    public static final int HOSTS_MAX = 4096;

    /** One in this many origins is removed when the limit is reached. */
    private static final int REMOVED_DIVISOR = 8;

    /** Limit of doublings of the wait. With any settings, the wait reaches {@code retry_time_max} before this limit. */
    private static final int DOUBLINGS_MAX = 30;

    /** Smallest difference in ms by which the time of the last response is updated, to save writes. */
    private static final long UPDATE_MILLIS = 1000;

    private static final Logger log = LoggerFactory.getLogger(HostDatabase.class);

    /**
     * The state of an origin. Times are epoch milliseconds; 0 means never. Immutable.
     *
     * @param failures failed connections in a row
     * @param reason reason of the last failure; empty for none
     * @param failedMillis time of the last failure
     * @param downSince time at which the origin was marked down; 0 while it is up
     * @param retryAt time of the next attempt in the background; valid while the origin is down
     * @param trials number of attempts in the background since the origin was marked down
     */
    public record State(int failures, String reason, long failedMillis, long downSince, long retryAt, int trials) {
        static final State UP = new State(0, "", 0, 0, 0, 0);

        /** Returns true if stale responses are served without a request to the origin. */
        public boolean isDown() {
            return downSince != 0;
        }
    }

    /**
     * The report on an origin.
     *
     * @param version HTTP version of the last response: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2; -1 for none
     * @param answeredMillis time of the last response in epoch ms, exact to a second; 0 for none
     */
    public record Report(Origin origin, State state, int version, long answeredMillis) {}

    private static final class Entry {
        final AtomicReference<State> state = new AtomicReference<>(State.UP);
        volatile int version = -1;
        volatile long answeredMillis;

        State now() {
            State found = state.get();
            return found == null ? State.UP : found;
        }

        long usedMillis() {
            return Math.max(answeredMillis, now().failedMillis());
        }
    }

    private final Map<Origin, Entry> entries = new ConcurrentHashMap<>();
    private volatile EventSink events = EventSink.NONE;

    /** Sets the receiver of events when origins go up or down. */
    public void events(EventSink sink) {
        events = sink;
    }

    /** Returns true if the origin is marked down. */
    public boolean isDown(Origin origin) {
        Entry entry = entries.get(origin);
        return entry != null && entry.now().isDown();
    }

    /**
     * Claims the next attempt to reach an origin that is down. Returns true for one caller when the wait is over. The
     * next wait begins then, twice as long.
     */
    public boolean beginTrial(Origin origin, long nowMillis, Markdown rules) {
        Entry entry = entries.get(origin);
        if (entry == null) {
            return false;
        }
        State before = entry.now();
        // The clock may have been set back.
        boolean isDue = before.isDown() && (nowMillis >= before.retryAt() || nowMillis < before.downSince());
        return isDue
                && entry.state.compareAndSet(
                        before,
                        new State(
                                before.failures(),
                                before.reason(),
                                before.failedMillis(),
                                before.downSince(),
                                nowMillis + waitMillis(rules, before.trials() + 1),
                                before.trials() + 1));
    }

    /** Records the head of a response. */
    public void answered(Origin origin, int version, long nowMillis) {
        Entry entry = entryOf(origin);
        if (nowMillis - entry.answeredMillis >= UPDATE_MILLIS || nowMillis < entry.answeredMillis) {
            entry.answeredMillis = nowMillis;
        }
        if (entry.version != version) {
            entry.version = version;
        }
        State before = entry.now();
        if (before.failures() == 0) {
            return;
        }
        State after = new State(0, before.reason(), before.failedMillis(), 0, 0, 0);
        if (entry.state.compareAndSet(before, after) && before.isDown()) {
            log.info(
                    "origin {} is up again after {} ms; the reason was: {}",
                    origin.authority(),
                    nowMillis - before.downSince(),
                    before.reason());
            events.record(new Event(nowMillis, EventKind.ORIGIN_UP, origin.authority(), "up again"));
        }
    }

    /** Returns true if a failure means that no connection to the origin could be made. */
    public static boolean isCounted(OriginFailure.Reason reason) {
        return switch (reason) {
            case DNS, CONNECT_REFUSED, CONNECT_TIMEOUT, TLS -> true;
            default -> false;
        };
    }

    /** Records a failed connection. */
    public void failed(Origin origin, String reason, long nowMillis, Markdown rules) {
        Entry entry = entryOf(origin);
        State before;
        State after;
        do {
            before = entry.now();
            after = failed(before, reason, nowMillis, rules);
        } while (!entry.state.compareAndSet(before, after));
        if (after.isDown() && !before.isDown()) {
            log.warn(
                    "origin {} is marked down: {}, {} failures in a row; stale responses are served without a request"
                            + " to it for {} ms",
                    origin.authority(),
                    reason,
                    after.failures(),
                    after.retryAt() - nowMillis);
            events.record(new Event(
                    nowMillis,
                    EventKind.ORIGIN_DOWN,
                    origin.authority(),
                    "down, " + reason + " (" + after.failures() + " failures in a row)"));
        } else if (before.isDown() && !after.isDown()) {
            log.info("origin {} is no longer marked down: markdown.fail_threshold is 0 now", origin.authority());
            events.record(new Event(
                    nowMillis,
                    EventKind.ORIGIN_UP,
                    origin.authority(),
                    "no longer marked down: markdown.fail_threshold is 0 now"));
        }
    }

    private static State failed(State before, String reason, long nowMillis, Markdown rules) {
        int failures = before.failures() + 1;
        if (before.isDown() && rules.failThreshold() > 0) {
            // The failed request need not be an attempt in the background. Other requests do not change the wait. A
            // reload that raises the threshold does not make the origin reachable, so it stays down.
            return new State(failures, reason, nowMillis, before.downSince(), before.retryAt(), before.trials());
        }
        if (rules.failThreshold() == 0 || failures < rules.failThreshold()) {
            return new State(failures, reason, nowMillis, 0, 0, 0);
        }
        return new State(failures, reason, nowMillis, nowMillis, nowMillis + waitMillis(rules, 0), 0);
    }

    private static long waitMillis(Markdown rules, int trials) {
        long factor = 1L << Math.min(trials, DOUBLINGS_MAX);
        return rules.retryMillis() > rules.retryMillisMax() / factor
                ? rules.retryMillisMax()
                : rules.retryMillis() * factor;
    }

    private Entry entryOf(Origin origin) {
        Entry found = entries.get(origin);
        if (found != null) {
            return found;
        }
        if (entries.size() >= HOSTS_MAX) {
            removeOldest();
        }
        return entries.computeIfAbsent(origin, made -> new Entry());
    }

    private void removeOldest() {
        record Use(Origin origin, long millis) {}
        List<Use> uses = new ArrayList<>(entries.size());
        entries.forEach((origin, entry) -> uses.add(new Use(origin, entry.usedMillis())));
        uses.sort(Comparator.comparingLong(Use::millis));
        uses.subList(0, uses.size() / REMOVED_DIVISOR).forEach(use -> entries.remove(use.origin()));
    }

    /** Returns the number of origins that are marked down. */
    public int downCount() {
        return (int)
                entries.values().stream().filter(entry -> entry.now().isDown()).count();
    }

    /** Returns the origins that are marked down, ordered by host. */
    public List<Report> down() {
        return reports(entry -> entry.now().isDown());
    }

    /** Returns the known origins, ordered by host. */
    public List<Report> all() {
        return reports(entry -> true);
    }

    private List<Report> reports(Predicate<Entry> filter) {
        return entries.entrySet().stream()
                .filter(each -> filter.test(each.getValue()))
                .map(each -> new Report(
                        each.getKey(), each.getValue().now(), each.getValue().version, each.getValue().answeredMillis))
                .sorted(Comparator.comparing(report -> report.origin().authority()))
                .toList();
    }

    /**
     * Forgets the state of origins, so that the next request tries them.
     *
     * @param host name or address without port; null for all
     * @return number of origins
     */
    public int clear(@Nullable String host) {
        int before = entries.size();
        if (host == null) {
            entries.clear();
            return before;
        }
        Origin[] matching = entries.keySet().stream()
                .filter(origin -> origin.host().equals(host))
                .toArray(Origin[]::new);
        Arrays.stream(matching).forEach(entries::remove);
        return matching.length;
    }
}
