package io.millrace.proxy.exchange.authorize;

import io.millrace.proxy.access.authorize.AuthorizationResult;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request to an authorisation server. Its response is never stored as content.
 *
 * <p>Confined to one event loop.
 */
final class AuthorizeCall implements OriginResponseHandler {
    /** Limit in bytes of a refusal's content. Longer content is replaced by one line of text from this proxy. */
    static final int BODY_MAX = 64 * 1024;

    private static final byte[] NO_BODY = {};
    private static final int UNAUTHORIZED = 401;
    private static final int SUCCESS_MIN = 200;
    private static final int SUCCESS_MAX = 299;
    private static final int CLIENT_ERROR_MIN = 400;
    private static final int CLIENT_ERROR_MAX = 499;
    private static final long MILLIS = 1000;

    /** Fields of a refusal that are always passed on to the client. */
    private static final FieldNames REFUSAL_FIELDS =
            FieldNames.of(FieldName.WWW_AUTHENTICATE, FieldName.SET_COOKIE, FieldName.RETRY_AFTER);

    /** Fields that describe the content of a refusal. */
    private static final FieldNames CONTENT_FIELDS =
            FieldNames.of(FieldName.CONTENT_TYPE, FieldName.CONTENT_LANGUAGE, FieldName.CONTENT_ENCODING);

    /** Receives the result. */
    interface End {
        /**
         * Called once.
         *
         * @param freshMillis time for which the result may be remembered; 0 for none
         */
        void onResult(AuthorizationResult result, long freshMillis);
    }

    private final AuthorizeConfig config;
    private final End end;
    private final OriginCall call;
    private final Future<?> deadline;
    private @Nullable ResponseHead refusal;
    private byte[] body = NO_BODY;
    private int received;
    private boolean ended;

    private AuthorizeCall(
            OriginClient origins, OriginRequest request, AuthorizeConfig config, EventExecutor loop, End end) {
        this.config = config;
        this.end = end;
        // OriginClient calls no method of the handler before fetch returns.
        this.call = origins.fetch(request, this);
        this.deadline = loop.schedule(this::onTimeout, config.timeoutMillis(), TimeUnit.MILLISECONDS);
        if (request.hasContent()) {
            call.finishRequest();
        }
    }

    /** Sends the request. The result is passed to {@code end} later, never during this call. */
    static void start(
            OriginClient origins, OriginRequest request, AuthorizeConfig config, EventExecutor loop, End end) {
        new AuthorizeCall(origins, request, config, loop, end);
    }

    private void onTimeout() {
        call.cancel();
        end(AuthorizationResult.failed("timeout"));
    }

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {
        int status = head.status();
        if (status >= SUCCESS_MIN && status <= SUCCESS_MAX) {
            long fresh = freshMillis(head, config.ttlMillis());
            decide(AuthorizationResult.allowed(receivedFields(head.fields())), fresh);
        } else if (isRefusal(head)) {
            refusal = head;
        } else if (status >= CLIENT_ERROR_MIN && status <= CLIENT_ERROR_MAX) {
            decide(AuthorizationResult.forbidden("status-" + status), 0);
        } else {
            decide(AuthorizationResult.failed("status-" + status), 0);
        }
    }

    /** Returns true if the response refuses the request, so that the client gets it. */
    private static boolean isRefusal(ResponseHead head) {
        return switch (head.status()) {
            case 401, 403 -> true;
            case 301, 302, 303, 307, 308 -> head.fields().contains(FieldName.LOCATION);
            default -> false;
        };
    }

    private FieldSection receivedFields(FieldSection from) {
        FieldSection.Builder fields = FieldSection.builder();
        for (FieldName name : config.receiveFields()) {
            for (int line = from.find(name); line >= 0; line = from.next(name, line)) {
                fields.addLine(from, line);
            }
        }
        return fields.build();
    }

    private static long freshMillis(ResponseHead head, long ttlMillis) {
        CacheControl control = CacheControl.ofResponse(head.fields(), List.of());
        if (control.isNoStore() || control.isNoCache()) {
            return 0;
        }
        long maxAge = control.maxAgeSeconds();
        return maxAge == CacheControl.ABSENT ? ttlMillis : Math.min(ttlMillis, maxAge * MILLIS);
    }

    @Override
    public void onContent(ByteBuf piece) {
        int size = piece.readableBytes();
        received += size;
        ResponseHead head = refusal;
        if (head != null && received <= BODY_MAX) {
            if (body.length < received) {
                body = Arrays.copyOf(body, Math.max(received, Math.min(BODY_MAX, 2 * body.length)));
            }
            piece.readBytes(body, received - size, size);
        }
        piece.release();
        if (received > BODY_MAX) {
            call.cancel();
            deadline.cancel(false);
            if (head != null) {
                refuse(head, NO_BODY);
            }
        }
    }

    @Override
    public void onComplete(@Nullable FieldSection trailers) {
        deadline.cancel(false);
        ResponseHead head = refusal;
        if (head != null) {
            refuse(head, body.length == received ? body : Arrays.copyOf(body, received));
        }
    }

    private void refuse(ResponseHead head, byte[] content) {
        FieldSection from = head.fields();
        FieldSection.Builder fields = FieldSection.builder();
        boolean redirects = head.status() < UNAUTHORIZED;
        for (int line = 0; line < from.size(); line++) {
            if (REFUSAL_FIELDS.contains(from, line)
                    || (content.length > 0 && CONTENT_FIELDS.contains(from, line))
                    || (redirects && from.isNamed(line, FieldName.LOCATION))) {
                fields.addLine(from, line);
            }
        }
        long fresh = freshMillis(head, config.negativeTtlMillis());
        decide(AuthorizationResult.refused(head.status(), fields.build(), content), fresh);
    }

    @Override
    public void onFailure(OriginFailure failure) {
        deadline.cancel(false);
        String reason = failure.reason().text();
        end(
                switch (failure.reason()) {
                    case QUEUE_FULL, QUEUE_TIMEOUT, MEMORY -> AuthorizationResult.overloaded(reason);
                    default -> AuthorizationResult.failed(reason);
                });
    }

    /** Ends an incomplete response. If its head refuses the request, the request is refused without the content. */
    private void end(AuthorizationResult result) {
        ResponseHead head = refusal;
        if (head != null) {
            refuse(head, NO_BODY);
        } else {
            decide(result, 0);
        }
    }

    /**
     * Passes the result on, unless a result was passed before. The rest of the response is still read, so that its
     * connection can be reused.
     */
    private void decide(AuthorizationResult result, long freshMillis) {
        if (!ended) {
            ended = true;
            end.onResult(result, freshMillis);
        }
    }
}
