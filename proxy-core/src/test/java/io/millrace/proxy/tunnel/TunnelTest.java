package io.millrace.proxy.tunnel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.tunnel.Tunnel.End;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TunnelTest {
    private static final long IDLE = TimeUnit.MINUTES.toNanos(10);
    private static final long MAX = TimeUnit.HOURS.toNanos(1);

    private final List<End> ends = new ArrayList<>();
    private Tunnel tunnel = new Tunnel(() -> new TunnelLimits(IDLE, MAX), ends::add);
    private EmbeddedChannel client;
    private EmbeddedChannel origin;

    private void join() {
        origin = new EmbeddedChannel(new ChannelHandler[] {tunnel.originSide()});
        client = new EmbeddedChannel(new ChannelHandler[] {tunnel.clientSide()});
    }

    @AfterEach
    void closeAll() {
        client.finishAndReleaseAll();
        origin.finishAndReleaseAll();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static String sentTo(EmbeddedChannel channel) {
        StringBuilder all = new StringBuilder();
        ByteBuf next;
        while ((next = channel.readOutbound()) != null) {
            all.append(next.toString(StandardCharsets.US_ASCII));
            next.release();
        }
        return all.toString();
    }

    @Test
    void bytesGoToTheOtherSide() {
        join();
        client.writeInbound(bytes("ab"), bytes("c"));
        origin.writeInbound(bytes("d"));
        assertEquals("abc", sentTo(origin));
        assertEquals("d", sentTo(client));
        assertEquals(3, tunnel.bytesToOrigin());
        assertEquals(1, tunnel.bytesToClient());
    }

    @Test
    void bytesBeforeTheOtherSideConnectsAreKept() {
        origin = new EmbeddedChannel(new ChannelHandler[] {tunnel.originSide()});
        origin.writeInbound(bytes("early"));
        assertFalse(origin.config().isAutoRead());
        origin.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        client = new EmbeddedChannel(new ChannelHandler[] {tunnel.clientSide()});
        assertTrue(origin.config().isAutoRead());
        assertEquals("early", sentTo(client));
        client.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertEquals(List.of(End.CLOSED), ends);
    }

    @Test
    void aSideIsNotReadWhileTheOtherTakesNothing() {
        join();
        client.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        client.runPendingTasks();
        origin.writeInbound(bytes("x"));
        assertFalse(origin.config().isAutoRead());
        assertTrue(client.config().isAutoRead());
        client.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        client.runPendingTasks();
        assertTrue(origin.config().isAutoRead());
    }

    @Test
    void quietTunnelEndsAfterItsIdleTime() {
        join();
        tunnel.onTick(1000);
        tunnel.onTick(1000 + IDLE - 1);
        origin.writeInbound(bytes("x"));
        tunnel.onTick(1000 + IDLE);
        tunnel.onTick(1000 + 2 * IDLE - 1);
        assertEquals(List.of(), ends);
        tunnel.onTick(1000 + 2 * IDLE);
        assertEquals(List.of(End.IDLE), ends);
        assertFalse(client.isOpen());
        assertFalse(origin.isOpen());
    }

    @Test
    void busyTunnelEndsAfterItsLife() {
        join();
        for (long now = 1; now < MAX; now += IDLE / 2) {
            client.writeInbound(bytes("x"));
            tunnel.onTick(now);
        }
        assertEquals(List.of(), ends);
        client.writeInbound(bytes("x"));
        tunnel.onTick(1 + MAX);
        assertEquals(List.of(End.EXPIRED), ends);
    }

    @Test
    void lifeMayHaveNoLimit() {
        tunnel = new Tunnel(() -> new TunnelLimits(IDLE, 0), ends::add);
        join();
        for (long now = 1; now < 10 * MAX; now += IDLE / 2) {
            client.writeInbound(bytes("x"));
            tunnel.onTick(now);
        }
        assertEquals(List.of(), ends);
    }

    /** After TLS's close_notify a side accepts no more bytes; bytes for it are no fault. */
    @Test
    void closeNotifyEndsBothDirectionsOfASide() {
        join();
        client.pipeline().fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);
        origin.writeInbound(bytes("too late"));
        client.pipeline().fireExceptionCaught(new IOException("the engine is closed"));
        assertEquals("", sentTo(client));
        assertEquals(List.of(), ends);
        origin.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertEquals(List.of(End.CLOSED), ends);
    }

    @Test
    void brokenSideBreaksTheOther() {
        join();
        origin.pipeline().fireExceptionCaught(new IOException("reset"));
        assertEquals(List.of(End.ORIGIN_BROKEN), ends);
        assertFalse(client.isOpen());
    }

    @Test
    void keptBytesAreReleasedAtTheEnd() {
        origin = new EmbeddedChannel(new ChannelHandler[] {tunnel.originSide()});
        ByteBuf early = bytes("early");
        origin.writeInbound(early);
        tunnel.close();
        assertEquals(List.of(End.STOPPED), ends);
        assertEquals(0, early.refCnt());
        client = new EmbeddedChannel(new ChannelHandler[] {tunnel.clientSide()});
        assertFalse(client.isOpen());
        assertEquals(List.of(End.STOPPED), ends);
    }
}
