package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.DirectReceiver;
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
 * The fast lane of one event loop: plain requests are read into one buffer of the loop, answered into another, and sent by one system call.
 * A connection whose bytes are anything else, or whose request needs more than a hit in RAM, is promoted: it becomes a channel with an
 * {@link Http1Connection}, which gets what was read and not answered, and what was decided. It returns when it is idle: at once
 * when it had many answers here, else at a tick, and later with each visit that was in vain, so that a client which never hits hardly pays for moves.
 *
 * <p>Confined to its event loop.
 */
public final class FastLane implements PlainReceiver {
    /** What one read takes: more than the requests of browsers are long. */
    private static final int READ_BYTES = 32 * 1024;
    /** Reads of one connection before others have their turn. */
    private static final int READS_MAX = 16;
    /** Answers to pipelined requests leave when they are that many bytes; the last one may go beyond. */
    private static final int SEND_BYTES = 64 * 1024;

    /** Answers in this lane that save what a connection's way into a channel and back costs. */
    static final int REQUESTS_WORTH_A_MOVE = 8;

    private static final Logger log = LoggerFactory.getLogger(FastLane.class);

    /** What happens to connections, to be counted. */
    public interface Events {
        /** A connection came. */
        void onOpened();

        /** A connection is gone; also told of one that ended in a channel. */
        void onClosed();

        /** A request was answered here. */
        void onAnswered();

        /** A connection became a channel. */
        void onPromoted();

        /** A connection came back from a channel. */
        void onReturned();
    }

    /**
     * What the lane works with, all of it its event loop's own.
     *
     * @param allocator of the lane's buffers and of promoted channels
     * @param settings asked whenever one counts
     * @param open whether connections may come into the lane
     * @param receiver takes the requests of promoted connections
     * @param direct takes the plain requests
     * @param connections all connections, in whatever lane
     * @param events told of what happens
     */
    public record Parts(
            EventLoop loop,
            ByteBufAllocator allocator,
            Supplier<Http1Settings> settings,
            Supplier<Boolean> open,
            RequestReceiver receiver,
            DirectReceiver direct,
            ConnectionSet connections,
            Events events) {}

    private final Parts parts;
    private final PlainRequestScanner scanner = new PlainRequestScanner(false);
    private final FastStream stream;
    private final byte[] bytes = new byte[READ_BYTES];
    private final GatheredAnswers gathered;
    private @Nullable ByteBuf in;

    public FastLane(Parts parts) {
        this.parts = parts;
        this.stream = new FastStream(parts.loop(), parts.allocator());
        this.gathered = new GatheredAnswers(parts.loop(), parts.allocator(), this::promoteUnsent);
    }

    @Override
    public boolean isOpen() {
        return parts.open().get();
    }

    @Override
    public void onAccepted(PlainSocket socket, ClientConnection facts) {
        parts.events().onOpened();
        FastConnection connection = new FastConnection(this, socket, facts, new ConnectionDeadline(), 0, 0);
        if (connections().add(connection)) {
            serveFirst(connection);
        } else {
            socket.close();
            parts.events().onClosed();
        }
    }

    /**
     * Serves a connection that is in a channel, such as one that began with a PROXY header: it comes here when it is idle.
     *
     * @param channel registered and active, with nothing in its pipeline that is needed later
     * @param facts what is known of the connection; they hold in this lane too
     */
    public void serve(Channel channel, ClientConnection facts) {
        PromotedConnection.first(this, channel, facts, parts.receiver(), connections());
    }

    /** The first request mostly is there already; a connection that ends with it is never polled. */
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
            log.warn("{}: connection closed after a fault", connection.facts().remoteAddress(), e);
            connection.closeNow();
        }
    }

    /** Recognises plain requests; what it found is good until it is used again. */
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

    /** Reads and drops; as {@link PlainSocket#read}. */
    int discard(PlainSocket socket) {
        return socket.read(in());
    }

    /**
     * Reads what a client sent and answers it as far as this lane does.
     *
     * @param ended whether the client's end waits behind it
     */
    void serve(FastConnection connection, boolean ended) {
        if (connection.isWaiting()) {
            // Told of more before what waits was sent: one answer after the other.
            gathered.send();
            if (connection.isGone()) {
                return;
            }
            if (connection.isClosing()) {
                connection.onReadable(ended);
                return;
            }
        }
        for (int reads = 0; reads < READS_MAX; reads++) {
            int end = connection.socket().read(in());
            if (end == PlainSocket.END) {
                connection.closeNow();
                return;
            }
            if (end == 0) {
                return;
            }
            in().getBytes(0, bytes, 0, end);
            if (gathered.isEmpty()) {
                parts.direct().onTurn();
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

    private void answer(FastConnection connection, int end, boolean ended) {
        ByteBuf answers = gathered.begin();
        int at = 0;
        while (at < end && !connection.isClosing()) {
            int length = scanner.scan(bytes, at, end, settings().get());
            if (length == PlainRequestScanner.NOT_PLAIN) {
                promote(connection, new Promotion(rest(answers), false, null, null, rest(at, end)));
                return;
            }
            boolean last = connection.beginRequest(scanner.isPersistent());
            stream.begin(answers, connection.facts(), scanner.head().minorVersion(), last);
            DecidedRequest decided = parts.direct().onDirectRequest(stream, scanner.head());
            if (decided != null) {
                stream.takeBack();
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
            gathered.add(connection, answers);
        } else if (send(connection, answers, at, end)) {
            connection.answered(at == end && end < READ_BYTES && !scanner.isPersistent());
        }
    }

    private void promoteDecided(
            FastConnection connection, DecidedRequest decided, ByteBuf answers, int at, int length, int end) {
        connection.withdrawRequest();
        byte[] head = Arrays.copyOfRange(bytes, at, at + length);
        RequestReading reading =
                RequestReading.ofPlain(scanner.head(), at, scanner.isPersistent(), head, scanner.lineLength());
        promote(connection, new Promotion(rest(answers), false, reading, decided, rest(at + length, end)));
    }

    /**
     * Sends the answers that wait.
     *
     * @return false when the connection has left this lane: it failed, or the client does not take all and a channel waits for it
     */
    private boolean send(FastConnection connection, ByteBuf answers, int at, int end) {
        if (!connection.socket().write(answers)) {
            connection.closeNow();
            return false;
        }
        if (answers.isReadable()) {
            boolean last = connection.isClosing();
            promote(connection, new Promotion(rest(answers), last, null, null, last ? null : rest(at, end)));
            return false;
        }
        gathered.begin();
        return true;
    }

    private void promoteUnsent(FastConnection connection, ByteBuf answers) {
        // A drain has passed it by while its answers waited.
        boolean last = connections().endsIdle();
        promote(connection, new Promotion(rest(answers), last, null, null, null));
    }

    /** A connection that is closed: what waits for it is sent before. */
    void sendLast(FastConnection connection) {
        gathered.sendLast(connection);
    }

    private @Nullable ByteBuf rest(ByteBuf answers) {
        return answers.isReadable()
                ? parts.allocator().directBuffer(answers.readableBytes()).writeBytes(answers)
                : null;
    }

    private @Nullable ByteBuf rest(int from, int to) {
        return to > from ? parts.allocator().directBuffer(to - from).writeBytes(bytes, from, to - from) : null;
    }

    /** Makes a channel of the connection; takes ownership of what goes with it. */
    private void promote(FastConnection from, Promotion promotion) {
        SocketChannel channel;
        try {
            channel = from.socket().toChannel();
        } catch (RuntimeException e) {
            log.debug("{}: no channel for a connection", from.facts().remoteAddress(), e);
            promotion.release();
            from.closeNow();
            return;
        }
        from.leave();
        channel.config().setOption(ChannelOption.ALLOCATOR, parts.allocator());
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        channel.closeFuture().addListener(closed -> parts.events().onClosed());
        PromotedConnection visit = new PromotedConnection(this, channel, from, parts.receiver(), connections());
        connections().replace(from, visit.connection());
        parts.events().onPromoted();
        parts.loop().register(channel).addListener(registered -> {
            if (registered.isSuccess()) {
                visit.goOn(promotion);
            } else {
                log.warn("{}: connection closed", from.facts().remoteAddress(), registered.cause());
                promotion.release();
                connections().remove(visit.connection());
                channel.close();
            }
        });
    }

    /**
     * Takes a connection out of its channel, if it still is idle when that has left the event loop; else the channel goes on.
     *
     * @param channel idle; it reads until it has left
     */
    void takeBack(PromotedConnection from, Channel channel) {
        channel.deregister().addListener(left -> {
            if (!channel.isOpen()) {
                return;
            }
            PlainSocket socket = from.connection().isIdle() ? PlainSocket.of(channel, parts.loop()) : null;
            if (!left.isSuccess() || socket == null) {
                parts.loop().register(channel).addListener(back -> from.stay());
                return;
            }
            FastConnection to = from.demoted(socket);
            connections().replace(from.connection(), to);
            parts.events().onReturned();
            begin(to);
            if (connections().endsIdle()) {
                to.onDrain(true);
            }
        });
    }

    /** Whether a connection that is in a channel may come back. */
    boolean takesBack() {
        return isOpen() && !connections().isDraining();
    }

    private ByteBuf in() {
        ByteBuf buffer = in;
        if (buffer == null) {
            buffer = parts.allocator().directBuffer(READ_BYTES, READ_BYTES);
            in = buffer;
        }
        return buffer;
    }

    /** Gives the lane's buffers back; after the connections are closed. */
    public void close() {
        stream.end();
        if (in != null) {
            in.release();
            in = null;
        }
        gathered.close();
    }
}
