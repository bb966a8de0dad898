package io.millrace.cli.client;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * A stream connection with one deadline for all waits together. After the deadline a wait throws
 * {@link SocketTimeoutException}. Confined to one thread. Blocks.
 */
final class DeadlineChannel implements ByteStream {
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final long deadlineNanos;

    private DeadlineChannel(SocketChannel channel, long deadlineNanos) throws IOException {
        this.channel = channel;
        this.deadlineNanos = deadlineNanos;
        channel.configureBlocking(false);
        this.selector = Selector.open();
        this.key = channel.register(selector, 0);
    }

    /**
     * Connects to an address.
     *
     * @param deadlineNanos on the scale of {@link System#nanoTime}
     */
    static DeadlineChannel connect(SocketAddress address, long deadlineNanos) throws IOException {
        SocketChannel channel = address instanceof UnixDomainSocketAddress
                ? SocketChannel.open((ProtocolFamily) StandardProtocolFamily.UNIX)
                : SocketChannel.open();
        boolean connected = false;
        try {
            DeadlineChannel connecting = new DeadlineChannel(channel, deadlineNanos);
            try {
                if (!channel.connect(address)) {
                    do {
                        connecting.await(SelectionKey.OP_CONNECT);
                    } while (!channel.finishConnect());
                }
                connected = true;
                return connecting;
            } finally {
                if (!connected) {
                    connecting.close();
                }
            }
        } finally {
            if (!connected) {
                channel.close();
            }
        }
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                await(SelectionKey.OP_WRITE);
            }
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int count = channel.read(into);
        while (count == 0) {
            await(SelectionKey.OP_READ);
            count = channel.read(into);
        }
        return count;
    }

    private void await(int operation) throws IOException {
        key.interestOps(operation);
        selector.selectedKeys().clear();
        while (selector.selectedKeys().isEmpty()) {
            // The timeout is rounded up, since select(0) waits without a limit.
            long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime() + 999_999);
            if (millis <= 0) {
                throw new SocketTimeoutException();
            }
            selector.select(millis);
        }
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        selector.close();
        channel.close();
    }
}
