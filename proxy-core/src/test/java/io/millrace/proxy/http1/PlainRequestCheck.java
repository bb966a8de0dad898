package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Compares the results of the fast lane's scanner and of the channel lane for the same bytes. */
final class PlainRequestCheck {
    static final Http1Settings SETTINGS = new Http1Settings(256, 1024, 0, 0, 1, 1, 1, 1);
    private static final byte[] NEXT =
            "GET /next HTTP/1.1\r\nHost: next.example\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final PlainRequestScanner scanner = new PlainRequestScanner(false);

    /**
     * Scans.
     *
     * @return true if the scanner accepted the beginning as a plain request; then the decoder accepted the same request
     */
    boolean check(byte[] bytes) {
        // The array is longer on both sides: bytes outside of the range must have no effect.
        byte[] array = new byte[bytes.length + 16];
        Arrays.fill(array, (byte) '\n');
        System.arraycopy(bytes, 0, array, 8, bytes.length);
        int length = scanner.scan(array, 8, 8 + bytes.length, SETTINGS);
        if (length == PlainRequestScanner.NOT_PLAIN) {
            return false;
        }
        assertTrue(length > 0 && length <= bytes.length, () -> "length " + length);
        String seen = text(scanner.head(), 0);
        boolean persistent = scanner.isPersistent();
        assertTrue(
                length > scanner.lineLength() && array[8 + scanner.lineLength() - 1] == '\n',
                () -> "line of " + scanner.lineLength());

        byte[] wire = Arrays.copyOf(bytes, length + NEXT.length);
        System.arraycopy(NEXT, 0, wire, length, NEXT.length);
        Lane lane = Lane.read(wire);
        assertEquals(seen, lane.requests.isEmpty() ? "nothing" : lane.requests.get(0), () -> shown(bytes));
        String next = "GET http://next.example/next HTTP/1.1 0\nHost: next.example\n";
        assertEquals(
                persistent ? List.of(seen, next) : List.of(seen), lane.requests, () -> "what follows " + shown(bytes));
        assertEquals(List.of(), lane.refusals, () -> shown(bytes));
        assertEquals(persistent, !lane.answers.get(0).contains("Connection: close"), () -> shown(bytes));
        return true;
    }

    private static String shown(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static String text(RequestHead head, long contentLength) {
        return head.methodName() + ' ' + head.target().asString() + " HTTP/1." + head.minorVersion() + ' '
                + contentLength + '\n' + head.fields();
    }

    /** A connection in the channel lane that answers each request. */
    private static final class Lane implements RequestReceiver {
        final List<String> requests = new ArrayList<>();
        final List<BadRequest> refusals = new ArrayList<>();
        final List<String> answers = new ArrayList<>();

        static Lane read(byte[] wire) {
            Lane lane = new Lane();
            EmbeddedChannel channel = new Loopback();
            Http1Pipeline.install(
                    channel, () -> SETTINGS, lane, new ConnectionSet(channel.eventLoop(), 10, () -> {}), null);
            channel.writeInbound(Unpooled.wrappedBuffer(wire));
            channel.runPendingTasks();
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                lane.answers.add(out.toString(StandardCharsets.ISO_8859_1));
                out.release();
            }
            channel.finishAndReleaseAll();
            return lane;
        }

        @Override
        public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
            requests.add(text(head, contentLength));
            return new RequestHandler() {
                @Override
                public void onContent(ByteBuf content) {
                    refusals.add(BadRequest.CONTENT_TOO_LARGE);
                    content.release();
                }

                @Override
                public void onRequestEnd() {
                    stream.writeHead(new OutboundHead()
                            .reset(200, "", FieldSection.EMPTY)
                            .contentLength(0));
                    stream.finish();
                }

                @Override
                public void onRequestFailure(BadRequest reason) {
                    refusals.add(reason);
                }

                @Override
                public void onWritable() {}

                @Override
                public void onClientGone() {}
            };
        }

        @Override
        public void onBadRequest(ClientStream stream, BadRequest reason) {
            refusals.add(reason);
        }
    }

    private static final class Loopback extends EmbeddedChannel {
        @Override
        protected SocketAddress localAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 80);
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 50000);
        }
    }
}
