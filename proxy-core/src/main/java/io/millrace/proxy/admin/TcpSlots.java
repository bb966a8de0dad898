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
 * Limits the TCP connections of the admin API. If all places of connections without a valid token are taken, a new
 * connection replaces one of them. Connections with the token have separate places.
 *
 * <p>Confined to one event loop.
 */
final class TcpPlaces {
    /** Connections that have shown no valid token. */
    static final int WITHOUT_TOKEN_MAX = 64;

    /** Connections that have shown a valid token. */
    static final int WITH_TOKEN_MAX = 64;

    private final TcpRefusals refusals;
    /** Connections without a token, oldest first. */
    private final Set<Place> unproven = new LinkedHashSet<>();

    private int proven;

    TcpPlaces(TcpRefusals refusals) {
        this.refusals = refusals;
    }

    /** The place of one connection. */
    final class Place {
        private final Channel channel;
        private boolean isProven;
        private boolean isAnswering;

        private Place(Channel channel) {
            this.channel = channel;
        }

        boolean isProven() {
            return isProven;
        }

        /** Sets whether a request of the connection is being answered; such a connection is replaced last. */
        void answering(boolean whether) {
            isAnswering = whether;
        }

        /** Moves a connection that has sent the token; returns false if all places of such connections are taken. */
        boolean prove() {
            if (!isProven && proven < WITH_TOKEN_MAX && unproven.remove(this)) {
                isProven = true;
                proven++;
            }
            return isProven;
        }

        /** Returns the client's address; null if it is not known. */
        @Nullable
        InetAddress address() {
            return channel.remoteAddress() instanceof InetSocketAddress address ? address.getAddress() : null;
        }
    }

    /** Returns a place for a new connection until it closes. If none is free, another connection is closed. */
    Place enter(Channel channel) {
        if (unproven.size() >= WITHOUT_TOKEN_MAX) {
            Place other = leastWanted();
            unproven.remove(other);
            refusals.gaveWay();
            other.channel.close();
        }
        Place place = new Place(channel);
        unproven.add(place);
        channel.closeFuture().addListener(closed -> leave(place));
        return place;
    }

    private void leave(Place place) {
        unproven.remove(place);
        if (place.isProven) {
            proven--;
        }
    }

    /**
     * Returns the oldest connection of the address with the most connections; preferably one without a request in
     * progress.
     */
    private Place leastWanted() {
        boolean anyUnanswered = unproven.stream().anyMatch(place -> !place.isAnswering);
        Map<@Nullable InetAddress, Integer> counts = new HashMap<>();
        int most = 0;
        for (Place place : unproven) {
            if (!place.isAnswering || !anyUnanswered) {
                most = Math.max(most, counts.merge(place.address(), 1, Integer::sum));
            }
        }
        for (Place place : unproven) {
            if ((!place.isAnswering || !anyUnanswered) && counts.getOrDefault(place.address(), 0) == most) {
                return place;
            }
        }
        throw new IllegalStateException("no connection without a token");
    }
}
