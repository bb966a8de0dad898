package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.ErrorShape;
import io.millrace.proxy.admin.resource.FailureReply;
import io.millrace.proxy.admin.resource.RequestSender;
import io.millrace.proxy.admin.resource.TargetPath;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client's connection to the admin API. It answers one request at a time, in order. Confined to one event loop. */
final class AdminConnection extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final Logger LOGGER = LoggerFactory.getLogger(AdminConnection.class);

    /** Limit of pipelined requests, more than clients of this API send; a connection above it is closed. */
    static final int MAX_PIPELINED = 16;

    private final AdminRoutes routes;
    private final Executor blockingCalls;
    private final @Nullable TcpLimits tcp;
    private final RequestDeadline deadline;
    private final AdminCallers callers;
    private final ChangesInProgress changes;
    /** Pipelined requests that wait for the answer to an earlier request; owned. */
    private final Deque<FullHttpRequest> waiting = new ArrayDeque<>(MAX_PIPELINED);

    private @Nullable PendingReply pending;
    /** The token of the request in progress; null without one. */
    private @Nullable AdminToken callerToken;

    /**
     * Creates the handler of a connection.
     *
     * @param blockingCalls runs blocking requests
     * @param tcp the limits of a TCP connection; null on a Unix domain socket, where the mode of the file limits access
     * @param deadline the deadline of the request that is being received
     * @param callers identifies the clients of requests
     * @param changes counts the requests that change state
     */
    AdminConnection(
            AdminRoutes routes,
            Executor blockingCalls,
            @Nullable TcpLimits tcp,
            RequestDeadline deadline,
            AdminCallers callers,
            ChangesInProgress changes) {
        this.routes = routes;
        this.blockingCalls = blockingCalls;
        this.tcp = tcp;
        this.deadline = deadline;
        this.callers = callers;
        this.changes = changes;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        deadline.stop();
        if (pending == null && waiting.isEmpty()) {
            begin(context, request);
        } else if (waiting.size() < MAX_PIPELINED) {
            waiting.add(request.retain());
        } else {
            context.close();
        }
    }

    private void begin(ChannelHandlerContext context, FullHttpRequest request) {
        boolean isMalformed = request.decoderResult().isFailure();
        boolean isHead = request.method().name().equals("HEAD");
        boolean wrongToken = !isMalformed && tcp != null && tcp.guard().hasWrongToken(request);
        boolean keepAlive = !isMalformed && !wrongToken && HttpUtil.isKeepAlive(request);
        String path = TargetPath.decoded(request.uri());
        PendingReply reply = new PendingReply(context, this, isHead, keepAlive, ErrorShape.of(path));
        pending = reply;
        if (isMalformed) {
            reply.reply(AdminReply.error(400, "malformed", "the request is not valid HTTP"));
            return;
        }
        String method = isHead ? "GET" : request.method().name();
        AdminResource resource = routes.find(method, path, request.uri());
        boolean isPublic = resource != null && resource.isPublic();
        callerToken = null;
        AdminException refusal = tcp == null ? null : refusal(context, tcp, request, resource);
        if (tcp != null && refusal != null) {
            refuse(context, tcp, refusal, wrongToken, reply);
        } else if (tcp != null && resource != null && !isPublic && !tcp.slot().isAuthenticated()) {
            // The token is correct, but no place was free for a further connection with a token.
            tcp.refusals().full();
            reply.fail(new AdminException(503, "busy", "too many connections with a token are open; try again"));
        } else if (resource != null) {
            byte[] body = ByteBufUtil.getBytes(request.content());
            setAnswering(true);
            if (method.equals("POST")) {
                reply.countAsChange(changes);
            }
            AdminCaller caller = callers.of(context.channel(), request, callerToken);
            handle(
                    resource,
                    new AdminRequest(
                            method,
                            request.uri(),
                            path,
                            body,
                            tcp != null,
                            caller,
                            fields(request),
                            sender(context, request)),
                    reply);
        } else {
            String allowed = routes.allowed(path, request.uri());
            if (allowed.isEmpty()) {
                reply.fail(new AdminException(404, "not-found", "there is no resource " + path));
            } else {
                reply.replyNotAllowed(method, allowed);
            }
        }
    }

    /**
     * Returns the error for a request over TCP that is refused. Returns null if it is admitted. Stores the token of the
     * request.
     */
    private @Nullable AdminException refusal(
            ChannelHandlerContext context,
            TcpLimits limits,
            FullHttpRequest request,
            @Nullable AdminResource resource) {
        boolean isPublic = resource != null && resource.isPublic();
        TcpGuard.Link link = TcpGuard.Link.of(context.channel());
        AdminException refusal = limits.guard().refusal(request, isPublic, link);
        if (refusal != null || isPublic) {
            return refusal;
        }
        AdminToken token = limits.guard().token(request, link);
        callerToken = token;
        // A reload may have removed the token, or a logout ended the session, since the check.
        return token == null
                ? TcpGuard.unauthorized()
                : TokenRights.refusal(token, request.method().name(), resource);
    }

    private static Map<String, String> fields(FullHttpRequest request) {
        Map<String, String> fields = new HashMap<>();
        for (String name : AdminRequest.FIELDS) {
            List<String> values = request.headers().getAll(name);
            if (!values.isEmpty()) {
                fields.put(name, String.join(" ", values));
            }
        }
        return fields;
    }

    /**
     * Counts an error answer by its error code, if the cause of the error is a missing right, a failed login, or a
     * limit. Call on the event loop.
     */
    void countError(String errorCode) {
        if (tcp != null) {
            tcp.refusals()
                    .countError(
                            errorCode,
                            callerToken == null ? null : callerToken.name(),
                            tcp.slot().address());
        }
    }

    private RequestSender sender(ChannelHandlerContext context, FullHttpRequest request) {
        boolean isSecure = context.pipeline().get(SslHandler.class) != null;
        HttpHeaders fields = request.headers();
        return new RequestSender(tcp == null ? null : tcp.slot().address(), isSecure, fields::get);
    }

    /**
     * Answers a refused request. The answer to a wrong token is delayed, so that guessing takes time. Meanwhile a new
     * connection may take the slot of this connection.
     */
    private static void refuse(
            ChannelHandlerContext context,
            TcpLimits tcp,
            AdminException refusal,
            boolean wrongToken,
            PendingReply reply) {
        if (!wrongToken) {
            if (refusal.status() == 401) {
                tcp.refusals().noToken();
            }
            reply.fail(refusal);
            return;
        }
        tcp.refusals().wrongToken(tcp.slot().address());
        context.executor()
                .schedule(() -> reply.fail(refusal), tcp.wrongTokenDelay().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void setAnswering(boolean isAnswering) {
        if (tcp != null) {
            tcp.slot().setAnswering(isAnswering);
        }
    }

    private void handle(AdminResource resource, AdminRequest request, PendingReply reply) {
        reply.startDeadline(resource.timeout());
        if (!resource.isBlocking()) {
            call(resource, request, reply);
            return;
        }
        try {
            blockingCalls.execute(() -> call(resource, request, reply));
        } catch (RejectedExecutionException e) {
            reply.fail(new AdminException(503, "busy", "too many admin requests are waiting; try again"));
        }
    }

    // Any failure of a resource is answered, and the connection stays open.
    @SuppressWarnings("IllegalCatch")
    private static void call(AdminResource resource, AdminRequest request, PendingReply reply) {
        try {
            resource.handle(request, reply);
        } catch (AdminException e) {
            reply.fail(e);
        } catch (RuntimeException e) {
            reply.fail(FailureReply.exceptionOf(e));
        }
    }

    /** Begins the next request after an answer was written. Call on the event loop. */
    void replied(ChannelHandlerContext context) {
        pending = null;
        setAnswering(false);
        if (!waiting.isEmpty()) {
            // The next request begins in a later task. Otherwise immediate answers to many pipelined requests would
            // recurse deeply.
            context.executor().execute(() -> beginNext(context));
        }
    }

    private void beginNext(ChannelHandlerContext context) {
        FullHttpRequest next = pending == null ? waiting.poll() : null;
        if (next != null) {
            try {
                begin(context, next);
            } finally {
                next.release();
            }
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof RequestDeadline.Passed passed) {
            if (tcp != null) {
                tcp.refusals().tooSlow();
            }
            tooSlow(context, passed.time());
        } else if (event instanceof IdleStateEvent && pending == null) {
            context.close();
        }
    }

    private void tooSlow(ChannelHandlerContext context, Duration time) {
        if (pending != null) {
            // An earlier request has no answer yet. The client would take a 408 for the answer to that request.
            context.close();
            return;
        }
        PendingReply reply = new PendingReply(context, this, false, false, ErrorShape.MILLRACE);
        pending = reply;
        reply.reply(AdminReply.error(
                408, "too-slow", "the request was not complete within " + time.toSeconds() + " seconds"));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (pending != null) {
            pending.cancel();
            pending = null;
        }
        for (FullHttpRequest request : waiting) {
            request.release();
        }
        waiting.clear();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOGGER.debug("an admin connection failed", cause);
        context.close();
    }
}
