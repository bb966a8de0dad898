package io.millrace.proxy.dns;

import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resolver of host names to addresses. An IP address resolves to itself. {@code localhost} and names below it
 * resolve to the loopback addresses (RFC 6761 s6.3). Other names are looked up in the hosts file, then in DNS.
 *
 * <p>Answers are cached for their time to live, within limits. An answer that is used shortly before this time ends is
 * refreshed. Concurrent requests for a host share one query. If no name server responds, an expired answer is used (RFC
 * 8767). The first callers wait {@value #STALE_WAIT_MILLIS} ms for a name server; during the next {@value
 * #RECHECK_SECONDS} s callers do not wait. A negative answer replaces the old answer.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
public final class HostAddresses implements AutoCloseable {
    /**
     * Time that callers wait for a name server if there is a stale answer. This is the client response timer of RFC
     * 8767 s5.
     */
    static final long STALE_WAIT_MILLIS = 1_800;

    /**
     * Time after a failed query during which stale answers are used immediately. This is the failure recheck timer of
     * RFC 8767 s5.
     */
    static final long RECHECK_SECONDS = 30;

    /** Minimum interval of log messages about unresponsive name servers. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final Logger log = LoggerFactory.getLogger(HostAddresses.class);

    private static final List<InetAddress> LOOPBACK = List.of(
            address("localhost", 127, 0, 0, 1), address("localhost", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));

    private final EventLoop eventLoop;
    private final Supplier<DnsSettings> settings;
    private final NameLookup.Factory factory;
    private final DnsStatistics statistics = new DnsStatistics();
    private final Map<String, HostRecord> records;
    private final Map<String, Query> queries = new HashMap<>();
    private final ServiceRecords services;
    private DnsSettings current;
    private NameLookup lookup;
    private boolean neverWarned = true;
    private long warnedNanos;

    /** Creates a resolver. Calls the factory for the first settings, and again whenever the settings have changed. */
    public HostAddresses(EventLoop eventLoop, Supplier<DnsSettings> settings, NameLookup.Factory factory) {
        this.eventLoop = eventLoop;
        this.settings = settings;
        this.factory = factory;
        current = settings.get();
        lookup = factory.open(current);
        services = new ServiceRecords(eventLoop, current, new SplittableRandom());
        records = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, HostRecord> eldest) {
                return size() > current.hostsMax();
            }
        };
    }

    /** The callers that wait for one host. */
    private static final class Query {
        final List<Promise<List<InetAddress>>> waiting = new ArrayList<>();

        @Nullable
        Future<?> staleAnswer;
    }

    /**
     * The cached result for a name. Immutable.
     *
     * @param addresses each address with the time in ms during which it is tried only after the others, because a
     *     connection to it failed; 0 for none
     * @param freshMillis time until the answer expires, in ms; negative after that
     * @param negativeCause message of a negative answer; null if there are addresses
     */
    public record Known(
            String name,
            Map<InetAddress, Long> addresses,
            long freshMillis,
            @Nullable String negativeCause) {}

    /** Returns the cached results, the most recently used last. */
    public List<Known> known() {
        long now = now();
        List<Known> all = new ArrayList<>(records.size());
        records.forEach((name, record) -> all.add(record.known(name, now)));
        return all;
    }

    /**
     * Forgets cached addresses and SRV records, so that the next caller queries again.
     *
     * @param host name in lower case; null for all
     */
    public void forget(@Nullable String host) {
        if (host == null) {
            records.clear();
        } else {
            records.remove(host);
        }
        services.forget(host);
    }

    /** The counters of results. */
    public DnsStatistics statistics() {
        return statistics;
    }

    /** Returns all addresses of a host in the order to be tried. Fails if there is none. */
    public Future<List<InetAddress>> resolve(String host) {
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
        if (literal != null) {
            return eventLoop.newSucceededFuture(List.of(address(host, literal)));
        }
        String name = host.toLowerCase(Locale.ROOT);
        if (name.equals("localhost") || name.endsWith(".localhost")) {
            return eventLoop.newSucceededFuture(LOOPBACK);
        }
        List<InetAddress> fixed = settings().hosts().get(name);
        return fixed != null ? eventLoop.newSucceededFuture(fixed) : cachedOrQueried(name);
    }

    /** Returns true if SRV records are queried. */
    public boolean queriesSrvRecords() {
        return settings().services();
    }

    /**
     * Returns the targets of a host's SRV records in the order to be tried. The result is empty if there are none or no
     * name server responds.
     *
     * @param service service, for example {@code _http._tcp}
     * @return null if there is no query: for hosts with fixed addresses, or if the settings disable SRV records
     */
    public @Nullable Future<List<ServiceTarget>> services(String service, String host) {
        String name = (host.endsWith(".") ? host.substring(0, host.length() - 1) : host).toLowerCase(Locale.ROOT);
        DnsSettings latest = settings();
        boolean isFixed = name.equals("localhost")
                || name.endsWith(".localhost")
                || latest.hosts().containsKey(name)
                || NetUtil.createByteArrayFromIpAddressString(name) != null;
        return latest.services() && !isFixed ? services.find(service + "." + name, lookup) : null;
    }

    /** Records a failed connection to an address of the host. */
    public void failed(String host, InetAddress address) {
        HostRecord record = records.get(host.toLowerCase(Locale.ROOT));
        if (record != null) {
            record.markDownUntil(address, now() + current.downNanos());
        }
    }

    /** Records a successful connection to an address of the host. */
    public void worked(String host, InetAddress address) {
        HostRecord record = records.get(host.toLowerCase(Locale.ROOT));
        if (record != null) {
            record.markUp(address);
        }
    }

    /** Returns a cached answer, or waits for a query if there is none. */
    private Future<List<InetAddress>> cachedOrQueried(String name) {
        HostRecord record = records.get(name);
        long now = now();
        if (record == null) {
            return queried(name, null);
        }
        Throwable negativeCause = record.negativeCause();
        if (record.isFresh(now) && negativeCause != null) {
            statistics.unknown++;
            return eventLoop.newFailedFuture(negativeCause);
        }
        if (record.isFresh(now)) {
            refreshBeforeExpiry(name, record, now);
            statistics.cached++;
            return eventLoop.newSucceededFuture(record.inTryOrder(now));
        }
        if (record.isUsable(now) && record.servesStale(now)) {
            statistics.stale++;
            return eventLoop.newSucceededFuture(record.inTryOrder(now));
        }
        return queried(name, record.isUsable(now) ? record : null);
    }

    /** Starts a query shortly before an answer expires, so that no caller has to wait. */
    private void refreshBeforeExpiry(String name, HostRecord record, long now) {
        boolean isDue = record.isExpiringSoon(now) && !record.servesStale(now);
        if (isDue && !queries.containsKey(name) && queries.size() < current.queriesMax()) {
            startQuery(name, new Query());
        }
    }

    /** Waits for the answer of a name server. */
    private Future<List<InetAddress>> queried(String name, @Nullable HostRecord old) {
        Query query = queries.get(name);
        boolean isFirst = query == null;
        if (query == null) {
            if (queries.size() >= current.queriesMax() && old != null) {
                statistics.stale++;
                return eventLoop.newSucceededFuture(old.inTryOrder(now()));
            }
            if (queries.size() >= current.queriesMax()) {
                statistics.failed++;
                return eventLoop.newFailedFuture(
                        new UnknownHostException(name + ": too many DNS queries are in progress: actual="
                                + queries.size() + ", limit=" + current.queriesMax()));
            }
            query = new Query();
        }
        Query joined = query;
        Promise<List<InetAddress>> promise = eventLoop.newPromise();
        joined.waiting.add(promise);
        if (isFirst) {
            startQuery(name, joined);
        }
        if (old != null && !promise.isDone() && joined.staleAnswer == null) {
            joined.staleAnswer =
                    eventLoop.schedule(() -> answerStale(name, joined), STALE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        }
        return promise;
    }

    private void startQuery(String name, Query query) {
        statistics.queries++;
        queries.put(name, query);
        lookup.query(
                name,
                (addresses, ttlNanos) -> found(name, query, addresses, ttlNanos),
                (cause, isAnswer) -> notFound(name, query, cause, isAnswer));
    }

    private void found(String name, Query query, List<InetAddress> addresses, long ttlNanos) {
        if (addresses.isEmpty()) {
            notFound(name, query, new UnknownHostException(name + ": the name has no address"), true);
            return;
        }
        DnsSettings latest = settings();
        boolean isCurrent = end(name, query);
        long ttl = Math.min(Math.max(ttlNanos, latest.ttlMinNanos()), latest.ttlMaxNanos());
        HostRecord record = HostRecord.of(addresses, now(), ttl, latest);
        if (isCurrent) {
            record.inherit(records.put(name, record));
        }
        statistics.answered += query.waiting.size();
        for (Promise<List<InetAddress>> waiting : query.waiting) {
            waiting.trySuccess(record.inTryOrder(now()));
        }
    }

    private void notFound(String name, Query query, Throwable cause, boolean isAnswer) {
        DnsSettings latest = settings();
        boolean isCurrent = end(name, query);
        HostRecord record = records.get(name);
        if (isAnswer) {
            if (isCurrent) {
                records.put(name, HostRecord.none(cause, now(), latest));
            }
            statistics.unknown += query.waiting.size();
        } else if (record != null && record.isUsable(now())) {
            serveStale(name, record, query);
            warn(name, cause);
        } else {
            statistics.failed += query.waiting.size();
        }
        for (Promise<List<InetAddress>> waiting : query.waiting) {
            waiting.tryFailure(cause);
        }
    }

    /** Completes the waiting callers with a stale answer; the query continues. */
    private void answerStale(String name, Query query) {
        HostRecord record = records.get(name);
        query.staleAnswer = null;
        if (record != null && record.isUsable(now())) {
            serveStale(name, record, query);
        }
    }

    private void serveStale(String name, HostRecord record, Query query) {
        log.debug("{}: {} requests stop waiting for the name servers", name, query.waiting.size());
        record.serveStaleUntil(now() + TimeUnit.SECONDS.toNanos(RECHECK_SECONDS));
        statistics.stale += query.waiting.size();
        for (Promise<List<InetAddress>> waiting : query.waiting) {
            waiting.trySuccess(record.inTryOrder(now()));
        }
        query.waiting.clear();
    }

    private void warn(String name, Throwable cause) {
        if (neverWarned || now() - warnedNanos > QUIET_NANOS) {
            neverWarned = false;
            warnedNanos = now();
            log.warn("{}: expired addresses are used, because no name server answered: {}", name, cause.toString());
        }
    }

    /** Ends a query. Returns whether it was made with the current settings. */
    private boolean end(String name, Query query) {
        if (query.staleAnswer != null) {
            query.staleAnswer.cancel(false);
        }
        return queries.remove(name, query);
    }

    /** Returns the current settings. If they have changed, clears the cache. */
    @SuppressWarnings("ReferenceEquality") // fast path; other instances may still be equal
    private DnsSettings settings() {
        DnsSettings latest = settings.get();
        DnsSettings before = current;
        if (latest == before) {
            return latest;
        }
        // Every reload creates new settings. They are compared only once per reload, since the hosts file may be long.
        current = latest;
        if (!latest.equals(before)) {
            lookup.closeWhenUnused();
            lookup = factory.open(latest);
            records.clear();
            services.applySettings(latest);
            // Queries in progress still answer their callers, but later callers begin new queries with the new
            // settings.
            queries.clear();
        }
        return latest;
    }

    private long now() {
        return eventLoop.ticker().nanoTime();
    }

    /** Closes the resolver; queries in progress fail. */
    @Override
    public void close() {
        lookup.close();
    }

    private static InetAddress address(String host, int... octets) {
        byte[] bytes = new byte[octets.length];
        for (int i = 0; i < octets.length; i++) {
            bytes[i] = (byte) octets[i];
        }
        return address(host, bytes);
    }

    private static InetAddress address(String host, byte[] bytes) {
        try {
            return InetAddress.getByAddress(host, bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(host, e);
        }
    }
}
