package io.millrace.proxy.fill;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** A reader that reads whenever it may. */
final class Reading implements ContentSink {
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    ResponseTee.Reader reader;
    int pieces;
    final List<Integer> lengths = new ArrayList<>();
    int mostBuffers;
    boolean ended;
    ContentFailure failure;
    Runnable whenOver = () -> {};
    Runnable onPiece = () -> {};
    private boolean copies;
    private boolean going;
    private boolean outstanding;
    private boolean pulling;

    static Reading of(ResponseTee tee) {
        Reading reading = stalled(tee);
        reading.go();
        return reading;
    }

    static Reading of(ResponseTee tee, EmbeddedChannel loop) {
        Reading reading = stalled(tee, loop);
        reading.go();
        return reading;
    }

    static Reading keepingCopies(ResponseTee tee, EmbeddedChannel loop) {
        Reading reading = new Reading();
        reading.copies = true;
        reading.reader = tee.read(loop.eventLoop(), reading);
        reading.go();
        return reading;
    }

    static Reading stalled(ResponseTee tee, EmbeddedChannel loop) {
        Reading reading = new Reading();
        reading.reader = tee.read(loop.eventLoop(), reading);
        return reading;
    }

    static Reading stalled(ResponseTee tee) {
        Reading reading = new Reading();
        reading.reader = tee.read(ImmediateEventExecutor.INSTANCE, reading);
        return reading;
    }

    void go() {
        going = true;
        pull();
    }

    /** Requests nothing after the requested piece. */
    void stall() {
        going = false;
    }

    /** A piece that arrives at once requests the next one from here, so that many pieces do not use up the stack. */
    private void pull() {
        if (pulling) {
            return;
        }
        pulling = true;
        try {
            while (going && !outstanding && !ended && failure == null) {
                outstanding = true;
                reader.pull();
            }
        } finally {
            pulling = false;
        }
    }

    byte[] bytes() {
        return received.toByteArray();
    }

    @Override
    public boolean keepsCopies() {
        return copies;
    }

    @Override
    public void onContent(ByteBuf content) {
        outstanding = false;
        lengths.add(content.readableBytes());
        mostBuffers = Math.max(mostBuffers, content.nioBufferCount());
        byte[] bytes = new byte[content.readableBytes()];
        content.readBytes(bytes).release();
        received.writeBytes(bytes);
        pieces++;
        onPiece.run();
        pull();
    }

    @Override
    public void onEnd() {
        ended = true;
        reader.close();
        whenOver.run();
    }

    @Override
    public void onFailure(ContentFailure reason) {
        failure = reason;
        reader.close();
        whenOver.run();
    }
}
