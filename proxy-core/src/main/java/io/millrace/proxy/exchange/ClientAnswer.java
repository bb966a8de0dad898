package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.serve.LocalAnswers;
import io.millrace.proxy.serve.Selection;
import io.millrace.proxy.serve.StoredBody;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;

/**
 * The answer to one request on its way to the client: a stored response or a part of it, an origin's, or the proxy's own. Each
 * method says whether content follows the head; where it does, the pump moves it and tells its end.
 *
 * <p>Confined to the client stream's event loop.
 */
final class ClientAnswer {
    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final BodyPump pump;

    private boolean headSent;

    ClientAnswer(ExchangeLoop home, ClientStream stream, RequestHead request, ExchangeReport report, BodyPump pump) {
        this.home = home;
        this.stream = stream;
        this.request = request;
        this.report = report;
        this.pump = pump;
    }

    boolean isHeadSent() {
        return headSent;
    }

    /** Sends a stored response, a part of it, or what the client's preconditions make of it; takes over the reference. */
    boolean sendStored(StoredObject<StoredHead> object, StoredHead stored, CacheResult result) {
        Selection selection;
        try {
            report.stored(stored, result, object.residentBody() != null);
            selection = Selection.of(request, stored, object.length());
            OutboundHead head = selection.fill(home.outbound(), stored, object.length());
            report.addTo(head, stored, home.clock().millis());
            send(head);
        } catch (RuntimeException | Error e) {
            object.release();
            throw e;
        }
        if (request.method() == Method.HEAD || !selection.hasContent()) {
            object.release();
            return false;
        }
        pump.start(new StoredBody(object, stream.eventLoop(), pump, selection.first(), selection.end()));
        return true;
    }

    /** Sends an origin's response, whole or, where it is stored, as the request selects; takes over the reader. */
    boolean sendFetched(FetchedResponse response, ResponseTee.Reader reader) {
        boolean withContent;
        try {
            withContent = sendFetchedHead(response, reader);
        } catch (RuntimeException | Error e) {
            reader.close();
            throw e;
        }
        if (!withContent) {
            reader.close();
            return false;
        }
        pump.start(reader);
        if (pump.bytes() == 0) {
            stream.flush();
        }
        return true;
    }

    private boolean sendFetchedHead(FetchedResponse response, ResponseTee.Reader reader) {
        StoredHead stored = response.stored();
        Selection selection = stored == null ? null : Selection.of(request, stored, response.contentLength());
        OutboundHead head;
        boolean withContent = request.method() != Method.HEAD;
        if (stored == null || selection == null || selection.kind() == Selection.Kind.WHOLE) {
            head = ResponseHeads.fetched(home.outbound(), response, request.method() == Method.HEAD);
        } else {
            head = selection.fill(home.outbound(), stored, response.contentLength());
            withContent &= selection.hasContent();
            if (selection.kind() == Selection.Kind.PART) {
                reader.narrow(selection.first(), selection.end());
            }
        }
        report.addTo(head);
        send(head);
        return withContent;
    }

    /**
     * Sends an answer of the proxy's own, whole.
     *
     * @param closing whether the connection ends with it
     */
    void sendLocal(int status, String text, ExchangeOutcome result, boolean closing) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), status, text);
        OutboundHead head = LocalAnswers.head(
                home.outbound(), status, content.readableBytes(), home.clock().millis());
        report.refusedAs(result, null);
        report.addToLocal(head);
        if (closing) {
            head.close();
        }
        send(head);
        if (request.method() == Method.HEAD) {
            content.release();
        } else {
            stream.write(content);
        }
    }

    private void send(OutboundHead head) {
        headSent = true;
        report.headSent(head.status());
        if (request.method() == Method.HEAD) {
            head.withoutContent();
        }
        stream.writeHead(head);
    }
}
