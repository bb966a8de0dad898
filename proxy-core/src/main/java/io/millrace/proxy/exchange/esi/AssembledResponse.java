package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.Counter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The response to a request whose remap rule may assemble pages. This object sits between the exchange and the client's
 * stream, and passes most responses on unchanged. It passes an ESI document to a {@link Page}, which sends the
 * assembled page instead.
 *
 * <pre>
 * Exchange -> this -> ClientStream of the client, or Fragment of another page
 * </pre>
 *
 * <p>Confined to one event loop.
 */
public final class AssembledResponse implements ClientStream, RequestHandler {
    /** Callbacks to the exchange about the end of an assembly. */
    public interface Caller {
        /**
         * The page cannot be assembled. The exchange sends a response of this proxy instead, but does not finish the
         * stream.
         *
         * @param closing whether to close the connection after the response
         * @return number of content bytes that were sent
         */
        int onPageFailure(PageFailure failure, boolean closing);

        /**
         * The response was sent, so the exchange can end.
         *
         * @param isComplete true if {@link #finishPage} has returned true before; false if the content of the document
         *     is no longer needed
         */
        void onPageEnd(boolean isComplete);

        /** The page broke off after its head, and the client's stream is aborted. */
        void onPageBroken(PageFailure failure);
    }

    private enum Phase {
        /** The response is passed on. */
        PASSING,
        /** The content of a document arrives. */
        COLLECTING,
        /** The document is complete; its page is assembled and sent. */
        ASSEMBLING,
        /** The response is discarded, and the request is repeated without its range. */
        REPEATING,
        /** The page was sent, its assembly failed, or the client disconnected. */
        ENDED
    }

    private final PageAssembler assembler;
    private final ClientStream client;
    private final RequestHead request;

    private Phase phase = Phase.PASSING;
    private @Nullable RequestHandler handler;
    private @Nullable Caller caller;
    private @Nullable EsiRule rule;
    /** The page; null if the response is not an ESI document. */
    private @Nullable Page page;
    /** True if the next head belongs to an ESI document. */
    private boolean isDocument;
    /** True once the exchange waits for the end of the page. */
    private boolean isAwaited;
    /** True once the exchange has ended, by itself or because this object has stopped it. */
    private boolean isExchangeOver;
    /** True once the client's request is complete. */
    private boolean isRequestOver;
    /** True once the client's request is known to be invalid. */
    private boolean isRequestFailed;
    /** True if the connection is closed after the response. */
    private boolean isClosing;
    /** Bytes of content that are sent instead of the page. */
    private int failureBytes;

    AssembledResponse(PageAssembler assembler, ClientStream client, RequestHead request) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
    }

    /** Sets the exchange, which receives the client's events. */
    public void handler(RequestHandler exchange) {
        handler = exchange;
    }

    /** Sets the receiver of the end of an assembly. */
    public void caller(Caller exchange) {
        caller = exchange;
    }

    /** Sets the settings of the request's remap rule; null if it assembles no pages. */
    public void decided(@Nullable EsiRule settings) {
        rule = settings;
    }

    /** Returns true if the request is for a fragment of a page. Such requests are not logged. */
    public boolean isFragment() {
        return client instanceof Fragment;
    }

    /**
     * Announces the head that follows. Returns true if the response is an ESI document.
     *
     * @param fields fields as the origin sent them
     */
    public boolean begins(FieldSection fields) {
        EsiRule settings = rule;
        isDocument = settings != null && settings.isDocument(fields);
        return isDocument;
    }

    /** Announces the head of a stored response, as {@link #begins(FieldSection)} does. */
    public boolean begins(StoredHead stored) {
        EsiRule settings = rule;
        isDocument = settings != null && settings.isDocument(stored);
        return isDocument;
    }

    /** Returns the request without conditions and ranges, because these refer to the page and not to its document. */
    public RequestHead unconditional() {
        return FragmentRequests.unconditional(request);
    }

    /** Bytes of content sent so far; negative if the response is not an ESI document. */
    public long pageBytes() {
        return page == null ? -1 : page.sentBytes() + failureBytes;
    }

    /**
     * Ends the content of the exchange's response.
     *
     * @return true if {@link Caller#onPageEnd} follows; false if the response is not an ESI document
     */
    public boolean finishPage() {
        isExchangeOver = phase != Phase.COLLECTING;
        if (phase != Phase.COLLECTING) {
            return false;
        }
        isAwaited = true;
        phase = Phase.ASSEMBLING;
        // Assemble later, because the exchange is calling this method, and fragments in the store would arrive during
        // the call.
        client.eventLoop().execute(this::assemble);
        return true;
    }

    /**
     * Sends the request again, without the range, if the response is only a part of an ESI document. Called when the
     * exchange has ended.
     *
     * @return true if another exchange answers the request
     */
    public boolean repeat() {
        if (phase != Phase.REPEATING) {
            return false;
        }
        phase = Phase.PASSING;
        RequestHandler again = null;
        try {
            again = assembler.requests().onRequest(client, unconditional(), 0);
            handler = again;
            if (isRequestOver) {
                again.onRequestEnd();
            }
            return true;
        } catch (RuntimeException | Error e) {
            report(e);
            if (again == null) {
                fail(PageFailure.internal());
                return false;
            }
            client.abort();
            again.onClientGone();
            return true;
        }
    }

    // The document

    @Override
    public void writeHead(OutboundHead received) {
        if (!isDocument) {
            client.writeHead(received);
            return;
        }
        isDocument = false;
        int status = received.status();
        boolean isPart = status == 206 || status == 416;
        if (isPart && isRepeatable()) {
            phase = Phase.REPEATING;
        } else if (isPart || status < 200 || status == 204 || status == 205 || (status >= 300 && status < 400)) {
            client.writeHead(received);
        } else {
            beginDocument(received);
        }
    }

    /** Returns true if the request can be sent again without its range: a GET or HEAD without content. */
    private boolean isRepeatable() {
        FieldSection fields = request.fields();
        return (request.method() == Method.GET || request.method() == Method.HEAD)
                && fields.contains(FieldName.RANGE)
                && (!fields.contains(FieldName.CONTENT_LENGTH) || "0".equals(fields.get(FieldName.CONTENT_LENGTH)))
                && !fields.contains(FieldName.TRANSFER_ENCODING);
    }

    private void beginDocument(OutboundHead received) {
        EsiRule settings = rule;
        if (settings == null) {
            throw new IllegalStateException("the rule assembles no pages");
        }
        if (request.method() == Method.HEAD) {
            client.writeHead(PageHeads.of(received).withoutContent());
            return;
        }
        phase = Phase.COLLECTING;
        isClosing = received.closesConnection();
        try {
            Page begun = new Page(assembler, client, request, settings, received, new PageEnd());
            page = begun;
            begun.begin(received.contentLength());
        } catch (RuntimeException | Error e) {
            fault(e);
        }
    }

    @Override
    public void write(ByteBuf content) {
        if (phase == Phase.PASSING) {
            client.write(content);
            return;
        }
        try {
            if (phase == Phase.COLLECTING && page != null) {
                page.collect(content);
            }
        } catch (RuntimeException | Error e) {
            fault(e);
        } finally {
            content.release();
        }
    }

    @Override
    public void finish() {
        if (phase == Phase.PASSING) {
            client.finish();
        }
    }

    @Override
    public void finish(FieldSection trailers) {
        if (phase == Phase.PASSING) {
            client.finish(trailers);
        }
    }

    @Override
    public void abort() {
        isExchangeOver = true;
        isAwaited = false;
        Page begun = page;
        if (phase == Phase.COLLECTING && begun != null && !isRequestFailed) {
            fail(PageFailure.incomplete(begun.documentBytes()));
        } else if (phase == Phase.ASSEMBLING && begun != null && !begun.isSending() && !isRequestFailed) {
            fail(PageFailure.timeout());
        } else if (phase != Phase.ENDED) {
            phase = Phase.ENDED;
            closePage();
            client.abort();
        }
    }

    // The page

    private void assemble() {
        if (phase == Phase.ASSEMBLING && page != null) {
            page.assemble();
        }
    }

    /** Receives the end of the page. */
    private final class PageEnd implements Page.End {
        @Override
        public void onPageSent() {
            assembler.counters().increment(Counter.ESI_PAGES_ASSEMBLED);
            client.finish();
            phase = Phase.ENDED;
            endExchange();
        }

        @Override
        public void onPageFailure(PageFailure failure) {
            fail(failure);
        }

        @Override
        public void onPageFault(Throwable fault) {
            fault(fault);
        }

        @Override
        public void onPageTooSlow() {
            breakOff(PageFailure.slowClient(PageSender.STALL_SECONDS));
        }
    }

    /** Sends a response of this proxy instead of the page. */
    private void fail(PageFailure failure) {
        assembler.counters().increment(failure.counter());
        closePage();
        phase = Phase.PASSING;
        try {
            if (caller != null) {
                failureBytes = caller.onPageFailure(failure, isClosing);
            }
            client.finish();
        } catch (RuntimeException | Error e) {
            report(e);
            client.abort();
        }
        phase = Phase.ENDED;
        if (isAwaited) {
            endExchange();
        } else if (!isExchangeOver) {
            // Stop later, because the exchange is calling this method and still receives the document.
            client.eventLoop().execute(this::stopExchange);
        }
    }

    /** Ends the response after an unexpected exception: with 502, or by an abort if the page is being sent. */
    private void fault(Throwable fault) {
        report(fault);
        boolean isSending = page != null && page.isSending();
        if (phase == Phase.COLLECTING || (phase == Phase.ASSEMBLING && !isSending)) {
            fail(PageFailure.internal());
        } else if (phase == Phase.ASSEMBLING) {
            breakOff(PageFailure.internal());
        }
    }

    /** Aborts a response whose head was sent. */
    private void breakOff(PageFailure failure) {
        assembler.counters().increment(failure.counter());
        phase = Phase.ENDED;
        closePage();
        client.abort();
        if (isAwaited && caller != null) {
            isAwaited = false;
            caller.onPageBroken(failure);
        }
    }

    private void report(Throwable fault) {
        PageAssembler.FAULTS.report(
                "the assembly of a page failed with an internal error (esi)", PrintableUrl.of(request.target()), fault);
    }

    private void endExchange() {
        if (isAwaited && caller != null) {
            isAwaited = false;
            caller.onPageEnd(true);
        }
    }

    private void stopExchange() {
        if (!isExchangeOver && caller != null) {
            isExchangeOver = true;
            caller.onPageEnd(false);
        }
    }

    private void closePage() {
        if (page != null) {
            page.close();
        }
    }

    private RequestHandler exchange() {
        RequestHandler set = handler;
        if (set == null) {
            throw new IllegalStateException("no exchange has begun");
        }
        return set;
    }

    // The client's stream

    @Override
    public EventExecutor eventLoop() {
        return client.eventLoop();
    }

    @Override
    public ByteBufAllocator alloc() {
        return client.alloc();
    }

    @Override
    public ClientConnection connection() {
        return client.connection();
    }

    @Override
    public void writeInterim(OutboundHead interim) {
        client.writeInterim(interim);
    }

    @Override
    public void switchTo(OutboundHead answer, ClientTunnel tunnel) {
        client.switchTo(answer, tunnel);
    }

    @Override
    public void flush() {
        if (phase == Phase.PASSING) {
            client.flush();
        }
    }

    @Override
    public boolean isWritable() {
        return phase == Phase.PASSING ? client.isWritable() : phase != Phase.ENDED;
    }

    @Override
    public void readContent(boolean on) {
        client.readContent(on);
    }

    @Override
    public long bytesSent() {
        return client.bytesSent();
    }

    // The client's events

    @Override
    public void onContent(ByteBuf content) {
        exchange().onContent(content);
    }

    @Override
    public void onRequestEnd() {
        isRequestOver = true;
        exchange().onRequestEnd();
    }

    @Override
    public void onRequestFailure(BadRequest reason) {
        isRequestFailed = true;
        exchange().onRequestFailure(reason);
    }

    @Override
    public void onWritable() {
        if (phase == Phase.ASSEMBLING && page != null && page.isSending()) {
            page.onWritable();
        } else {
            exchange().onWritable();
        }
    }

    @Override
    public SlowClients.OriginDemand originDemand() {
        return exchange().originDemand();
    }

    @Override
    public void onClientTooSlow(SlowReason reason) {
        exchange().onClientTooSlow(reason);
    }

    @Override
    public void onClientGone() {
        phase = Phase.ENDED;
        isAwaited = false;
        isExchangeOver = true;
        closePage();
        exchange().onClientGone();
    }
}
