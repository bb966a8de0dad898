package io.millrace.proxy.dns;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one host: its addresses and until when, or that it has none.
 *
 * <p>Confined to one event loop.
 */
final class HostRecord {
    /** Addresses that are kept; more are of no use to anybody (Traffic Server's {@code round_robin_max_count}). */
    private static final int ADDRESSES_MAX = 16;

    /** In this last part of its time an answer that is used is asked for again. */
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

    /** Addresses that a name server told. */
    static HostRecord of(List<InetAddress> addresses, long nowNanos, long ttlNanos, DnsSettings settings) {
        HostRecord record = new HostRecord(null, nowNanos, ttlNanos, settings.staleMaxNanos());
        for (InetAddress address : addresses.subList(0, Math.min(ADDRESSES_MAX, addresses.size()))) {
            boolean isPreferred = address instanceof Inet6Address == settings.prefersIpv6();
            (isPreferred ? record.preferred : record.others).add(address);
        }
        return record;
    }

    /** A name server said that there is no such name, or no address. */
    static HostRecord none(Throwable refusal, long nowNanos, DnsSettings settings) {
        return new HostRecord(refusal, nowNanos, settings.negativeTtlNanos(), 0);
    }

    /** Why there is no address; null when there is one. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    boolean isFresh(long nowNanos) {
        return nowNanos - freshUntilNanos < 0;
    }

    /** Whether its time is nearly over, so that asking now saves somebody the wait. */
    boolean isEnding(long nowNanos) {
        return nowNanos - renewedFromNanos >= 0;
    }

    /** Whether it may be used if nobody answers. */
    boolean isUsable(long nowNanos) {
        return refusal == null && nowNanos - staleUntilNanos < 0;
    }

    /** Nobody answered: it is used without waiting until then (RFC 8767 s5, "failure recheck timer"). */
    void holdOffUntil(long nanos) {
        holdsOff = true;
        heldOffUntilNanos = nanos;
    }

    boolean isHeldOff(long nowNanos) {
        return holdsOff && nowNanos - heldOffUntilNanos < 0;
    }

    /** Connecting to it failed: it comes last until then. */
    void downUntil(InetAddress address, long nanos) {
        if (preferred.contains(address) || others.contains(address)) {
            downUntilNanos.put(address, nanos);
        }
    }

    void up(InetAddress address) {
        downUntilNanos.remove(address);
    }

    /** Takes over which of the addresses could not be connected to. */
    void inherit(@Nullable HostRecord before) {
        if (before != null) {
            before.downUntilNanos.forEach(this::downUntil);
        }
    }

    /**
     * All addresses in the order to be tried: of each family in turn, beginning with the preferred one (RFC 8305 s4), each time
     * with the next address of each; those that could not be connected to lately come last.
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
