package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectionOutputTest {
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ConnectionOutput output =
            new ConnectionOutput(channel.pipeline().lastContext(), channel.eventLoop()::execute);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void aHeadAndTheContentThatFitsAreSentInOneBufferAtTheEndOfTheTurn() {
        output.writeHead(bytes("head ", 16));
        output.flush();
        output.write(bytes("content ", 8));
        output.write(bytes("end", 3));
        output.flush();
        assertTrue(output.isSending());
        assertEquals(0, channel.outboundMessages().size());

        channel.runPendingTasks();
        assertEquals("head content end", sent());
        assertNull(channel.readOutbound());
        assertTrue(!output.isSending());
    }

    @Test
    void contentThatDoesNotFitBehindItsHeadIsNotCopied() {
        ByteBuf content = bytes("content", 7);
        output.writeHead(bytes("head ", 5));
        output.write(content);
        output.flush();
        channel.runPendingTasks();
        assertEquals("head ", sent());
        assertSame(content, channel.outboundMessages().peek());
        assertEquals("content", sent());
    }

    @Test
    void twoHeadsLeaveInTheirOrder() {
        output.writeHead(bytes("first ", 20));
        output.writeHead(bytes("second", 20));
        output.flush();
        channel.runPendingTasks();
        assertEquals("first ", sent());
        assertEquals("second", sent());
    }

    @Test
    void bytesFlushedDuringAReadAreSentAtItsEnd() {
        output.beginRead();
        output.writeHead(bytes("head", 4));
        output.flush();
        channel.runPendingTasks();
        assertEquals(0, channel.outboundMessages().size());
        output.endRead();
        assertEquals("head", sent());
    }

    @Test
    void aHeadThatWaitsGoesWithItsChannel() {
        ByteBuf head = bytes("head", 4);
        output.writeHead(head);
        output.flush();
        output.drop();
        channel.runPendingTasks();
        assertEquals(0, head.refCnt());
        assertNull(channel.readOutbound());
    }

    @Test
    void contentOfUnknownLengthHasRoomAndLargeContentHasNone() {
        assertEquals(1024, ConnectionOutput.reserveFor(1024));
        assertEquals(0, ConnectionOutput.reserveFor(1 << 20));
        assertTrue(ConnectionOutput.reserveFor(-1) > 0);
    }

    private String sent() {
        ByteBuf bytes = channel.readOutbound();
        try {
            return bytes.toString(StandardCharsets.US_ASCII);
        } finally {
            bytes.release();
        }
    }

    private static ByteBuf bytes(String text, int capacity) {
        return Unpooled.buffer(capacity, capacity).writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
}
