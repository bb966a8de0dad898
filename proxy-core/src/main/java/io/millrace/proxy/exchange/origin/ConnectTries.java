package io.millrace.proxy.exchange.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.origin.GroupTries;
import io.millrace.proxy.origin.KeyHash;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * One CONNECT request to a group of parent proxies. The request is sent to another proxy after a failure, and after a
 * status in {@code retry.response_codes}. Retries are safe, since no byte of the tunnel was sent before. If no proxy is
 * left and the group has {@code go_direct}, this proxy connects to the destination itself.
 *
 * <p>Of the handler's methods, this class calls only {@link OriginResponseHandler#onSwitched} or
 * {@link OriginResponseHandler#onFailure}. Confined to one event loop.
 */
public final class ConnectTries implements GroupTries.Key {
    private final OriginAccess access;
    private final RequestHead request;
    private final ClientConnection client;
    private final Origin destination;
    private final OriginResponseHandler handler;
    private final GroupTries tries;
    private @Nullable ProxyCall current;
    /** True once this proxy tried to connect to the destination itself. */
    private boolean wentDirect;

    private boolean ended;

    private ConnectTries(
            OriginAccess access,
            RequestHead request,
            ClientConnection client,
            Origin destination,
            String group,
            OriginResponseHandler handler) {
        this.access = access;
        this.request = request;
        this.client = client;
        this.destination = destination;
        this.handler = handler;
        tries = access.groups().begin(group, this, access.clock().millis());
    }

    /** Sends the CONNECT request to the first proxy. */
    public static ConnectTries start(
            OriginAccess access,
            RequestHead request,
            ClientConnection client,
            Origin destination,
            String group,
            OriginResponseHandler handler) {
        ConnectTries started = new ConnectTries(access, request, client, destination, group, handler);
        if (!started.tryNext()) {
            access.loop().execute(started::noneUp);
        }
        return started;
    }

    @Override
    public long hash(OriginGroupConfig group) {
        return switch (group.policy()) {
            case STICKY -> hashOf(client.remoteAddress().getAddress().getAddress());
            case CONSISTENT_HASH -> hashOf(request.target().hostBytes());
            default -> 0;
        };
    }

    private static long hashOf(byte[] bytes) {
        return KeyHash.of(bytes, 0, bytes.length);
    }

    /** The proxy to which the last request was sent, for the log; null when there was none. */
    public @Nullable String host() {
        ProxyCall last = current;
        return last == null || last.attempt == null
                ? null
                : last.attempt.host().origin().authority();
    }

    /** Cancels the request. Idempotent. */
    public void cancel() {
        if (ended) {
            return;
        }
        ended = true;
        ProxyCall last = current;
        if (last != null) {
            if (last.attempt != null) {
                last.attempt.abandoned();
            }
            last.cancel();
        }
    }

    /** Sends the request to the next proxy. Returns false if there is none. */
    private boolean tryNext() {
        GroupTries.Try next = tries.next(true, access.clock().millis());
        if (next == null && (!tries.group().config().goDirect() || wentDirect)) {
            return false;
        }
        ExchangeSettings settings = access.settings();
        ProxyCall call = new ProxyCall(next);
        current = call;
        wentDirect |= next == null;
        call.call = access.origins()
                .fetch(
                        next == null
                                ? OriginRequest.tunnel(
                                        destination,
                                        settings.fetch(),
                                        settings.forward(),
                                        settings.source(),
                                        client.sourceForOrigins())
                                : OriginRequest.connect(
                                        next.host().origin(),
                                        authority(),
                                        fields(),
                                        tries.group().fetchSettings(settings.fetch()),
                                        tries.group().config().tls(),
                                        tries.group().config().checkSourceAddress(),
                                        client.sourceForOrigins()),
                        call);
        return true;
    }

    /** Returns host and port of the destination. The target of CONNECT always has a port (RFC 9110 s9.3.6). */
    private String authority() {
        return request.target().host() + ":" + request.target().port();
    }

    /**
     * Returns the request fields for the proxy. They contain no field of the client. Via lets the proxy detect loops.
     */
    private FieldSection fields() {
        FieldSection.Builder fields = FieldSection.builder().add(FieldName.HOST, authority());
        AsciiString via = access.settings().requestVia().plain(request.version());
        if (via != null) {
            fields.add(FieldName.VIA, via);
        }
        return fields.build();
    }

    private void noneUp() {
        fail(new OriginFailure(
                OriginFailure.Reason.NONE_UP, "origins " + tries.group().name() + ": " + tries.text(), true));
    }

    private void fail(OriginFailure failure) {
        if (!ended) {
            ended = true;
            handler.onFailure(failure);
        }
    }

    private static boolean mayTryNext(OriginFailure.Reason reason) {
        return switch (reason) {
            case DNS,
                    CONNECT_REFUSED,
                    CONNECT_TIMEOUT,
                    QUEUE_FULL,
                    QUEUE_TIMEOUT,
                    TLS,
                    FIRST_BYTE_TIMEOUT,
                    RESET,
                    TRUNCATED,
                    BAD_RESPONSE -> true;
            default -> false;
        };
    }

    /**
     * The CONNECT request to one proxy. Events that arrive after the request has moved to another proxy are dropped.
     */
    private final class ProxyCall implements OriginResponseHandler {
        private final GroupTries.@Nullable Try attempt;
        private final long sentNanos = System.nanoTime();
        private @Nullable OriginCall call;

        /** @param attempt the group's attempt with this proxy; null for the destination itself */
        private ProxyCall(GroupTries.@Nullable Try attempt) {
            this.attempt = attempt;
        }

        private boolean isCurrent() {
            return current == this && !ended;
        }

        private void cancel() {
            if (call != null) {
                call.cancel();
            }
        }

        @Override
        public void onSwitched(ResponseHead head, SwitchedConnection connection) {
            if (attempt != null) {
                attempt.responded(
                        head.status(), head.minorVersion(), access.clock().millis(), System.nanoTime() - sentNanos);
                attempt.answered(head.status(), access.clock().millis());
            }
            if (isCurrent()) {
                ended = true;
                handler.onSwitched(head, connection);
            } else {
                connection.close();
            }
        }

        /** Handles a response without a tunnel. Its content is not read. */
        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            int status = head.status();
            if (attempt == null) {
                return;
            }
            attempt.responded(status, head.minorVersion(), access.clock().millis(), System.nanoTime() - sentNanos);
            if (!isCurrent()) {
                return;
            }
            boolean moved = tries.group().isRetried(status) && tryNext();
            if (moved) {
                attempt.refused(status);
            } else {
                attempt.answered(status, access.clock().millis());
            }
            cancel();
            if (!moved) {
                fail(new OriginFailure(
                        OriginFailure.Reason.BAD_RESPONSE,
                        attempt.host().origin().authority() + " answered CONNECT with " + status,
                        true));
            }
        }

        @Override
        public void onFailure(OriginFailure failure) {
            if (attempt != null) {
                attempt.failed(failure.reason(), access.clock().millis());
            }
            if (!isCurrent() || (mayTryNext(failure.reason()) && tryNext())) {
                return;
            }
            fail(
                    tries.isWorthLogging()
                            ? new OriginFailure(
                                    failure.reason(), "origins " + tries.group().name() + ": " + tries.text(), true)
                            : failure);
        }

        @Override
        public void onContent(ByteBuf content) {
            content.release();
        }

        @Override
        public void onComplete(@Nullable FieldSection trailers) {}
    }
}
