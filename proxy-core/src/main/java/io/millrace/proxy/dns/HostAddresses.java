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
 * The addresses of hosts: the host itself when it is an address, the loopback addresses for {@code localhost} and names below it (RFC 6761 s6.3), what the
 * file of hosts says, and what name servers say for every other name.
 *
 * <p>Answers are remembered for their time to live, within bounds, and asked for again shortly before it ends if they are used. A host is asked for
 * once at a time, however many wait. When no name server answers, an answer whose time is over serves on (RFC 8767): the first who ask wait for {@value
 * #STALE_WAIT_MILLIS} ms, and for the next {@value #RECHECK_SECONDS} s nobody does. That there is no such name is an answer, and ends the old one.
 *
 * <p>Confined to one event loop.
 */
public final class HostAddresses implements AutoCloseable {
    /** How long somebody waits for a name server when there is an old answer: the client response timer of RFC 8767 s5. */
    static final long STALE_WAIT_MILLIS = 1_800;

    /** How long nobody waits after that: the failure recheck timer of RFC 8767 s5. */
    static final long RECHECK_SECONDS = 30;

    /** One line in this time says that name servers are silent. */
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
    private boolean nothingWarned = true;
    private long warnedNanos;

    /** Asks by what the factory makes, again whenever the settings are others than before. */
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

    /** Those who wait for one host. */
    private static final class Query {
        final List<Promise<List<InetAddress>>> waiting = new ArrayList<>();

        @Nullable
        Future<?> staleAnswer;
    }

    /** What became of what was asked. */
    public DnsStatistics statistics() {
        return statistics;
    }

    /** Finds all addresses in the order to be tried, at least one; fails when there is none. */
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
        return fixed != null ? eventLoop.newSucceededFuture(fixed) : remembered(name);
    }

    /** Whether service records are asked for at all. */
    public boolean asksForServices() {
        return settings().services();
    }

    /**
     * Finds where service records say that a host's service is, in the order to be asked in; none where there is no such record or nobody says so.
     *
     * @param service such as {@code _http._tcp}
     * @return null where nobody is asked: for hosts with addresses of their own, or by the settings
     */
    public @Nullable Future<List<ServiceTarget>> services(String service, String host) {
        String name = (host.endsWith(".") ? host.substring(0, host.length() - 1) : host).toLowerCase(Locale.ROOT);
        DnsSettings now = settings();
        boolean isFixed = name.equals("localhost")
                || name.endsWith(".localhost")
                || now.hosts().containsKey(name)
                || NetUtil.createByteArrayFromIpAddressString(name) != null;
        return now.services() && !isFixed ? services.find(service + "." + name, lookup) : null;
    }

    /** Connecting to one of the host's addresses failed. */
    public void failed(String host, InetAddress address) {
        HostRecord record = records.get(host.toLowerCase(Locale.ROOT));
        if (record != null) {
            record.downUntil(address, now() + current.downNanos());
        }
    }

    /** Connecting to one of the host's addresses succeeded. */
    public void worked(String host, InetAddress address) {
        HostRecord record = records.get(host.toLowerCase(Locale.ROOT));
        if (record != null) {
            record.up(address);
        }
    }

    private Future<List<InetAddress>> remembered(String name) {
        HostRecord record = records.get(name);
        long now = now();
        if (record == null) {
            return asked(name, null);
        }
        Throwable refusal = record.refusal();
        if (record.isFresh(now) && refusal != null) {
            statistics.unknown++;
            return eventLoop.newFailedFuture(refusal);
        }
        if (record.isFresh(now)) {
            renewSoon(name, record, now);
            statistics.cached++;
            return eventLoop.newSucceededFuture(record.inTurn(now));
        }
        if (record.isUsable(now) && record.isHeldOff(now)) {
            statistics.stale++;
            return eventLoop.newSucceededFuture(record.inTurn(now));
        }
        return asked(name, record.isUsable(now) ? record : null);
    }

    /** Asks again shortly before an answer's time is over, so that nobody has to wait then. */
    private void renewSoon(String name, HostRecord record, long now) {
        boolean isTime = record.isEnding(now) && !record.isHeldOff(now);
        if (isTime && !queries.containsKey(name) && queries.size() < current.queriesMax()) {
            ask(name, new Query());
        }
    }

    /** Waits for what name servers say. */
    private Future<List<InetAddress>> asked(String name, @Nullable HostRecord old) {
        Query query = queries.get(name);
        boolean isFirst = query == null;
        if (query == null) {
            if (queries.size() >= current.queriesMax() && old != null) {
                statistics.stale++;
                return eventLoop.newSucceededFuture(old.inTurn(now()));
            }
            if (queries.size() >= current.queriesMax()) {
                statistics.failed++;
                return eventLoop.newFailedFuture(new UnknownHostException(
                        name + ": " + queries.size() + " hosts are being asked for, limit=" + current.queriesMax()));
            }
            query = new Query();
        }
        Query asked = query;
        Promise<List<InetAddress>> promise = eventLoop.newPromise();
        asked.waiting.add(promise);
        if (isFirst) {
            ask(name, asked);
        }
        if (old != null && !promise.isDone() && asked.staleAnswer == null) {
            asked.staleAnswer =
                    eventLoop.schedule(() -> answerStale(name, asked), STALE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        }
        return promise;
    }

    private void ask(String name, Query query) {
        statistics.queries++;
        queries.put(name, query);
        lookup.ask(
                name,
                (addresses, ttlNanos) -> found(name, query, addresses, ttlNanos),
                (cause, isAnswer) -> notFound(name, query, cause, isAnswer));
    }

    private void found(String name, Query query, List<InetAddress> addresses, long ttlNanos) {
        if (addresses.isEmpty()) {
            notFound(name, query, new UnknownHostException(name + ": no address"), true);
            return;
        }
        DnsSettings now = settings();
        boolean isCurrent = end(name, query);
        long ttl = Math.min(Math.max(ttlNanos, now.ttlMinNanos()), now.ttlMaxNanos());
        HostRecord record = HostRecord.of(addresses, now(), ttl, now);
        if (isCurrent) {
            record.inherit(records.put(name, record));
        }
        statistics.answered += query.waiting.size();
        for (Promise<List<InetAddress>> waiting : query.waiting) {
            waiting.trySuccess(record.inTurn(now()));
        }
    }

    private void notFound(String name, Query query, Throwable cause, boolean isAnswer) {
        DnsSettings now = settings();
        boolean isCurrent = end(name, query);
        HostRecord record = records.get(name);
        if (isAnswer) {
            if (isCurrent) {
                records.put(name, HostRecord.none(cause, now(), now));
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

    /** Nobody waits any longer; the name servers may still answer. */
    private void answerStale(String name, Query query) {
        HostRecord record = records.get(name);
        query.staleAnswer = null;
        if (record != null && record.isUsable(now())) {
            serveStale(name, record, query);
        }
    }

    private void serveStale(String name, HostRecord record, Query query) {
        log.debug("{}: {} wait no longer for name servers", name, query.waiting.size());
        record.holdOffUntil(now() + TimeUnit.SECONDS.toNanos(RECHECK_SECONDS));
        statistics.stale += query.waiting.size();
        for (Promise<List<InetAddress>> waiting : query.waiting) {
            waiting.trySuccess(record.inTurn(now()));
        }
        query.waiting.clear();
    }

    private void warn(String name, Throwable cause) {
        if (nothingWarned || now() - warnedNanos > QUIET_NANOS) {
            nothingWarned = false;
            warnedNanos = now();
            log.warn("{}: old addresses are used, since no name server answered: {}", name, cause.toString());
        }
    }

    /** Whether it was asked by the settings in force. */
    private boolean end(String name, Query query) {
        if (query.staleAnswer != null) {
            query.staleAnswer.cancel(false);
        }
        return queries.remove(name, query);
    }

    /** The settings in force; others than before mean that all is asked again. */
    @SuppressWarnings("ReferenceEquality") // the quick way: others may still be equal
    private DnsSettings settings() {
        DnsSettings now = settings.get();
        DnsSettings before = current;
        if (now == before) {
            return now;
        }
        // Every reload makes new ones: they are compared once, since a file of hosts may be long.
        current = now;
        if (!now.equals(before)) {
            lookup.closeWhenUnused();
            lookup = factory.open(now);
            records.clear();
            services.follow(now);
            // What is being asked answers those who wait for it, and nobody else.
            queries.clear();
        }
        return now;
    }

    private long now() {
        return eventLoop.ticker().nanoTime();
    }

    /** Ends what is asked; those who wait are told. */
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
