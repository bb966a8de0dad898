package io.millrace.worker.traces;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Writes the request of each {@link OtlpExchange}, and completes it with the answer. Keeps up to 64 KiB of an answer's
 * content and ignores the rest, as it ignores answers of the class 1xx. Confined to the event loop of its channel.
 */
final class OtlpAnswerHandler extends ChannelDuplexHandler {
    private static final int BYTES_MAX = 64 << 10;

    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private @Nullable OtlpExchange current;
    private @Nullable HttpResponse head;
    private boolean isWritten;

    OtlpAnswerHandler() {}

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        OtlpExchange exchange = (OtlpExchange) message;
        current = exchange;
        head = null;
        isWritten = false;
        content.reset();
        context.write(exchange.request(), promise);
        promise.addListener(written -> {
            isWritten = written.isSuccess();
            if (!isWritten) {
                fail(context, written.cause());
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            read(context, (HttpObject) message);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(ChannelHandlerContext context, HttpObject part) {
        if (current == null || part.decoderResult().isFailure()) {
            // The cause is omitted: its text may contain parts of the answer.
            fail(context, new IOException("the answer is not valid HTTP"));
            return;
        }
        if (part instanceof HttpResponse response) {
            head = isInterim(response) ? null : response;
        }
        if (head == null) {
            return;
        }
        if (part instanceof HttpContent each) {
            append(each.content());
        }
        if (part instanceof LastHttpContent) {
            complete(current, head);
        }
    }

    private static boolean isInterim(HttpResponse response) {
        return response.status().codeClass() == HttpStatusClass.INFORMATIONAL
                && response.status().code() != HttpResponseStatus.SWITCHING_PROTOCOLS.code();
    }

    private void append(ByteBuf part) {
        byte[] kept = new byte[Math.min(part.readableBytes(), BYTES_MAX - content.size())];
        part.readBytes(kept);
        content.write(kept, 0, kept.length);
    }

    private void complete(OtlpExchange exchange, HttpResponse response) {
        current = null;
        int status = response.status().code();
        OtlpAnswer answer = new OtlpAnswer(
                status,
                OtlpAnswer.retryAfterNanos(response.headers().get(HttpHeaderNames.RETRY_AFTER), Instant.now()),
                PartialSuccess.decode(content.toByteArray()));
        // If the collector answers before the whole request is written, it may not read the rest. The connection is
        // then not used again.
        boolean keepsConnection =
                isWritten && HttpUtil.isKeepAlive(response) && status != HttpResponseStatus.SWITCHING_PROTOCOLS.code();
        exchange.result().complete(new OtlpExchange.Result(answer, keepsConnection));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(context, new IOException("the collector closed the connection without an answer"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(context, cause);
    }

    /** Ends the exchange, if there is one, and the connection. */
    private void fail(ChannelHandlerContext context, Throwable cause) {
        OtlpExchange failed = current;
        current = null;
        if (failed != null) {
            failed.result().completeExceptionally(cause);
        }
        context.close();
    }
}
