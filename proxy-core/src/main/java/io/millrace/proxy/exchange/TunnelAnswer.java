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
 * The response that joins a client's and an origin's connection to a tunnel, and the counters of that tunnel.
 *
 * <p>Confined to the client stream's event loop.
 */
final class TunnelAnswer implements Tunnel.Listener {
    /** Callback to the exchange. */
    interface Asking {
        /** Called when the tunnel has ended. */
        void onTunnelEnd(Tunnel.End how);
    }

    /** Matches {@code websocket} with or without a version. */
    private static final List<String> WEBSOCKET = List.of(UpgradeFields.WEBSOCKET);

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final Asking exchange;
    private @Nullable Tunnel tunnel;
    private Counter open = Counter.TUNNELS_UPGRADE;

    TunnelAnswer(ExchangeLoop home, ClientStream stream, RequestHead request, ExchangeReport report, Asking exchange) {
        this.home = home;
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
        home.counters().increment(Counter.ORIGIN_FAILURES_MALFORMED);
        return new OriginFailure(OriginFailure.Reason.BAD_RESPONSE, problem, true);
    }

    /** Forwards the origin's 101 response and joins the connections. */
    void send(ResponseHead head, SwitchedConnection connection) {
        report.switched(head.status(), head.status());
        OutboundHead out =
                ResponseHeads.switched(home.outbound(), home.settings().server().applyTo(head));
        report.addTo(out);
        home.counters().increment(Counter.TUNNELS_OPENED_UPGRADE);
        join(out, connection, Counter.TUNNELS_UPGRADE);
    }

    /** Answers CONNECT with 200 and joins the connections. */
    void connect(SwitchedConnection connection) {
        report.switched(200, 0);
        OutboundHead out = home.outbound().reset(200, "Connection established", FieldSection.EMPTY);
        home.counters().increment(Counter.TUNNELS_OPENED_CONNECT);
        join(out, connection, Counter.TUNNELS_CONNECT);
    }

    private void join(OutboundHead out, SwitchedConnection connection, Counter kind) {
        Tunnel made = new Tunnel(() -> home.settings().tunnels(), this);
        tunnel = made;
        open = kind;
        home.counters().increment(kind);
        connection.handOver(made.originSide());
        stream.switchTo(out, made);
    }

    long bytesToClient() {
        return tunnel == null ? 0 : tunnel.bytesToClient();
    }

    @Override
    public void onTunnelEnd(Tunnel.End how) {
        Tunnel ended = tunnel;
        if (ended == null) {
            throw new IllegalStateException("no tunnel is open");
        }
        home.counters().increment(counterOf(how));
        home.counters().add(Counter.TUNNEL_BYTES_TO_CLIENT, ended.bytesToClient());
        home.counters().add(Counter.TUNNEL_BYTES_TO_ORIGIN, ended.bytesToOrigin());
        home.counters().decrement(open);
        report.tunnelled(how, ended.bytesToOrigin(), ended.bytesToClient());
        exchange.onTunnelEnd(how);
    }

    private static Counter counterOf(Tunnel.End how) {
        return switch (how) {
            case CLOSED -> Counter.TUNNELS_CLOSED;
            case CLIENT_BROKEN -> Counter.TUNNELS_CLIENT_BROKEN;
            case ORIGIN_BROKEN -> Counter.TUNNELS_ORIGIN_BROKEN;
            case IDLE -> Counter.TUNNELS_IDLE;
            case EXPIRED -> Counter.TUNNELS_EXPIRED;
            case STOPPED -> Counter.TUNNELS_STOPPED;
        };
    }
}
