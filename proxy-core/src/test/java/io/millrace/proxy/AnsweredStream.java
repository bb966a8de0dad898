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

/** A client's stream that takes everything, without a connection behind it. Written to by one event loop; read by any thread. */
class AnsweredStream implements ClientStream {
    private final AtomicLong bytes = new AtomicLong();
    private final EventLoop loop;
    private volatile int status;
    private volatile boolean ended;

    AnsweredStream(EventLoop loop) {
        this.loop = loop;
    }

    /** The final response's, {@link LiveProxy#CLOSED} where there was none in the end, and 0 before. */
    int status() {
        return status;
    }

    /** Whether the answer is whole, or given up. */
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
