package io.millrace.proxy;

import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/** A client's stream that accepts everything, without a connection. Written by one event loop; read by any thread. */
class AnsweredStream implements ClientStream {
    private final AtomicLong bytes = new AtomicLong();
    private final EventLoop loop;
    private volatile int status;
    private volatile boolean ended;

    AnsweredStream(EventLoop loop) {
        this.loop = loop;
    }

    /**
     * Returns the status of the final response, {@link LiveProxy#CLOSED} if there was none at the end, and 0 before.
     */
    int status() {
        return status;
    }

    /** Returns true if the response is complete or was aborted. */
    boolean isEnded() {
        return ended;
    }

    @Override
    public EventLoop eventLoop() {
        return loop;
    }

    @Override
    public ByteBufAllocator alloc() {
        return UnpooledByteBufAllocator.DEFAULT;
    }

    @Override
    public ClientConnection connection() {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
        return new ClientConnection(address, address, false);
    }

    @Override
    public void writeInterim(OutboundHead head) {}

    @Override
    public void writeHead(OutboundHead head) {
        status = head.status();
    }

    @Override
    public void flush() {}

    @Override
    public void write(ByteBuf content) {
        bytes.addAndGet(content.readableBytes());
        content.release();
    }

    @Override
    public void finish() {
        ended = true;
    }

    @Override
    public void abort() {
        status = LiveProxy.CLOSED;
        ended = true;
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void readContent(boolean on) {}

    @Override
    public long bytesSent() {
        return bytes.get();
    }
}
