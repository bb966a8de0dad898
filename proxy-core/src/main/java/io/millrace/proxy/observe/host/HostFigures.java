package io.millrace.proxy.observe.host;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The figures of the hosts with most requests ({@code admin.hosts}), and of all others together. Each figure only
 * increases, as counters of Prometheus must. So a new row of a host begins with the requests since the last report. The
 * earlier requests of the host stay in the row of all others.
 *
 * <p>A host loses its row to a host that had more than twice as many requests in the last minutes. Thread-safe.
 */
public final class HostFigures {
    /** The name of the row for all hosts without a row of their own. A host with this name has no row of its own. */
    public static final String OTHER = "other";

    /** Largest value of {@code admin.hosts}. */
    public static final int HOSTS_MAX = 200;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(60);

    /**
     * The figures of one host since the start of the worker (proxy process). Immutable.
     *
     * @param hits requests that the cache answered
     * @param misses requests that an origin answered; the proxy itself answered the remaining ones
     * @param errors responses with status 5xx
     */
    public record Row(String host, long requests, long hits, long misses, long errors, long sentBytes) {}

    /**
     * The figures of all hosts. Immutable.
     *
     * @param hostsMax the limit of {@code hosts}; 0 if hosts are not counted
     * @param hosts the hosts with a row of their own, in descending order of requests
     */
    public record Report(int hostsMax, List<Row> hosts, Row other) {
        /** Copies the list. */
        public Report {
            hosts = List.copyOf(hosts);
        }
    }

    /** The state of one host between two reports. */
    private static final class Candidate {
        /** The figures of all loops together at the last report. */
        private long[] sum = new long[LoopHosts.FIGURES];
        /** Growth of the sum from the previous report to the last one. */
        private final long[] growth = new long[LoopHosts.FIGURES];
        /** The row of the host; null for a host without a row of its own. */
        private long @Nullable [] row;
        /** Requests since the beginning of the window. */
        private long recent;
        /** Weighted requests of earlier windows. The weight of a window halves with each further window. */
        private long earlier;

        /**
         * Computes the growth since the last report. The next sum may be smaller than the last, if a loop has removed
         * the host from its table.
         */
        void grow(long[] next) {
            for (int i = 0; i < next.length; i++) {
                growth[i] = Math.max(0, next[i] - sum[i]);
            }
            sum = next;
            recent += growth[LoopHosts.REQUESTS];
            if (row != null) {
                addTo(row, growth);
            }
        }

        void endWindow() {
            earlier = earlier / 2 + recent;
            recent = 0;
        }

        long weight() {
            return earlier + recent;
        }
    }

    private final List<LoopHosts> loops = new CopyOnWriteArrayList<>();
    private final LongSupplier nanoTime;
    private final long seed = new SecureRandom().nextLong();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Candidate> candidates = new HashMap<>();
    private final long[] other = new long[LoopHosts.FIGURES];
    /** Sums of the rows that hosts have lost. */
    private final long[] retired = new long[LoopHosts.FIGURES];

    private long windowStartNanos;
    private volatile int hostsMax;

    /** @param nanoTime as {@link System#nanoTime} */
    public HostFigures(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.windowStartNanos = nanoTime.getAsLong();
    }

    /** Creates the table of one event loop. Call once per loop. */
    public LoopHosts newLoop() {
        LoopHosts loop = new LoopHosts(seed);
        loop.setCounting(hostsMax > 0);
        loops.add(loop);
        return loop;
    }

    /** Sets the number of hosts with figures of their own; 0 ends the counting. */
    public void apply(int hosts) {
        lock.lock();
        try {
            hostsMax = hosts;
            loops.forEach(loop -> loop.setCounting(hosts > 0));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the present figures. Must not run on an event loop. */
    public Report report() {
        lock.lock();
        try {
            if (hostsMax > 0) {
                update();
            }
            List<Row> rows = new ArrayList<>();
            candidates.forEach((host, candidate) -> {
                if (candidate.row != null) {
                    rows.add(row(host, candidate.row));
                }
            });
            rows.sort(Comparator.comparingLong(Row::requests).reversed().thenComparing(Row::host));
            return new Report(hostsMax, rows, row(OTHER, other));
        } finally {
            lock.unlock();
        }
    }

    private static Row row(String host, long[] figures) {
        return new Row(
                host,
                figures[LoopHosts.REQUESTS],
                figures[LoopHosts.HITS],
                figures[LoopHosts.MISSES],
                figures[LoopHosts.ERRORS],
                figures[LoopHosts.SENT_BYTES]);
    }

    private void update() {
        Map<String, long[]> sums = sums();
        candidates.entrySet().removeIf(each -> each.getValue().row == null && !sums.containsKey(each.getKey()));
        candidates.forEach((host, candidate) -> candidate.grow(sums.getOrDefault(host, candidate.sum)));
        sums.forEach((host, sum) -> {
            if (!candidates.containsKey(host)) {
                Candidate found = new Candidate();
                found.grow(sum);
                candidates.put(host, found);
            }
        });
        long now = nanoTime.getAsLong();
        boolean isWindowOver = now - windowStartNanos >= WINDOW_NANOS;
        if (isWindowOver) {
            windowStartNanos = now;
            candidates.values().forEach(Candidate::endWindow);
        }
        choose(isWindowOver);
        addOthers();
    }

    private Map<String, long[]> sums() {
        Map<String, long[]> sums = new HashMap<>();
        for (LoopHosts loop : loops) {
            loop.forEach((host, figures) -> {
                String name = new String(host, StandardCharsets.ISO_8859_1);
                if (!name.equals(OTHER)) {
                    addTo(sums.computeIfAbsent(name, key -> new long[LoopHosts.FIGURES]), figures);
                }
            });
        }
        return sums;
    }

    private static void addTo(long[] sums, long[] figures) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += figures[i];
        }
    }

    /**
     * Gives free rows to the hosts with most requests.
     *
     * @param replaces whether these hosts may also replace hosts with few requests; true at the end of a window
     */
    private void choose(boolean replaces) {
        Deque<Candidate> strongest = new ArrayDeque<>(sorted(false));
        Deque<Candidate> weakest = new ArrayDeque<>(sorted(true));
        while (weakest.size() > hostsMax) {
            retire(weakest.removeLast());
        }
        int free = hostsMax - weakest.size();
        while (free > 0 && !strongest.isEmpty()) {
            giveRow(strongest.removeFirst());
            free--;
        }
        while (replaces
                && !strongest.isEmpty()
                && !weakest.isEmpty()
                && strongest.getFirst().weight() > 2 * weakest.getLast().weight()) {
            retire(weakest.removeLast());
            giveRow(strongest.removeFirst());
        }
    }

    /** Returns the hosts with or without a row, in descending order of weighted requests. */
    private List<Candidate> sorted(boolean hasRow) {
        List<Candidate> found = new ArrayList<>();
        for (Candidate candidate : candidates.values()) {
            if ((candidate.row != null) == hasRow && (hasRow || candidate.weight() > 0)) {
                found.add(candidate);
            }
        }
        found.sort(Comparator.comparingLong(Candidate::weight).reversed());
        return found;
    }

    private static void giveRow(Candidate candidate) {
        candidate.row = candidate.growth.clone();
    }

    private void retire(Candidate candidate) {
        long[] lostRow = candidate.row;
        if (lostRow != null) {
            addTo(retired, lostRow);
            candidate.row = null;
        }
    }

    /**
     * Computes the figures of all hosts without a row. They are the totals minus the present and the lost rows of
     * hosts. The totals are read after the rows. So the difference may contain new requests of a host with a row, which
     * the next report subtracts again. The maximum of the old and the new figure keeps the figure from decreasing.
     */
    private void addOthers() {
        long[] rowSums = retired.clone();
        for (Candidate candidate : candidates.values()) {
            if (candidate.row != null) {
                addTo(rowSums, candidate.row);
            }
        }
        long[] totals = new long[LoopHosts.FIGURES];
        loops.forEach(loop -> addTo(totals, loop.totals()));
        for (int i = 0; i < totals.length; i++) {
            other[i] = Math.max(other[i], totals[i] - rowSums[i]);
        }
    }
}
