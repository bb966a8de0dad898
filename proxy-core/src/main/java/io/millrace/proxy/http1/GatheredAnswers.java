package io.millrace.proxy.http1;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answers of a fast lane that wait to be sent: those of one connection behind those of another in one buffer of the event loop. They leave when all
 * that one look at epoll has brought is answered, or when enough wait. So reading and deciding runs for many connections in a row, and then
 * the kernel's sending does, which the processor's caches make cheaper than both in turns.
 *
 * <pre>
 *   | first connection's | second's | third's | being written ...
 *   0                                         ^ reader index of the buffer
 * </pre>
 *
 * <p>Confined to its event loop.
 */
final class GatheredAnswers {
    /** Connections whose answers wait at most; the processor's second cache still has what was read and written for the first of them. */
    private static final int CONNECTIONS_MAX = 32;
    /** Bytes that wait at most; the last connection's may go beyond. */
    private static final int BYTES_MAX = 64 * 1024;

    private static final int CAPACITY = 128 * 1024;

    private static final Logger log = LoggerFactory.getLogger(GatheredAnswers.class);

    /** Who goes on where sending does not. */
    interface Events {
        /** The kernel does not take all of a connection's answers: what is left of them lies between the buffer's indices; borrowed. */
        void onUnsent(FastConnection connection, ByteBuf rest);
    }

    private final EventLoop loop;
    private final ByteBufAllocator allocator;
    private final Events events;
    private final Runnable queuedSend = this::sendQueued;
    private final @Nullable FastConnection[] connections = new FastConnection[CONNECTIONS_MAX];
    /** Where the answers of each end; they begin where those before end. */
    private final int[] ends = new int[CONNECTIONS_MAX];

    private int size;
    private boolean queued;
    private @Nullable ByteBuf buffer;

    GatheredAnswers(EventLoop loop, ByteBufAllocator allocator, Events events) {
        this.loop = loop;
        this.allocator = allocator;
        this.events = events;
    }

    /** The buffer for the answers of one more connection, with both indices where they begin; borrowed until the next call. */
    ByteBuf begin() {
        ByteBuf answers = buffer;
        if (answers == null) {
            answers = allocator.directBuffer(CAPACITY);
            buffer = answers;
        }
        int start = size == 0 ? 0 : ends[size - 1];
        return answers.setIndex(start, start);
    }

    /** Keeps what was written since {@link #begin} for the connection. */
    void add(FastConnection connection, ByteBuf answers) {
        int end = answers.writerIndex();
        connections[size] = connection;
        ends[size] = end;
        size++;
        connection.waits(true);
        if (size == CONNECTIONS_MAX || end >= BYTES_MAX) {
            send();
        } else if (!queued) {
            // Tasks run when all events of a look at epoll were handled.
            loop.execute(queuedSend);
            queued = true;
        }
    }

    private void sendQueued() {
        queued = false;
        send();
    }

    /** Whether nobody's answers wait. */
    boolean isEmpty() {
        return size == 0;
    }

    /** Sends all that waits. */
    void send() {
        ByteBuf answers = buffer;
        int count = size;
        if (answers == null || count == 0) {
            return;
        }
        size = 0;
        int start = 0;
        for (int i = 0; i < count; i++) {
            FastConnection connection = connections[i];
            connections[i] = null;
            if (connection != null && !connection.isGone()) {
                send(connection, answers.setIndex(start, ends[i]));
            }
            start = ends[i];
        }
    }

    private void send(FastConnection connection, ByteBuf answers) {
        connection.waits(false);
        try {
            if (!connection.socket().write(answers)) {
                connection.closeNow();
            } else if (answers.isReadable()) {
                events.onUnsent(connection, answers);
            } else {
                connection.answered(false);
            }
        } catch (RuntimeException | Error e) {
            // The others' answers leave all the same.
            log.warn("{}: connection closed after a fault", connection.facts().remoteAddress(), e);
            connection.closeNow();
        }
    }

    /** Sends what waits for a connection that is closed next, as far as the kernel takes it at once. */
    void sendLast(FastConnection connection) {
        ByteBuf answers = buffer;
        for (int i = 0; i < size && answers != null; i++) {
            if (connections[i] == connection) {
                connections[i] = null;
                connection.waits(false);
                var unused = connection.socket().write(answers.setIndex(i == 0 ? 0 : ends[i - 1], ends[i]));
            }
        }
    }

    /** Gives the buffer back; after the connections are closed. */
    void close() {
        size = 0;
        Arrays.fill(connections, null);
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
    }
}
