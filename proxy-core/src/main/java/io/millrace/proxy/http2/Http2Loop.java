package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.memory.LoopMemory;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientProtocol;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.FastReceiver;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.function.Supplier;

/**
 * Creates the HTTP/2 connections of one event loop, and holds the objects that they share.
 *
 * <p>Confined to its event loop.
 */
public final class Http2Loop implements ClientProtocol {
    /**
     * The components that connections of one event loop share.
     *
     * @param settings queried each time a setting is used
     * @param answersDirectly whether RAM hits may be answered without an exchange (the object that processes a
     *     request); queried for each request
     * @param receiver receives the requests
     * @param fast receives the requests that may be answered without an exchange
     * @param connections the open client connections of the event loop, of any protocol
     * @param memory the loop's view of the budget for bytes in flight
     * @param events receives events for counters
     */
    public record Parts(
            EventLoop loop,
            ByteBufAllocator allocator,
            Supplier<Http2Settings> settings,
            Supplier<Boolean> answersDirectly,
            RequestReceiver receiver,
            FastReceiver fast,
            ConnectionSet connections,
            LoopMemory memory,
            Http2Events events) {}

    private final Parts parts;
    private final HeadEncoder encoder = new HeadEncoder();
    private final RequestFields fields = new RequestFields();
    private final FrameReader.BlockBuffer block = new FrameReader.BlockBuffer();
    private final Http2FastStream fastStream;

    public Http2Loop(Parts parts) {
        this.parts = parts;
        this.fastStream = new Http2FastStream(parts.loop(), parts.allocator(), encoder);
    }

    @Override
    public void serve(Channel channel, ClientConnection client) {
        parts.events().onConnection();
        channel.pipeline().addLast(new Http2Connection(this, client));
    }

    Parts parts() {
        return parts;
    }

    HeadEncoder encoder() {
        return encoder;
    }

    RequestFields fields() {
        return fields;
    }

    FrameReader.BlockBuffer block() {
        return block;
    }

    Http2FastStream fastStream() {
        return fastStream;
    }
}
