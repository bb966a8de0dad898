package io.millrace.proxy.dns;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cache entry of one host: its addresses with their expiry, or a negative answer.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class HostRecord {
    /** Limit of addresses per host, as Traffic Server's {@code round_robin_max_count}. */
    private static final int ADDRESSES_MAX = 16;

    /** Fraction of the time to live, at its end, in which a used answer is refreshed. */
    private static final int RENEWED_IN_LAST = 10;

    private final List<InetAddress> preferred = new ArrayList<>();
    private final List<InetAddress> others = new ArrayList<>();
    private final @Nullable Throwable refusal;
    private final long freshUntilNanos;
    private final long staleUntilNanos;
    private final long renewedFromNanos;
    private final Map<InetAddress, Long> downUntilNanos = new HashMap<>(0);
    private boolean holdsOff;
    private long heldOffUntilNanos;
    private int turn;

    private HostRecord(@Nullable Throwable refusal, long nowNanos, long ttlNanos, long staleNanos) {
        this.refusal = refusal;
        this.freshUntilNanos = nowNanos + ttlNanos;
        this.staleUntilNanos = freshUntilNanos + staleNanos;
        this.renewedFromNanos = freshUntilNanos - ttlNanos / RENEWED_IN_LAST;
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
    static HostRecord none(Throwable refusal, long nowNanos, DnsSettings settings) {
        return new HostRecord(refusal, nowNanos, settings.negativeTtlNanos(), 0);
    }

    /** The reason of a negative answer; null if there are addresses. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    boolean isFresh(long nowNanos) {
        return nowNanos - freshUntilNanos < 0;
    }

    /** Returns true if the entry expires soon, so that it should be refreshed. */
    boolean isEnding(long nowNanos) {
        return nowNanos - renewedFromNanos >= 0;
    }

    /** Returns true if the entry may be used while no name server responds. */
    boolean isUsable(long nowNanos) {
        return refusal == null && nowNanos - staleUntilNanos < 0;
    }

    /**
     * Sets the end of the time in which the stale entry is used without waiting (RFC 8767 s5, "failure recheck timer").
     */
    void holdOffUntil(long nanos) {
        holdsOff = true;
        heldOffUntilNanos = nanos;
    }

    boolean isHeldOff(long nowNanos) {
        return holdsOff && nowNanos - heldOffUntilNanos < 0;
    }

    /** Records a failed connection: the address is tried last until {@code nanos}. */
    void downUntil(InetAddress address, long nanos) {
        if (preferred.contains(address) || others.contains(address)) {
            downUntilNanos.put(address, nanos);
        }
    }

    void up(InetAddress address) {
        downUntilNanos.remove(address);
    }

    /** Copies the records of failed connections from the previous entry. */
    void inherit(@Nullable HostRecord before) {
        if (before != null) {
            before.downUntilNanos.forEach(this::downUntil);
        }
    }

    /**
     * Returns all addresses in the order to be tried. The families alternate, beginning with the preferred one (RFC
     * 8305 s4). Each call rotates the addresses of a family. Addresses with a recent failed connection come last.
     */
    List<InetAddress> inTurn(long nowNanos) {
        List<InetAddress> order = new ArrayList<>();
        List<InetAddress> down = new ArrayList<>(0);
        int longest = Math.max(preferred.size(), others.size());
        for (int i = 0; i < longest; i++) {
            add(preferred, i, nowNanos, order, down);
            add(others, i, nowNanos, order, down);
        }
        turn++;
        order.addAll(down);
        return order;
    }

    private void add(List<InetAddress> from, int i, long nowNanos, List<InetAddress> up, List<InetAddress> down) {
        if (i < from.size()) {
            InetAddress address = from.get(Math.floorMod(i + turn, from.size()));
            Long until = downUntilNanos.get(address);
            (until != null && nowNanos - until < 0 ? down : up).add(address);
        }
    }
}
