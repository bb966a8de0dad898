package io.millrace.proxy.exchange;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.exchange.decide.ExchangeSettings;
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
import io.millrace.proxy.origin.GroupTries;
import io.millrace.proxy.origin.KeyHash;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * One CONNECT request to a group of parent proxies. It moves to another proxy after a failure, and after a response
 * whose status is in {@code retry.response_codes}. Retries are safe, since no byte of the tunnel was sent. This proxy
 * connects to the destination itself only if the group has {@code go_direct}.
 *
 * <p>Calls only {@link OriginResponseHandler#onSwitched} or {@link OriginResponseHandler#onFailure} of the handler.
 * Confined to one event loop.
 */
final class ConnectTries implements GroupTries.Key {
    private final ExchangeLoop home;
    private final RequestHead request;
    private final InetAddress client;
    private final Origin destination;
    private final OriginResponseHandler handler;
    private final GroupTries tries;
    private @Nullable ProxyCall current;
    private boolean wentDirect;
    private boolean ended;

    private ConnectTries(
            ExchangeLoop home,
            RequestHead request,
            InetAddress client,
            Origin destination,
            String group,
            OriginResponseHandler handler) {
        this.home = home;
        this.request = request;
        this.client = client;
        this.destination = destination;
        this.handler = handler;
        tries = home.groups().begin(group, this, home.clock().millis());
    }

    /** Sends the CONNECT request to the first proxy. */
    static ConnectTries start(
            ExchangeLoop home,
            RequestHead request,
            InetAddress client,
            Origin destination,
            String group,
            OriginResponseHandler handler) {
        ConnectTries all = new ConnectTries(home, request, client, destination, group, handler);
        if (!all.tryNext()) {
            home.loop().execute(all::noneUp);
        }
        return all;
    }

    @Override
    public long hash(OriginGroupConfig group) {
        return switch (group.policy()) {
            case STICKY -> hashOf(client.getAddress());
            case CONSISTENT_HASH -> hashOf(request.target().hostBytes());
            default -> 0;
        };
    }

    private static long hashOf(byte[] bytes) {
        return KeyHash.of(bytes, 0, bytes.length);
    }

    /** The proxy to which the last request was sent, for the log; null when there was none. */
    @Nullable
    String host() {
        ProxyCall last = current;
        return last == null || last.turn == null
                ? null
                : last.turn.host().origin().authority();
    }

    void cancel() {
        if (ended) {
            return;
        }
        ended = true;
        ProxyCall last = current;
        if (last != null) {
            if (last.turn != null) {
                last.turn.left();
            }
            last.cancel();
        }
    }

    /** Sends the request to the next proxy; false when there is none. */
    private boolean tryNext() {
        GroupTries.Try next = tries.next(true, home.clock().millis());
        if (next == null && (!tries.group().config().goDirect() || wentDirect)) {
            return false;
        }
        ExchangeSettings settings = home.settings();
        ProxyCall call = new ProxyCall(next);
        current = call;
        wentDirect |= next == null;
        call.call = home.origins()
                .fetch(
                        next == null
                                ? OriginRequest.tunnel(
                                        destination, settings.fetch(), settings.forward(), settings.source())
                                : OriginRequest.connect(
                                        next.host().origin(),
                                        authority(),
                                        fields(),
                                        tries.group().fetchSettings(settings.fetch()),
                                        tries.group().config().tls(),
                                        tries.group().config().checkSourceAddress()),
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
        AsciiString via = home.settings().requestVia().plain(request.version());
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

    private static boolean mayMove(OriginFailure.Reason reason) {
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
        private final GroupTries.@Nullable Try turn;
        private final long sentNanos = System.nanoTime();
        private @Nullable OriginCall call;

        /** @param turn the group's attempt with this proxy; null for the destination itself */
        private ProxyCall(GroupTries.@Nullable Try turn) {
            this.turn = turn;
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
            if (turn != null) {
                turn.responded(
                        head.status(), head.minorVersion(), home.clock().millis(), System.nanoTime() - sentNanos);
                turn.answered(head.status(), home.clock().millis());
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
            if (turn == null) {
                return;
            }
            turn.responded(status, head.minorVersion(), home.clock().millis(), System.nanoTime() - sentNanos);
            if (!isCurrent()) {
                return;
            }
            boolean moved = tries.group().isRetried(status) && tryNext();
            if (moved) {
                turn.refused(status);
            } else {
                turn.answered(status, home.clock().millis());
            }
            cancel();
            if (!moved) {
                fail(new OriginFailure(
                        OriginFailure.Reason.BAD_RESPONSE,
                        turn.host().origin().authority() + " answered CONNECT with " + status,
                        true));
            }
        }

        @Override
        public void onFailure(OriginFailure failure) {
            if (turn != null) {
                turn.failed(failure.reason(), home.clock().millis());
            }
            if (!isCurrent() || (mayMove(failure.reason()) && tryNext())) {
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
