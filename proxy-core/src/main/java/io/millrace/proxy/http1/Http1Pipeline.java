package io.millrace.proxy.http1;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.channel.Channel;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Adds the HTTP/1.1 handlers at the end of a channel's pipeline. The channel may be active already. */
public final class Http1Pipeline {
    private Http1Pipeline() {}

    /**
     * Adds HTTP/1.1 to a channel.
     *
     * @param settings read at each use
     * @param tlsFastLane answers RAM hits of a TLS connection before the decoder; null for none
     */
    public static void install(
            Channel channel,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            @Nullable TlsFastLane tlsFastLane) {
        new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), null, tlsFastLane)
                .addTo(channel, null);
    }

    /**
     * Adds HTTP/1.1 to a channel whose client address is not the channel's remote address.
     *
     * @param client the addresses and TLS properties of the connection
     */
    public static void install(
            Channel channel,
            ClientConnection client,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            @Nullable TlsFastLane tlsFastLane) {
        new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), null, tlsFastLane)
                .addTo(channel, client);
    }

    /** Adds HTTP/1.1 to a channel whose connection moves to the fast lane when it is idle. */
    static Http1Connection install(
            Channel channel,
            ClientConnection client,
            Supplier<Http1Settings> settings,
            RequestReceiver receiver,
            ConnectionSet connections,
            PromotedConnection promoted) {
        return new Http1Connection(settings, receiver, connections, new ConnectionDeadline(), promoted, null)
                .addTo(channel, client);
    }

    /** Adds a connection that was in the fast lane to a channel. */
    static Http1Connection install(
            Channel channel,
            FastConnection from,
            RequestReceiver receiver,
            ConnectionSet connections,
            PromotedConnection promoted) {
        Http1Connection connection =
                new Http1Connection(from.settings(), receiver, connections, from.deadline(), promoted, null);
        connection.answeredBefore(from.requests());
        return connection.addTo(channel, from.client());
    }
}
