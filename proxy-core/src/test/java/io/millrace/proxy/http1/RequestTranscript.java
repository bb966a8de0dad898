package io.millrace.proxy.http1;

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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * The requests that a client's connection reads from bytes, split in any way: each with its fields and content, or its
 * refusal.
 */
final class RequestTranscript implements RequestReceiver {
    static final int LINE_MAX = 256;
    static final int FIELDS_MAX = 1024;
    private static final Http1Settings SETTINGS = new Http1Settings(LINE_MAX, FIELDS_MAX, 0, 0, 1, 1, 1, 1);

    /** One request that was read. */
    static final class Read {
        String line = "";
        final List<String> fields = new ArrayList<>();
        final StringBuilder content = new StringBuilder();
        boolean complete;

        @Override
        public String toString() {
            return line + " " + fields + " '" + content + "'" + (complete ? "" : " incomplete");
        }
    }

    private final List<Read> requests = new ArrayList<>();
    private final List<String> ends = new ArrayList<>();

    private RequestTranscript() {}

    /** Reads the bytes in pieces that end at these positions, and their end. */
    static RequestTranscript of(byte[] bytes, int... cuts) {
        RequestTranscript transcript = new RequestTranscript();
        Channel channel = new Channel();
        Http1Pipeline.install(
                channel, () -> SETTINGS, transcript, new ConnectionSet(channel.eventLoop(), 10, () -> {}), null);
        channel.pipeline().addBefore(channel.pipeline().lastContext().name(), "faults", transcript.faults());
        int from = 0;
        for (int cut : cuts) {
            channel.feed(bytes, from, cut);
            from = cut;
        }
        channel.feed(bytes, from, bytes.length);
        channel.finishAndReleaseAll();
        return transcript;
    }

    private ChannelInboundHandlerAdapter faults() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                throw new AssertionError("a fault on the way", cause);
            }
        };
    }

    private static final class Channel extends EmbeddedChannel {
        void feed(byte[] bytes, int from, int to) {
            if (isOpen() && to > from) {
                writeInbound(Unpooled.copiedBuffer(bytes, from, to - from));
                runPendingTasks();
                releaseOutbound();
            }
        }

        @Override
        protected SocketAddress localAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 80);
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 50000);
        }
    }

    List<Read> requests() {
        return requests;
    }

    @Override
    public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
        Read read = new Read();
        requests.add(read);
        read.line = head.methodName() + " " + head.target().pathAndQuery() + " HTTP/1." + head.minorVersion();
        FieldSection fields = head.fields();
        for (int line = 0; line < fields.size(); line++) {
            read.fields.add(fields.name(line) + ": " + fields.value(line));
        }
        return new RequestHandler() {
            @Override
            public void onContent(ByteBuf content) {
                read.content.append(content.toString(StandardCharsets.ISO_8859_1));
                content.release();
            }

            @Override
            public void onRequestEnd() {
                read.complete = true;
                answer(stream, 200);
            }

            @Override
            public void onRequestFailure(BadRequest reason) {
                ends.add("failed " + reason);
                answer(stream, reason.status());
            }

            @Override
            public void onWritable() {}

            @Override
            public void onClientGone() {}
        };
    }

    @Override
    public void onBadRequest(ClientStream stream, BadRequest reason) {
        ends.add("refused " + reason);
        answer(stream, reason.status());
    }

    private static void answer(ClientStream stream, int status) {
        stream.writeHead(
                new OutboundHead().reset(status, "", FieldSection.EMPTY).contentLength(0));
        stream.finish();
    }

    @Override
    public String toString() {
        return requests + " " + ends;
    }

    /**
     * Returns positions for splitting: all of them in turn, and single ones.
     *
     * @param most limit of single ones; beyond it the bytes determine them, so that a finding can be reproduced
     */
    static int[][] cutsOf(byte[] bytes, int most) {
        List<int[]> cuts = new ArrayList<>();
        int places = Math.max(0, bytes.length - 1);
        Random random = new Random(Arrays.hashCode(bytes));
        for (int i = 0; i < Math.min(most, places); i++) {
            cuts.add(new int[] {1 + (places <= most ? i : random.nextInt(places))});
        }
        int[] all = new int[Math.max(0, bytes.length - 1)];
        Arrays.setAll(all, i -> i + 1);
        cuts.add(all);
        return cuts.toArray(new int[0][]);
    }
}
