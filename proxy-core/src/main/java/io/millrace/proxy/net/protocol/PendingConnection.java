package io.millrace.proxy.net.protocol;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A new client connection with one deadline, until its protocol or PROXY header is known.
 *
 * <p>A member of the {@link ConnectionSet} until the protocol takes over ({@link #leave}) or the connection is
 * closed. Confined to the channel's event loop.
 */
final class PendingConnection implements ConnectionSet.Member {
    private final ConnectionSet connections;
    private final @Nullable ClientConnection connection; // null before the PROXY header is read
    private final LongSupplier timeoutNanos;
    private final Runnable onTimeout;
    private final long startNanos = System.nanoTime();

    private int slot = -1;
    private boolean ended;

    @SuppressWarnings("NullAway.Init") // set by begin, before any other use
    private ChannelHandlerContext ctx;

    /** Creates a connection that is closed at its deadline. */
    PendingConnection(ConnectionSet connections, ClientConnection connection, LongSupplier timeoutNanos) {
        this.connections = connections;
        this.connection = connection;
        this.timeoutNanos = timeoutNanos;
        onTimeout = this::onClose;
    }

    /**
     * Creates a connection whose client is unknown before its PROXY header is read.
     *
     * @param connections contains this connection until it leaves or is closed
     * @param timeoutNanos limit of the time from the connection's start to {@link #leave}; read at every tick (the
     * periodic check of all connections), so that changes apply immediately
     * @param onTimeout closes the connection; may run more than once after the deadline
     */
    PendingConnection(ConnectionSet connections, LongSupplier timeoutNanos, Runnable onTimeout) {
        this.connections = connections;
        connection = null;
        this.timeoutNanos = timeoutNanos;
        this.onTimeout = onTimeout;
    }

    /**
     * Adds the connection to the set once the channel is active. Closes it if the set's limit is reached. Repeated
     * calls have no effect.
     */
    void begin(ChannelHandlerContext context) {
        ctx = context;
        if (slot < 0 && !ended && context.channel().isActive() && !connections.add(this)) {
            onClose();
        }
    }

    /** Returns true if the protocol has taken over or the connection was closed. */
    boolean isOver() {
        return ended;
    }

    /** Leaves the set: the protocol has taken over, or the channel is closed. */
    void leave() {
        ended = true;
        if (slot >= 0) {
            connections.remove(this);
        }
    }

    @Override
    public void onTick(long nowNanos) {
        if (nowNanos - startNanos > timeoutNanos.getAsLong()) {
            onTimeout.run();
        }
    }

    /** Keeps the connection during a drain. A request may be on its way, and the deadline limits the wait. */
    @Override
    public void onDrain(boolean idleToo) {}

    @Override
    public void onClose() {
        ended = true;
        ctx.close();
    }

    @Override
    public @Nullable ClientConnection client() {
        return connection;
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public void slot(int place) {
        slot = place;
    }
}
