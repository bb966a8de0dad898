package io.millrace.proxy.dns;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The cache entry of one host: its addresses with their expiry, or a negative answer.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class HostRecord {
    /** Limit of addresses per host, as Traffic Server's {@code round_robin_max_count}. */
    private static final int ADDRESSES_MAX = 16;

    /** An answer that is still used is refreshed in the last tenth of its time to live. */
    private static final int REFRESH_DIVISOR = 10;

    private final List<InetAddress> preferred = new ArrayList<>();
    private final List<InetAddress> others = new ArrayList<>();
    private final @Nullable Throwable negativeCause;
    private final long freshUntilNanos;
    private final long staleUntilNanos;
    private final long refreshFromNanos;
    private final Map<InetAddress, Long> downUntilNanos = new HashMap<>(0);
    private boolean hasServeStaleLimit;
    private long serveStaleUntilNanos;
    private int rotation;

    private HostRecord(@Nullable Throwable negativeCause, long nowNanos, long ttlNanos, long staleNanos) {
        this.negativeCause = negativeCause;
        this.freshUntilNanos = nowNanos + ttlNanos;
        this.staleUntilNanos = freshUntilNanos + staleNanos;
        this.refreshFromNanos = freshUntilNanos - ttlNanos / REFRESH_DIVISOR;
    }

    /** Returns an entry with the addresses of an answer. */
    static HostRecord of(List<InetAddress> addresses, long nowNanos, long ttlNanos, DnsSettings settings) {
        HostRecord record = new HostRecord(null, nowNanos, ttlNanos, settings.staleMaxNanos());
        for (InetAddress address : addresses.subList(0, Math.min(ADDRESSES_MAX, addresses.size()))) {
            boolean isPreferred = address instanceof Inet6Address == settings.prefersIpv6();
            (isPreferred ? record.preferred : record.others).add(address);
        }
        return record;
    }

    /** Returns an entry for a negative answer: the name does not exist, or has no address. */
    static HostRecord none(Throwable negativeCause, long nowNanos, DnsSettings settings) {
        return new HostRecord(negativeCause, nowNanos, settings.negativeTtlNanos(), 0);
    }

    /** The reason of a negative answer; null if there are addresses. */
    @Nullable
    Throwable negativeCause() {
        return negativeCause;
    }

    boolean isFresh(long nowNanos) {
        return nowNanos - freshUntilNanos < 0;
    }

    /** Returns true if the entry expires soon, so that it should be refreshed. */
    boolean isExpiringSoon(long nowNanos) {
        return nowNanos - refreshFromNanos >= 0;
    }

    /** Returns true if the entry may be used while no name server responds. */
    boolean isUsable(long nowNanos) {
        return negativeCause == null && nowNanos - staleUntilNanos < 0;
    }

    /**
     * Lets callers use the stale entry without a query until {@code nanos}. This is the failure recheck timer of RFC
     * 8767 s5.
     */
    void serveStaleUntil(long nanos) {
        hasServeStaleLimit = true;
        serveStaleUntilNanos = nanos;
    }

    /** Returns true if callers use the stale entry without a query. */
    boolean servesStale(long nowNanos) {
        return hasServeStaleLimit && nowNanos - serveStaleUntilNanos < 0;
    }

    /** Records a failed connection: until {@code nanos}, the address is tried only after the others. */
    void markDownUntil(InetAddress address, long nanos) {
        if (preferred.contains(address) || others.contains(address)) {
            downUntilNanos.put(address, nanos);
        }
    }

    void markUp(InetAddress address) {
        downUntilNanos.remove(address);
    }

    /** Returns a copy for reports. */
    HostAddresses.Known known(String name, long nowNanos) {
        Map<InetAddress, Long> all = new LinkedHashMap<>();
        for (List<InetAddress> family : List.of(preferred, others)) {
            for (InetAddress address : family) {
                Long until = downUntilNanos.get(address);
                long left = until == null ? 0 : TimeUnit.NANOSECONDS.toMillis(until - nowNanos);
                all.put(address, Math.max(0, left));
            }
        }
        return new HostAddresses.Known(
                name,
                all,
                TimeUnit.NANOSECONDS.toMillis(freshUntilNanos - nowNanos),
                negativeCause == null ? null : String.valueOf(negativeCause.getMessage()));
    }

    /** Copies the records of failed connections from the previous entry. */
    void inherit(@Nullable HostRecord before) {
        if (before != null) {
            before.downUntilNanos.forEach(this::markDownUntil);
        }
    }

    /**
     * Returns all addresses in the order in which they are to be tried. IPv4 and IPv6 addresses alternate, beginning
     * with the preferred family (RFC 8305 s4). Each call begins with the next address of each family. Addresses with a
     * recent failed connection come last.
     */
    List<InetAddress> inTryOrder(long nowNanos) {
        List<InetAddress> order = new ArrayList<>();
        List<InetAddress> down = new ArrayList<>(0);
        int longest = Math.max(preferred.size(), others.size());
        for (int i = 0; i < longest; i++) {
            add(preferred, i, nowNanos, order, down);
            add(others, i, nowNanos, order, down);
        }
        rotation++;
        order.addAll(down);
        return order;
    }

    private void add(List<InetAddress> from, int i, long nowNanos, List<InetAddress> up, List<InetAddress> down) {
        if (i < from.size()) {
            InetAddress address = from.get(Math.floorMod(i + rotation, from.size()));
            Long until = downUntilNanos.get(address);
            (until != null && nowNanos - until < 0 ? down : up).add(address);
        }
    }
}
