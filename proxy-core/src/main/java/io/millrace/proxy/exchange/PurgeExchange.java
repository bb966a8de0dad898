package io.millrace.proxy.exchange;

import io.millrace.proxy.access.PurgeAccess;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.serve.LocalAnswers;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One PURGE: who may, what is meant, and an answer when what is gone stays gone in a crash. It never reaches an origin.
 *
 * <pre>
 *   403  purge.allow does not have the client
 *   400  it has content
 *   501  a pattern or a tag is asked for
 *   200  something was stored and is gone
 *   404  nothing was stored
 *   500  gone from this process, but the storage could not be written
 * </pre>
 *
 * <p>Confined to the client stream's event loop.
 */
final class PurgeExchange implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(PurgeExchange.class);

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;
    private final ExchangeReport report;

    private int outstanding;
    private boolean found;
    private @Nullable IOException failure;
    private @Nullable String refusal;
    private boolean mapped;
    private boolean over;

    private PurgeExchange(ExchangeLoop home, ClientStream stream, RequestHead request, long contentLength) {
        this.home = home;
        this.stream = stream;
        this.request = request;
        this.contentLength = contentLength;
        this.report = new ExchangeReport(home, stream, request);
    }

    /** Purges, or refuses to; the answer may come later. */
    static RequestHandler start(ExchangeLoop home, ClientStream stream, RequestHead request, long contentLength) {
        PurgeExchange exchange = new PurgeExchange(home, stream, request, contentLength);
        try {
            exchange.begin();
        } catch (RuntimeException | Error e) {
            exchange.onFault(e);
        }
        return exchange;
    }

    private void begin() {
        List<TargetUri> urls = permitted();
        if (urls.isEmpty()) {
            home.counters().increment(Counter.DENIED_PURGE);
            answer(403, String.valueOf(refusal), ExchangeOutcome.DENIED);
            return;
        }
        if (contentLength != 0) {
            answer(400, request.methodName() + " has no content", ExchangeOutcome.DENIED);
            return;
        }
        String beyond = PurgeRequest.beyondUrls(request);
        if (beyond != null) {
            home.counters().increment(Counter.PURGES_UNSUPPORTED);
            answer(501, "only single URLs can be purged, and " + beyond, ExchangeOutcome.NOT_OFFERED);
            return;
        }
        outstanding = urls.size();
        for (TargetUri url : urls) {
            home.purger().purge(url, stream.eventLoop(), this::onPurged);
        }
    }

    /** The URLs that are meant and that this client may purge; where one is mapped its rule speaks for one that is not. */
    private List<TargetUri> permitted() {
        ExchangeSettings settings = home.settings();
        PurgeAccess access = settings.access().purges();
        InetAddress peer = stream.clientAddress().getAddress();
        List<TargetUri> permitted = new ArrayList<>(2);
        List<TargetUri> unmapped = new ArrayList<>(2);
        for (TargetUri url : PurgeRequest.urls(request.target())) {
            if (settings.remap().match(url) instanceof Mapped found) {
                mapped = true;
                String no = access.refusal(found.rule().index(), peer, request.fields());
                if (no == null) {
                    permitted.add(url);
                } else {
                    refusal = no;
                }
            } else {
                unmapped.add(url);
            }
        }
        if (!mapped) {
            refusal = access.refusal(PurgeAccess.UNMAPPED, peer, request.fields());
        }
        if (!permitted.isEmpty() || (!mapped && refusal == null)) {
            permitted.addAll(unmapped);
        }
        return permitted;
    }

    private void onPurged(boolean wasPresent, @Nullable IOException problem) {
        found |= wasPresent;
        failure = failure == null ? problem : failure;
        outstanding--;
        if (outstanding > 0) {
            return;
        }
        boolean failed = failure != null;
        home.counters()
                .increment(failed ? Counter.PURGES_FAILED : found ? Counter.PURGES_FOUND : Counter.PURGES_ABSENT);
        if (over) {
            return;
        }
        try {
            answerPurged(failed);
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    private void answerPurged(boolean failed) {
        String url = request.target().asString();
        if (failed) {
            log.warn("a purge is not durable, the storage could not be written", failure);
            answer(500, "purged, but the storage could not be written", ExchangeOutcome.STORE_WRITE);
        } else if (found) {
            answer(200, "purged " + url + ", every stored variant", ExchangeOutcome.LOCAL);
        } else {
            String hint = mapped ? "" : ", and no remap rule maps it";
            answer(404, "nothing was stored for " + url + hint, ExchangeOutcome.LOCAL);
        }
    }

    private void answer(int status, String text, ExchangeOutcome outcome) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), status, text);
        int length = content.readableBytes();
        String server = home.settings().server().ofLocalAnswers();
        OutboundHead head =
                LocalAnswers.head(home.outbound(), status, length, home.clock().millis(), server, null);
        report.refusedAs(outcome, null);
        report.addToLocal(head);
        if (contentLength != 0) {
            // What follows is content that nobody reads, or a request that somebody hid in it.
            head.close();
        }
        over = true;
        report.headSent(status);
        stream.writeHead(head);
        stream.write(content);
        stream.finish();
        report.end(outcome, length);
    }

    private void onFault(Throwable fault) {
        log.error("purge for {} failed", request.target().host(), fault);
        if (!over) {
            over = true;
            stream.abort();
            report.end(ExchangeOutcome.INTERNAL, 0);
        }
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

    /** The purge goes on: many a content management system does not wait for the answer. */
    @Override
    public void onClientGone() {
        if (!over) {
            over = true;
            home.counters().increment(Counter.CLIENT_FAILURES_ABORTED);
            report.end(ExchangeOutcome.CLIENT_GONE, 0);
        }
    }
}
