package io.millrace.proxy.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;

/**
 * Authenticates a TCP connection when a request head has a valid token. The connection then gets a slot and the time
 * limit of authenticated connections. This handler is placed after the codec.
 *
 * <p>Confined to one event loop.
 */
final class TokenGate extends ChannelInboundHandlerAdapter {
    private final TcpGuard guard;
    private final TcpSlots.Slot slot;
    private final RequestDeadline deadline;
    private final Duration requestTime;

    /** @param requestTime time from the head of a request with a valid token to its last byte */
    TokenGate(TcpGuard guard, TcpSlots.Slot slot, RequestDeadline deadline, Duration requestTime) {
        this.guard = guard;
        this.slot = slot;
        this.deadline = deadline;
        this.requestTime = requestTime;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest head
                && !slot.isAuthenticated()
                && head.decoderResult().isSuccess()
                && guard.refusal(head, false, TcpGuard.Link.of(context.channel())) == null
                && slot.authenticate()) {
            deadline.lengthen(requestTime);
        }
        context.fireChannelRead(message);
    }
}
