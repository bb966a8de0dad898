package io.millrace.proxy.exchange;

import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.DecisionKind;
import io.millrace.proxy.exchange.decide.ForwardDecider;
import io.millrace.proxy.exchange.decide.LocalAnswer;
import io.millrace.proxy.exchange.origin.ConnectTries;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.report.FailureAnswer;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.serve.LocalAnswers;
import io.millrace.proxy.tunnel.Tunnel;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exchange of one CONNECT request (RFC 9110 s9.3.6). Opens a tunnel to the requested host, or answers with the
 * reason of the refusal. After a refusal the connection is closed, because the bytes after the request were meant for
 * the tunnel. A third party may have supplied these bytes; parsing them as a request would permit request smuggling
 * (RFC 9931).
 *
 * <p>Confined to the client stream's event loop.
 */
final class ConnectExchange implements RequestHandler, OriginResponseHandler, TunnelAnswer.Caller {
    private static final Logger log = LoggerFactory.getLogger(ConnectExchange.class);

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final TunnelAnswer tunnel;
    private final ClientPermit permit;

    private @Nullable OriginCall call;
    private @Nullable ConnectTries tries;
    private boolean ended;

    private ConnectExchange(ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.report = new ExchangeReport(exchangeLoop, stream, request);
        this.permit = new ClientPermit(exchangeLoop);
        this.tunnel = new TunnelAnswer(exchangeLoop, stream, request, report, this);
    }

    /** Begins to connect, or refuses the request. */
    static RequestHandler start(
            ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request, long contentLength) {
        ConnectExchange exchange = new ConnectExchange(exchangeLoop, stream, request);
        try {
            exchange.begin(contentLength);
        } catch (RuntimeException | Error e) {
            exchange.onFault(e);
        }
        return exchange;
    }

    private void begin(long contentLength) {
        Decision decision = exchangeLoop.decider().decide(request, contentLength, stream.connection());
        report.decided(decision);
        if (decision.kind() != DecisionKind.TUNNEL) {
            LocalAnswer denied = decision.local();
            answer(denied.status(), denied.reason(), ExchangeOutcome.DENIED, denied);
            return;
        }
        if (!exchangeLoop.memory().admitsFetch()) {
            refuseForMemory();
            return;
        }
        if (!permit.acquire(Kind.TUNNELS, request, stream)) {
            report.limited(Kind.TUNNELS.text());
            answer(429, ClientPermit.text(Kind.TUNNELS), ExchangeOutcome.DENIED, null);
            return;
        }
        String host = request.target().host();
        String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        report.connecting(plain);
        ExchangeSettings settings = exchangeLoop.settings();
        Origin origin = Origin.http(plain, request.target().port());
        String group = settings.forward().origins();
        if (group != null) {
            tries = ConnectTries.start(exchangeLoop, request, stream.connection(), origin, group, this);
            return;
        }
        call = exchangeLoop
                .origins()
                .fetch(
                        OriginRequest.tunnel(
                                origin,
                                settings.fetch(),
                                settings.forward(),
                                settings.source(),
                                stream.connection().sourceForOrigins()),
                        this);
    }

    @Override
    public void onSwitched(ResponseHead head, SwitchedConnection connection) {
        try {
            report.answeredBy(tries == null ? null : tries.host());
            tunnel.connect(connection);
        } catch (RuntimeException | Error e) {
            connection.close();
            onFault(e);
        }
    }

    @Override
    public void onFailure(OriginFailure failure) {
        exchangeLoop.counters().increment(FailureCounters.of(failure.reason()));
        report.failed(failure, tries == null ? null : tries.host());
        try {
            boolean denied = failure.reason() == OriginFailure.Reason.DESTINATION;
            answer(
                    FailureAnswer.status(failure.reason()),
                    denied
                            ? ForwardDecider.DESTINATION
                            : "there is no connection: " + failure.reason().text(),
                    FailureAnswer.outcome(failure.reason()),
                    null);
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    private void refuseForMemory() {
        onFailure(new OriginFailure(OriginFailure.Reason.MEMORY, "limits.memory_in_flight is reached", true));
    }

    private void answer(int status, String text, ExchangeOutcome outcome, @Nullable LocalAnswer denied) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), status, text);
        int length = content.readableBytes();
        OutboundHead head = LocalAnswers.head(
                exchangeLoop.outbound(),
                status,
                length,
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers(),
                denied == null ? null : denied.allow(),
                denied == null ? null : denied.fields(),
                null);
        report.answeredLocally(outcome, null);
        report.addToLocal(head);
        ended = true;
        permit.release();
        report.headSent(status);
        stream.writeHead(head.closeConnection());
        stream.write(content);
        stream.finish();
        report.end(outcome, length);
    }

    @Override
    public void onTunnelEnd(Tunnel.End end) {
        ended = true;
        permit.release();
        report.end(ExchangeOutcome.TUNNELLED, tunnel.bytesToClient());
    }

    private void onFault(Throwable fault) {
        log.error(
                "CONNECT to {} failed with an internal error", request.target().host(), fault);
        if (!ended) {
            ended = true;
            permit.release();
            stream.abort();
            report.end(ExchangeOutcome.INTERNAL, 0);
        }
    }

    @Override
    public void onClientGone() {
        if (ended) {
            return;
        }
        ended = true;
        permit.release();
        exchangeLoop.counters().increment(Counter.CLIENT_FAILURES_ABORTED);
        if (call != null) {
            call.cancel();
        }
        if (tries != null) {
            tries.cancel();
        }
        report.end(ExchangeOutcome.CLIENT_GONE, 0);
    }

    @Override
    public void onContent(ByteBuf content) {
        content.release();
    }

    @Override
    public void onRequestEnd() {}

    @Override
    public void onRequestFailure(BadRequest reason) {}

    @Override
    public void onWritable() {}

    // A tunnel has no response content

    @Override
    public void onHead(ResponseHead head, ResponseFraming framing) {}

    @Override
    public void onComplete(@Nullable FieldSection trailers) {}
}
