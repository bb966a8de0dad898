package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.ErrorShape;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpUtil;
import org.jspecify.annotations.Nullable;

/**
 * Aggregates requests up to {@link AdminServer#MAX_BODY_BYTES}. A longer request gets a 413 in the error format of the
 * API, and the connection is closed without reading the rest. Confined to one event loop.
 */
final class BodyLimit extends HttpObjectAggregator {
    private final AdminConnection connection;

    BodyLimit(AdminConnection connection) {
        super(AdminServer.MAX_BODY_BYTES, true);
        this.connection = connection;
    }

    /**
     * Returns null for {@code Expect: 100-continue} with a body that is too long. The request then gets the 413 of this
     * class, because Netty's 413 has no body.
     */
    @Override
    protected @Nullable Object newContinueResponse(HttpMessage start, int lengthMax, ChannelPipeline pipeline) {
        return HttpUtil.getContentLength(start, -1L) > lengthMax
                ? null
                : super.newContinueResponse(start, lengthMax, pipeline);
    }

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
        new PendingReply(context, connection, false, false, ErrorShape.MILLRACE)
                .reply(AdminReply.error(
                        413, "too-large", "the request body is longer than " + AdminServer.MAX_BODY_BYTES + " bytes"));
    }
}
