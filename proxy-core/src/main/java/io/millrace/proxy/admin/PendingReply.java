package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.ErrorShape;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The pending answer to a request, with its deadline. Thread-safe: replies of any thread are written on the event
 * loop.
 */
final class PendingReply implements AdminResponder {
    private final ChannelHandlerContext context;
    private final AdminConnection connection;
    private final boolean isHead;
    private final boolean keepAlive;
    private final AtomicBoolean isReplied = new AtomicBoolean();
    private final ErrorShape shape;
    private @Nullable String allow;
    private volatile long retryAfterSeconds;
    private @Nullable ScheduledFuture<?> deadline;
    /** The counter that counts this request as a change in progress; null for a request that is not counted. */
    private @Nullable ChangesInProgress changes;

    PendingReply(
            ChannelHandlerContext context,
            AdminConnection connection,
            boolean isHead,
            boolean keepAlive,
            ErrorShape shape) {
        this.shape = shape;
        this.context = context;
        this.connection = connection;
        this.isHead = isHead;
        this.keepAlive = keepAlive;
    }

    /** Answers with a 504 after the timeout. Call on the event loop. */
    void startDeadline(Duration timeout) {
        deadline = context.executor()
                .schedule(
                        () -> fail(new AdminException(
                                504, "timeout", "no answer within " + timeout.toSeconds() + " seconds")),
                        timeout.toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    /** Counts the request as a change until the answer is written or the request is dropped. Call on the event loop. */
    void countAsChange(ChangesInProgress inProgress) {
        inProgress.began();
        changes = inProgress;
    }

    private void endChange() {
        ChangesInProgress inProgress = changes;
        changes = null;
        if (inProgress != null) {
            inProgress.ended();
        }
    }

    /** Answers that the path does not support this method. Call on the event loop. */
    void replyNotAllowed(String method, String allowed) {
        allow = allowed;
        fail(new AdminException(405, "method-not-allowed", method + " is not allowed here, use " + allowed));
    }

    @Override
    public void fail(AdminException error) {
        retryAfterSeconds = error.retryAfterSeconds();
        reply(shape.reply(error));
    }

    @Override
    public void reply(AdminReply reply) {
        if (!isReplied.compareAndSet(false, true)) {
            return;
        }
        if (context.executor().inEventLoop()) {
            write(reply);
        } else {
            context.executor().execute(() -> write(reply));
        }
    }

    /** Drops the request after the client has disconnected. Call on the event loop. */
    void cancel() {
        isReplied.set(true);
        cancelDeadline();
        endChange();
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    private void write(AdminReply reply) {
        cancelDeadline();
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(reply.status()),
                isHead ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(reply.body()));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, reply.contentType())
                .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                .set("x-content-type-options", "nosniff");
        if (reply.status() != HttpResponseStatus.NOT_MODIFIED.code()) {
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, reply.body().length);
        }
        reply.fields().forEach((name, value) -> response.headers().set(name, value));
        if (allow != null) {
            response.headers().set(HttpHeaderNames.ALLOW, allow);
        }
        if (retryAfterSeconds > 0) {
            response.headers().set(HttpHeaderNames.RETRY_AFTER, retryAfterSeconds);
        }
        if (reply.errorCode() != null) {
            response.headers().set(AdminReply.ERROR_FIELD, reply.errorCode());
            connection.countError(reply.errorCode());
        }
        if (reply.status() == HttpResponseStatus.UNAUTHORIZED.code()) {
            response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
        }
        if (!keepAlive) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        ChannelFuture written = context.writeAndFlush(response);
        if (changes != null) {
            written.addListener(done -> endChange());
        }
        if (!keepAlive) {
            written.addListener(ChannelFutureListener.CLOSE);
        } else {
            connection.replied(context);
        }
    }
}
