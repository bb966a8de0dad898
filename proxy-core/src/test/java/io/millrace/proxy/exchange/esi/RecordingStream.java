package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A client's stream whose event loop runs tasks only on demand. Records the calls. */
final class RecordingStream implements ClientStream {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final StringBuilder text = new StringBuilder();
    final List<String> calls = new ArrayList<>();
    final List<Integer> writes = new ArrayList<>();
    int writableCount = Integer.MAX_VALUE;
    boolean isBroken;

    String text() {
        return text.toString();
    }

    void runTasks() {
        channel.runPendingTasks();
    }

    /** Moves the clock of the event loop, and runs the tasks that are due. */
    void advanceSeconds(long seconds) {
        channel.freezeTime();
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runPendingTasks();
    }

    @Override
    public EventExecutor eventLoop() {
        return channel.eventLoop();
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
        calls.add("head " + head.status());
    }

    @Override
    public void flush() {}

    @Override
    public void write(ByteBuf content) {
        try {
            if (isBroken) {
                throw new IllegalStateException("the stream is broken");
            }
            writableCount--;
            writes.add(content.readableBytes());
            text.append(content.toString(StandardCharsets.ISO_8859_1));
        } finally {
            content.release();
        }
    }

    @Override
    public void finish() {
        calls.add("finish");
    }

    @Override
    public void abort() {
        calls.add("abort");
    }

    @Override
    public boolean isWritable() {
        return writableCount > 0;
    }

    @Override
    public void readContent(boolean on) {}

    @Override
    public long bytesSent() {
        return text.length();
    }
}
