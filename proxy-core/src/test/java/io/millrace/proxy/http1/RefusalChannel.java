package io.millrace.proxy.http1;

import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.Consumer;

/** A client's connection without a socket, on which every request must be refused. */
final class RefusalChannel extends EmbeddedChannel {
    private RefusalChannel() {}

    static EmbeddedChannel open(Http1Settings settings, Consumer<BadRequest> refused) {
        RefusalChannel channel = new RefusalChannel();
        RequestReceiver receiver = new RequestReceiver() {
            @Override
            public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
                throw new AssertionError("accepted: " + head);
            }

            @Override
            public void onBadRequest(ClientStream stream, BadRequest reason) {
                refused.accept(reason);
            }
        };
        Http1Pipeline.install(
                channel, () -> settings, receiver, new ConnectionSet(channel.eventLoop(), 10, () -> {}), null);
        return channel;
    }

    @Override
    protected SocketAddress localAddress0() {
        return InetSocketAddress.createUnresolved("127.0.0.1", 80);
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return InetSocketAddress.createUnresolved("127.0.0.1", 50000);
    }
}
