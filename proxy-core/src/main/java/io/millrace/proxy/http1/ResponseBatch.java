package io.millrace.proxy.http1;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of fast-lane answers that wait to be sent, for several connections in one buffer. They are sent when all
 * events of one epoll_wait are processed, or when a limit is reached. So the loop reads and decides for many
 * connections, and then sends to all of them. This uses the processor's caches better than sending after each read.
 *
 * <pre>
 *   | first connection's | second's | third's | being written ...
 *   0                                         ^ reader index of the buffer
 * </pre>
 *
 * <p>Confined to its event loop.
 */
final class ResponseBatch {
    /**
     * Limit of connections with waiting answers. With 32 connections, the first answers are still in the processor's
     * second-level cache when they are sent.
     */
    private static final int CONNECTIONS_MAX = 32;
    /** Limit of waiting bytes. The answers of the last connection may exceed it. */
    private static final int BYTES_MAX = 64 * 1024;

    /** Initial capacity of the buffer in bytes. */
    private static final int CAPACITY = 128 * 1024;

    private static final Logger log = LoggerFactory.getLogger(ResponseBatch.class);

    /** Receives connections whose answers could not be sent completely. */
    interface Events {
        /**
         * Called when the kernel does not accept all answers of a connection. The rest lies between the buffer's
         * indices. Borrowed.
         */
        void onUnsent(FastConnection connection, ByteBuf rest);
    }

    private final EventLoop loop;
    private final ByteBufAllocator allocator;
    private final Events events;
    private final Runnable queuedSend = this::sendQueued;
    private final @Nullable FastConnection[] connections = new FastConnection[CONNECTIONS_MAX];
    /** End position of each connection's answers, where the next connection's answers start. */
    private final int[] ends = new int[CONNECTIONS_MAX];

    private int size;
    /** True if {@link #queuedSend} waits in the event loop. */
    private boolean queued;

    private @Nullable ByteBuf buffer;

    ResponseBatch(EventLoop loop, ByteBufAllocator allocator, Events events) {
        this.loop = loop;
        this.allocator = allocator;
        this.events = events;
    }

    /**
     * Returns the buffer for the answers of one more connection, with both indices at their start. Borrowed until the
     * next call.
     */
    ByteBuf begin() {
        ByteBuf answers = buffer;
        if (answers == null) {
            answers = allocator.directBuffer(CAPACITY);
            buffer = answers;
        }
        int start = size == 0 ? 0 : ends[size - 1];
        return answers.setIndex(start, start);
    }

    /** Queues the bytes written since {@link #begin} for the connection. */
    void add(FastConnection connection, ByteBuf answers) {
        int end = answers.writerIndex();
        connections[size] = connection;
        ends[size] = end;
        size++;
        connection.setWaiting(true);
        if (size == CONNECTIONS_MAX || end >= BYTES_MAX) {
            send();
        } else if (!queued) {
            // Tasks run after all events of the current epoll_wait.
            loop.execute(queuedSend);
            queued = true;
        }
    }

    private void sendQueued() {
        queued = false;
        send();
    }

    /** Returns true if no answers wait. */
    boolean isEmpty() {
        return size == 0;
    }

    /** Sends all waiting answers. */
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
        connection.setWaiting(false);
        try {
            if (!connection.socket().write(answers)) {
                connection.closeNow();
            } else if (answers.isReadable()) {
                events.onUnsent(connection, answers);
            } else {
                connection.answered(false);
            }
        } catch (RuntimeException | Error e) {
            // The answers of the other connections are still sent.
            log.warn(
                    "{}: connection closed after an internal error",
                    connection.client().remoteAddress(),
                    e);
            connection.closeNow();
        }
    }

    /**
     * Sends the waiting answers of a connection that is about to be closed, as far as the kernel accepts them
     * immediately.
     */
    void sendLast(FastConnection connection) {
        ByteBuf answers = buffer;
        for (int i = 0; i < size && answers != null; i++) {
            if (connections[i] == connection) {
                connections[i] = null;
                connection.setWaiting(false);
                var unused = connection.socket().write(answers.setIndex(i == 0 ? 0 : ends[i - 1], ends[i]));
            }
        }
    }

    /** Releases the buffer. Call after the connections are closed. */
    void close() {
        size = 0;
        Arrays.fill(connections, null);
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
    }
}
