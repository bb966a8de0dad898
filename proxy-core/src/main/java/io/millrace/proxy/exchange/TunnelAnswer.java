package io.millrace.proxy.exchange;

import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.UpgradeFields;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tunnel.Tunnel;
import io.millrace.proxy.tunnel.WebSocketAccept;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends the response that begins a tunnel, joins both connections, and counts the tunnel.
 *
 * <p>Confined to the client stream's event loop.
 */
final class TunnelAnswer implements Tunnel.Listener {
    /** Callback to the exchange. */
    interface Caller {
        /** Called when the tunnel has ended. */
        void onTunnelEnd(Tunnel.End end);
    }

    /** Matches the protocol {@code websocket} with or without a version. */
    private static final List<String> WEBSOCKET = List.of(UpgradeFields.WEBSOCKET);

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final Caller exchange;
    private @Nullable Tunnel tunnel;
    private Counter openCounter = Counter.TUNNELS_UPGRADE;

    TunnelAnswer(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            RequestHead request,
            ExchangeReport report,
            Caller exchange) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.report = report;
        this.exchange = exchange;
    }

    /** Returns the error in an origin's 101 response; null when it is correct. */
    @Nullable
    OriginFailure problem(ResponseHead head) {
        boolean webSocket = UpgradeFields.allowed(head.fields(), WEBSOCKET) != null;
        String problem = webSocket ? WebSocketAccept.problem(request.fields(), head.fields()) : null;
        if (problem == null) {
            return null;
        }
        exchangeLoop.counters().increment(Counter.ORIGIN_FAILURES_MALFORMED);
        return new OriginFailure(OriginFailure.Reason.BAD_RESPONSE, problem, true);
    }

    /** Forwards the origin's 101 response and joins the connections. */
    void send(ResponseHead head, SwitchedConnection connection) {
        report.switched(head.status(), head.status());
        OutboundHead out = ResponseHeads.switched(
                exchangeLoop.outbound(), exchangeLoop.settings().server().applyTo(head));
        report.addTo(out);
        exchangeLoop.counters().increment(Counter.TUNNELS_OPENED_UPGRADE);
        join(out, connection, Counter.TUNNELS_UPGRADE);
    }

    /** Answers CONNECT with 200 and joins the connections. */
    void connect(SwitchedConnection connection) {
        report.switched(200, 0);
        OutboundHead out = exchangeLoop.outbound().reset(200, "Connection established", FieldSection.EMPTY);
        exchangeLoop.counters().increment(Counter.TUNNELS_OPENED_CONNECT);
        join(out, connection, Counter.TUNNELS_CONNECT);
    }

    private void join(OutboundHead out, SwitchedConnection connection, Counter kind) {
        Tunnel newTunnel = new Tunnel(() -> exchangeLoop.settings().tunnels(), this);
        tunnel = newTunnel;
        openCounter = kind;
        exchangeLoop.counters().increment(kind);
        connection.handOver(newTunnel.originSide());
        stream.switchTo(out, newTunnel);
    }

    long bytesToClient() {
        return tunnel == null ? 0 : tunnel.bytesToClient();
    }

    @Override
    public void onTunnelEnd(Tunnel.End end) {
        Tunnel ended = tunnel;
        if (ended == null) {
            throw new IllegalStateException("no tunnel is open");
        }
        exchangeLoop.counters().increment(counterOf(end));
        exchangeLoop.counters().add(Counter.TUNNEL_BYTES_TO_CLIENT, ended.bytesToClient());
        exchangeLoop.counters().add(Counter.TUNNEL_BYTES_TO_ORIGIN, ended.bytesToOrigin());
        exchangeLoop.counters().decrement(openCounter);
        report.tunnelled(end, ended.bytesToOrigin(), ended.bytesToClient());
        exchange.onTunnelEnd(end);
    }

    private static Counter counterOf(Tunnel.End end) {
        return switch (end) {
            case CLOSED -> Counter.TUNNELS_CLOSED;
            case CLIENT_BROKEN -> Counter.TUNNELS_CLIENT_BROKEN;
            case ORIGIN_BROKEN -> Counter.TUNNELS_ORIGIN_BROKEN;
            case IDLE -> Counter.TUNNELS_IDLE;
            case EXPIRED -> Counter.TUNNELS_EXPIRED;
            case STOPPED -> Counter.TUNNELS_STOPPED;
        };
    }
}
