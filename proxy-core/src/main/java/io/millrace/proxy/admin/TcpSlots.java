package io.millrace.proxy.admin;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits the TCP connections of the admin API. If all slots of connections without a valid token are taken, a new
 * connection replaces one of them. Connections with a valid token have separate slots.
 *
 * <p>Confined to one event loop.
 */
final class TcpSlots {
    /** Limit of connections that have sent no valid token. */
    static final int WITHOUT_TOKEN_MAX = 64;

    /** Limit of connections that have sent a valid token. */
    static final int WITH_TOKEN_MAX = 64;

    private final TcpRefusals refusals;
    /** Connections without a valid token, oldest first. */
    private final Set<Slot> unauthenticated = new LinkedHashSet<>();

    /** Number of connections that have sent a valid token. */
    private int authenticated;

    TcpSlots(TcpRefusals refusals) {
        this.refusals = refusals;
    }

    /** The slot of one connection. */
    final class Slot {
        private final Channel channel;
        private boolean isAuthenticated;
        private boolean isAnswering;

        private Slot(Channel channel) {
            this.channel = channel;
        }

        boolean isAuthenticated() {
            return isAuthenticated;
        }

        /**
         * Records whether a request of the connection is being answered. A connection with such a request is replaced
         * last.
         */
        void setAnswering(boolean isAnswered) {
            isAnswering = isAnswered;
        }

        /**
         * Moves a connection with a valid token to the slots of authenticated connections. Returns false if all are
         * taken.
         */
        boolean authenticate() {
            if (!isAuthenticated && authenticated < WITH_TOKEN_MAX && unauthenticated.remove(this)) {
                isAuthenticated = true;
                authenticated++;
            }
            return isAuthenticated;
        }

        /** Returns the client's address; null if it is not known. */
        @Nullable
        InetAddress address() {
            return channel.remoteAddress() instanceof InetSocketAddress address ? address.getAddress() : null;
        }
    }

    /** Returns a slot for a new connection until it closes. If none is free, another connection is closed. */
    Slot enter(Channel channel) {
        if (unauthenticated.size() >= WITHOUT_TOKEN_MAX) {
            Slot other = connectionToReplace();
            unauthenticated.remove(other);
            refusals.connectionEvicted();
            other.channel.close();
        }
        Slot slot = new Slot(channel);
        unauthenticated.add(slot);
        channel.closeFuture().addListener(closed -> leave(slot));
        return slot;
    }

    private void leave(Slot slot) {
        unauthenticated.remove(slot);
        if (slot.isAuthenticated) {
            authenticated--;
        }
    }

    /**
     * Returns the oldest connection of the address with the most connections. Prefers connections without a request in
     * progress.
     */
    private Slot connectionToReplace() {
        boolean hasIdle = unauthenticated.stream().anyMatch(slot -> !slot.isAnswering);
        Map<@Nullable InetAddress, Integer> counts = new HashMap<>();
        int most = 0;
        for (Slot slot : unauthenticated) {
            if (!slot.isAnswering || !hasIdle) {
                most = Math.max(most, counts.merge(slot.address(), 1, Integer::sum));
            }
        }
        for (Slot slot : unauthenticated) {
            if ((!slot.isAnswering || !hasIdle) && counts.getOrDefault(slot.address(), 0) == most) {
                return slot;
            }
        }
        throw new IllegalStateException("no connection without a token");
    }
}
