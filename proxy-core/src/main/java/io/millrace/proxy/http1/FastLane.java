package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.CountedReads;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.FastReceiver;
import io.millrace.proxy.net.PlainReceiver;
import io.millrace.proxy.net.PlainSocket;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fast lane of cleartext HTTP/1.1 connections: answers RAM hits without a Netty channel. One per event loop.
 *
 * <p>Plain requests (GET or HEAD that {@link PlainRequestScanner} accepts) are read into one buffer of the loop and
 * answered into another, which one system call sends. A connection with other bytes, or with a request that RAM cannot
 * answer, is promoted to a channel with an {@link Http1Connection}. The channel gets the unanswered bytes and the cache
 * decision for the request. Later the idle connection returns to the fast lane: immediately if the lane answered many
 * of its requests, else at a tick (the periodic check of all connections). The delay doubles after each stay without an
 * answer, so that a client without hits moves seldom.
 *
 * <p>Confined to its event loop.
 */
public final class FastLane implements PlainReceiver {
    /** Limit of bytes per read: more than browsers send in one request. */
    private static final int READ_BYTES = 32 * 1024;
    /** Limit of consecutive reads of one connection, for fairness to the other connections. */
    private static final int READS_MAX = 16;
    /** Answers to pipelined requests are sent when they have this many bytes. The last answer may exceed the size. */
    private static final int SEND_BYTES = 64 * 1024;

    /** Number of answers in this lane that save as much time as a move to a channel and back costs. */
    static final int REQUESTS_WORTH_A_MOVE = 8;

    private static final Logger log = LoggerFactory.getLogger(FastLane.class);

    /** Receives events of connections, for counters. */
    public interface Events {
        /** A connection was accepted. */
        void onOpened();

        /** A connection was closed, in the fast lane or in a channel. */
        void onClosed();

        /** Bytes were read from a connection, in the fast lane or in a channel. */
        void onReceived(int bytes);

        /** The fast lane has answered a request. */
        void onAnswered();

        /** A connection was promoted to a channel. */
        void onPromoted();

        /** A connection has returned from a channel. */
        void onReturned();
    }

    /**
     * The components of the lane. All belong to its event loop.
     *
     * @param allocator allocates buffers of the lane and of promoted channels
     * @param settings read at each use
     * @param open whether connections may enter the lane
     * @param receiver receives the requests of promoted connections
     * @param fast answers plain requests from RAM; for other plain requests it returns the cache decision
     * @param connections all client connections of the event loop, in the lane and in channels
     * @param events receives events of connections
     */
    public record Parts(
            EventLoop loop,
            ByteBufAllocator allocator,
            Supplier<Http1Settings> settings,
            Supplier<Boolean> open,
            RequestReceiver receiver,
            FastReceiver fast,
            ConnectionSet connections,
            Events events) {}

    private final Parts parts;
    private final PlainRequestScanner scanner = new PlainRequestScanner(false);
    private final FastStream stream;
    private final byte[] bytes = new byte[READ_BYTES];
    private final ResponseBatch batch;
    private final CountedReads channelReads;
    private @Nullable ByteBuf in;

    public FastLane(Parts parts) {
        this.parts = parts;
        this.stream = new FastStream(parts.loop(), parts.allocator());
        this.channelReads = new CountedReads(parts.events()::onReceived);
        this.batch = new ResponseBatch(parts.loop(), parts.allocator(), this::promoteUnsent);
    }

    @Override
    public boolean takesConnections() {
        return parts.open().get();
    }

    @Override
    public void onAccepted(PlainSocket socket, ClientConnection client) {
        parts.events().onOpened();
        FastConnection connection = new FastConnection(this, socket, client, new ConnectionDeadline(), 0, 0);
        if (connections().add(connection)) {
            serveFirst(connection);
        } else {
            socket.close();
            parts.events().onClosed();
        }
    }

    /**
     * Serves a connection that is in a channel, for example because it began with a PROXY header. The connection moves
     * to this lane when it is idle.
     *
     * @param channel registered and active; its pipeline contains no handler that is needed later
     * @param client the addresses and TLS properties of the connection, which hold in this lane too
     */
    public void serve(Channel channel, ClientConnection client) {
        PromotedConnection.startInChannel(this, channel, client, parts.receiver(), connections());
    }

    /**
     * Serves the first request, which has usually arrived already. A connection that ends after this request is never
     * registered with epoll.
     */
    private static void serveFirst(FastConnection connection) {
        connection.onReadable(false);
        if (!connection.isGone()) {
            begin(connection);
        }
    }

    private static void begin(FastConnection connection) {
        try {
            connection.socket().begin(connection);
        } catch (RuntimeException e) {
            log.warn(
                    "{}: connection closed after an internal error",
                    connection.client().remoteAddress(),
                    e);
            connection.closeNow();
        }
    }

    /** The scanner of plain requests. Its result is valid until the next scan. */
    PlainRequestScanner scanner() {
        return scanner;
    }

    ConnectionSet connections() {
        return parts.connections();
    }

    Supplier<Http1Settings> settings() {
        return parts.settings();
    }

    void onClosed(FastConnection connection) {
        connections().remove(connection);
        parts.events().onClosed();
    }

    /** Reads and discards bytes. Returns the result of {@link PlainSocket#read}. */
    int discard(PlainSocket socket) {
        return read(socket);
    }

    /**
     * Reads the client's bytes and answers the requests that this lane can answer.
     *
     * @param ended whether the end of the client's output follows
     */
    void serve(FastConnection connection, boolean ended) {
        if (connection.isWaiting()) {
            // More bytes arrived before the waiting answers were sent. Send them first, to keep the order.
            batch.send();
            if (connection.isGone()) {
                return;
            }
            if (connection.isClosing()) {
                connection.onReadable(ended);
                return;
            }
        }
        for (int reads = 0; reads < READS_MAX; reads++) {
            int end = read(connection.socket());
            if (end == PlainSocket.END) {
                connection.closeNow();
                return;
            }
            if (end == 0) {
                return;
            }
            in().getBytes(0, bytes, 0, end);
            if (batch.isEmpty()) {
                parts.fast().beginBatch();
            }
            answer(connection, end, ended);
            if (connection.isGone() || (end < READ_BYTES && !ended)) {
                return;
            }
            if (connection.isClosing()) {
                connection.onReadable(ended);
                return;
            }
        }
        connection.socket().readLater();
    }

    private int read(PlainSocket socket) {
        int count = socket.read(in());
        if (count > 0) {
            parts.events().onReceived(count);
        }
        return count;
    }

    private void answer(FastConnection connection, int end, boolean ended) {
        ByteBuf answers = batch.begin();
        int at = 0;
        while (at < end && !connection.isClosing()) {
            int length = scanner.scan(bytes, at, end, settings().get());
            if (length == PlainRequestScanner.NOT_PLAIN) {
                promote(connection, new Promotion(copyUnsent(answers), false, null, null, copyUnprocessed(at, end)));
                return;
            }
            boolean last = connection.beginRequest(scanner.isPersistent());
            stream.begin(answers, connection.client(), scanner.head().minorVersion(), last);
            DecidedRequest decided = parts.fast().onFastRequest(stream, scanner.head());
            if (decided != null) {
                stream.discardResponse();
                promoteDecided(connection, decided, answers, at, length, end);
                return;
            }
            at += length;
            parts.events().onAnswered();
            connection.deadline().await(Waiting.KEEP_ALIVE);
            if (stream.isClose()) {
                connection.closeAfter();
            } else if (answers.readableBytes() >= SEND_BYTES && !send(connection, answers, at, end)) {
                return;
            }
        }
        if (!connection.isClosing() && end < READ_BYTES && !ended) {
            batch.add(connection, answers);
        } else if (send(connection, answers, at, end)) {
            connection.answered(at == end && end < READ_BYTES && !scanner.isPersistent());
        }
    }

    private void promoteDecided(
            FastConnection connection, DecidedRequest decided, ByteBuf answers, int at, int length, int end) {
        connection.uncountRequest();
        byte[] head = Arrays.copyOfRange(bytes, at, at + length);
        ParsedRequest parsed =
                ParsedRequest.ofPlain(scanner.head(), at, scanner.isPersistent(), head, scanner.lineLength());
        ByteBuf laterBytes = copyUnprocessed(at + length, end);
        promote(connection, new Promotion(copyUnsent(answers), false, parsed, decided, laterBytes));
    }

    /**
     * Sends the waiting answers.
     *
     * @return false when the connection has left this lane: it failed, or a channel now sends the unsent answers
     */
    private boolean send(FastConnection connection, ByteBuf answers, int at, int end) {
        if (!connection.socket().write(answers)) {
            connection.closeNow();
            return false;
        }
        if (answers.isReadable()) {
            boolean last = connection.isClosing();
            ByteBuf laterBytes = last ? null : copyUnprocessed(at, end);
            promote(connection, new Promotion(copyUnsent(answers), last, null, null, laterBytes));
            return false;
        }
        batch.begin();
        return true;
    }

    private void promoteUnsent(FastConnection connection, ByteBuf answers) {
        // A shutdown that closes idle connections does not close a connection whose answers wait. Therefore the channel
        // closes it after these answers.
        boolean last = connections().closesIdle();
        promote(connection, new Promotion(copyUnsent(answers), last, null, null, null));
    }

    /** Sends the waiting answers of a connection before it is closed. */
    void sendLast(FastConnection connection) {
        batch.sendLast(connection);
    }

    /** Returns a copy of the answers that were not sent; null for none. */
    private @Nullable ByteBuf copyUnsent(ByteBuf answers) {
        return answers.isReadable()
                ? parts.allocator().directBuffer(answers.readableBytes()).writeBytes(answers)
                : null;
    }

    /** Returns a copy of a range of the client's bytes that this lane does not process; null for an empty range. */
    private @Nullable ByteBuf copyUnprocessed(int from, int to) {
        return to > from ? parts.allocator().directBuffer(to - from).writeBytes(bytes, from, to - from) : null;
    }

    /** Promotes the connection to a channel. Takes ownership of the promotion. */
    private void promote(FastConnection from, Promotion promotion) {
        SocketChannel channel;
        try {
            channel = from.socket().toChannel();
        } catch (RuntimeException e) {
            log.debug(
                    "{}: the channel for a connection cannot be created",
                    from.client().remoteAddress(),
                    e);
            promotion.release();
            from.closeNow();
            return;
        }
        from.leave();
        channel.config().setOption(ChannelOption.ALLOCATOR, parts.allocator());
        channel.config().setRecvByteBufAllocator(channelReads);
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        channel.closeFuture().addListener(closed -> parts.events().onClosed());
        PromotedConnection promoted = new PromotedConnection(this, channel, from, parts.receiver(), connections());
        connections().replace(from, promoted.connection());
        parts.events().onPromoted();
        parts.loop().register(channel).addListener(registered -> {
            if (registered.isSuccess()) {
                promoted.continueWith(promotion);
            } else {
                log.warn(
                        "{}: connection closed, because its channel cannot be registered",
                        from.client().remoteAddress(),
                        registered.cause());
                promotion.release();
                connections().remove(promoted.connection());
                channel.close();
            }
        });
    }

    /**
     * Moves a connection from its channel to this lane, if it is still idle after the channel was deregistered.
     * Otherwise the channel continues.
     *
     * @param channel idle; it reads until it has been deregistered
     */
    void returnToLane(PromotedConnection from, Channel channel) {
        channel.deregister().addListener(deregistered -> {
            if (!channel.isOpen()) {
                return;
            }
            PlainSocket socket = from.connection().isIdle() ? PlainSocket.of(channel, parts.loop()) : null;
            if (!deregistered.isSuccess() || socket == null) {
                parts.loop().register(channel).addListener(registered -> from.continueInChannel());
                return;
            }
            FastConnection to = from.demoted(socket);
            connections().replace(from.connection(), to);
            parts.events().onReturned();
            begin(to);
            if (connections().closesIdle()) {
                to.onDrain(true);
            }
        });
    }

    /** Returns true if connections in channels may return. */
    boolean acceptsReturns() {
        return takesConnections() && !connections().isDraining();
    }

    private ByteBuf in() {
        ByteBuf buffer = in;
        if (buffer == null) {
            buffer = parts.allocator().directBuffer(READ_BYTES, READ_BYTES);
            in = buffer;
        }
        return buffer;
    }

    /** Releases the lane's buffers. Call after the connections are closed. */
    public void close() {
        stream.end();
        if (in != null) {
            in.release();
            in = null;
        }
        batch.close();
    }
}
