package io.millrace.proxy.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;

/**
 * Gives a TCP connection the place and the time limit of a connection with the token when a request head has it.
 * Placed after the codec.
 *
 * <p>Confined to one event loop.
 */
final class TokenGate extends ChannelInboundHandlerAdapter {
    private final TcpGuard guard;
    private final TcpPlaces.Place place;
    private final RequestDeadline deadline;
    private final Duration requestTime;

    /** @param requestTime time from the head of a request with the token to its last byte */
    TokenGate(TcpGuard guard, TcpPlaces.Place place, RequestDeadline deadline, Duration requestTime) {
        this.guard = guard;
        this.place = place;
        this.deadline = deadline;
        this.requestTime = requestTime;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest head
                && !place.isProven()
                && head.decoderResult().isSuccess()
                && guard.refuse(head, false, TcpGuard.Link.of(context.channel())) == null
                && place.prove()) {
            deadline.lengthen(requestTime);
        }
        context.fireChannelRead(message);
    }
}
