package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.esi.DocumentMarks;
import io.millrace.proxy.esi.EsiDocument;
import io.millrace.proxy.esi.EsiParser;
import io.millrace.proxy.esi.EsiSyntaxException;
import io.millrace.proxy.esi.SurrogateControl;
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
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The response to a request whose remap rule may assemble pages. Between the exchange and the client's stream, it
 * passes most responses on unchanged. Of an ESI document it collects the content, and sends the page once all fragments
 * are there.
 *
 * <pre>
 * Exchange -> this -> ClientStream of the client, or Fragment of another page
 * </pre>
 *
 * <p>Confined to one event loop.
 */
public final class AssembledResponse implements ClientStream, RequestHandler {
    /** Detail of a page whose documents and fragments have too many bytes. */
    static final String PAGE_SIZE = "esi-page-size";

    private static final byte[] EMPTY = {};
    private static final ArrayDeque<ByteBuf> NONE = new ArrayDeque<>(0);

    /** Fields about the bytes of the document, which the page does not have. */
    private static final List<FieldName> OF_DOCUMENT = List.of(
            SurrogateControl.CONTROL,
            FieldName.CONTENT_LENGTH,
            FieldName.ETAG,
            FieldName.LAST_MODIFIED,
            FieldName.ACCEPT_RANGES,
            FieldName.of("Content-MD5"),
            FieldName.of("Digest"),
            FieldName.of("Content-Digest"),
            FieldName.of("Repr-Digest"));

    /** The exchange, as the receiver of the end of an assembly. */
    public interface Caller {
        /**
         * The page cannot be assembled. The caller sends a response of this proxy instead, without its end.
         *
         * @param detail a stable word
         * @param text the reason for the client
         */
        void onPageFailure(int status, String detail, String text);

        /**
         * The response is sent.
         *
         * @param isComplete true after {@link #finishPage} has returned true; false if the content of the document is
         *     not needed any more
         */
        void onPageEnd(boolean isComplete);
    }

    private enum Phase {
        /** The response is passed on. */
        PASSING,
        /** The content of a document arrives. */
        COLLECTING,
        /** The fragments are requested. */
        ASSEMBLING,
        /** The page is sent as fast as the client receives it. */
        SENDING,
        /** The response is discarded, and the request repeated without its range. */
        REPEATING,
        /** The page failed or the client is gone. */
        ENDED
    }

    private final PageAssembler assembler;
    private final ClientStream client;
    private final RequestHead request;
    private final @Nullable Fragment fragment;
    /** The head of the page, until the page is sent. */
    private @Nullable OutboundHead head;
    /** The part of the page that is not sent yet. */
    private ArrayDeque<ByteBuf> pieces = NONE;

    private Phase phase = Phase.PASSING;
    private @Nullable RequestHandler handler;
    private @Nullable Caller caller;
    private @Nullable EsiRule rule;
    private @Nullable PageBudget budget;
    private @Nullable PageAssembly assembly;
    /** True if the next head is that of a document. */
    private boolean isDocument;
    /** True once the exchange waits for the end of the page. */
    private boolean isAwaited;
    /** True once the exchange has ended by itself. */
    private boolean isExchangeOver;

    private byte[] document = EMPTY;
    private int length;
    private long sentBytes;

    AssembledResponse(PageAssembler assembler, ClientStream client, RequestHead request) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
        this.fragment = client instanceof Fragment of ? of : null;
    }

    /** Sets the exchange, which gets the client's events. */
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
        return fragment != null;
    }

    /**
     * Announces the head that follows. Returns true if the response is a document.
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

    /** Returns the request without conditions and ranges, which refer to the page and not to its document. */
    public RequestHead unconditional() {
        return FragmentRequests.unconditional(request);
    }

    /** Bytes of the page sent so far; negative if the response is not that of a document. */
    public long pageBytes() {
        return budget == null ? -1 : sentBytes;
    }

    /**
     * Ends the content of the exchange's response.
     *
     * @return true if {@link Caller#onPageEnd} follows; false if the response is not that of a document
     */
    public boolean finishPage() {
        isExchangeOver = phase != Phase.COLLECTING;
        switch (phase) {
            case COLLECTING -> {
                isAwaited = true;
                phase = Phase.ASSEMBLING;
                // The exchange is the caller, and fragments of the store are received at once.
                client.eventLoop().execute(this::assemble);
                return true;
            }
            case REPEATING -> {
                client.eventLoop().execute(this::repeat);
                return false;
            }
            default -> {
                return false;
            }
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
        if (isPart && isSafe() && request.fields().contains(FieldName.RANGE)) {
            phase = Phase.REPEATING;
        } else if (isPart || status < 200 || status == 204 || status == 205 || (status >= 300 && status < 400)) {
            client.writeHead(received);
        } else {
            beginDocument(received);
        }
    }

    private boolean isSafe() {
        return request.method() == Method.GET || request.method() == Method.HEAD;
    }

    private void beginDocument(OutboundHead received) {
        FieldSection fields = received.fieldsAfterEdits();
        FieldSection.Builder kept = FieldSection.builder();
        for (int line = 0; line < fields.size(); line++) {
            if (!isOfDocument(fields, line)) {
                kept.addLine(fields, line);
            }
        }
        OutboundHead own = new OutboundHead()
                .reset(received.status(), received.reason(), kept.build())
                .ageSeconds(received.ageSeconds())
                .via(received.via());
        if (received.strictTransportSecurity() != null) {
            own.strictTransportSecurity(received.strictTransportSecurity());
        }
        ByteBuf cacheStatus = received.cacheStatus();
        own.cacheStatus().writeBytes(cacheStatus, cacheStatus.readerIndex(), cacheStatus.readableBytes());
        if (received.closesConnection()) {
            own.closeConnection();
        }
        if (request.method() == Method.HEAD) {
            client.writeHead(own.withoutContent());
            return;
        }
        head = own;
        EsiRule settings = rule;
        if (settings == null) {
            throw new IllegalStateException("the rule assembles no pages");
        }
        budget = fragment == null ? new PageBudget(settings.config()) : fragment.budget();
        phase = Phase.COLLECTING;
        if (DocumentMarks.isEncoded(fields)) {
            fail("esi-encoding", "the document has a content coding", Counter.ESI_PAGES_FAILED_DOCUMENT);
        } else if (received.contentLength() > settings.config().documentBytesMax()) {
            failOfSize();
        } else if (received.contentLength() > 0) {
            document = new byte[(int) received.contentLength()];
        }
    }

    private static boolean isOfDocument(FieldSection fields, int line) {
        for (FieldName name : OF_DOCUMENT) {
            if (fields.isNamed(line, name)) {
                return true;
            }
        }
        return false;
    }

    private void failOfSize() {
        fail("esi-document-size", "the document is longer than esi.max_document_size", Counter.ESI_PAGES_FAILED_LIMIT);
    }

    @Override
    public void write(ByteBuf content) {
        switch (phase) {
            case PASSING -> client.write(content);
            case COLLECTING -> {
                collect(content);
                content.release();
            }
            case ASSEMBLING, SENDING, REPEATING, ENDED -> content.release();
        }
    }

    private void collect(ByteBuf content) {
        int size = content.readableBytes();
        EsiRule settings = rule;
        PageBudget limits = budget;
        if (settings == null || limits == null) {
            throw new IllegalStateException("no document has begun");
        }
        if (length + size > settings.config().documentBytesMax()) {
            failOfSize();
        } else if (!limits.takeBytes(size)) {
            fail(PAGE_SIZE, "the page is longer than esi.max_page_size", Counter.ESI_PAGES_FAILED_LIMIT);
        } else {
            if (document.length < length + size) {
                document = Arrays.copyOf(document, Math.max(length + size, 2 * document.length));
            }
            content.readBytes(document, length, size);
            length += size;
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
        switch (phase) {
            case COLLECTING ->
                fail("esi-document-incomplete", "the document is incomplete", Counter.ESI_PAGES_FAILED_DOCUMENT);
            case ASSEMBLING -> fail("esi-timeout", "the fragments took too long", Counter.ESI_PAGES_FAILED_FRAGMENT);
            case PASSING, SENDING, REPEATING -> {
                phase = Phase.ENDED;
                stop();
                client.abort();
            }
            case ENDED -> {
                // The client has its response.
            }
        }
    }

    /** Sends the request again without the range, which is one of the document. */
    private void repeat() {
        if (phase != Phase.REPEATING) {
            return;
        }
        phase = Phase.PASSING;
        RequestHandler again = assembler.requests().onRequest(client, unconditional(), 0);
        handler = again;
        again.onRequestEnd();
    }

    // The page

    private void assemble() {
        PageBudget limits = budget;
        if (phase != Phase.ASSEMBLING || limits == null) {
            return;
        }
        EsiDocument parsed;
        try {
            byte[] bytes = document.length == length ? document : Arrays.copyOf(document, length);
            parsed = EsiParser.parse(bytes, limits.config().includesMax());
        } catch (EsiSyntaxException e) {
            PageAssembler.FAULTS.reportFrequent(
                    "a document has faulty markup (esi)", () -> request.target().asString() + ":" + e.getMessage());
            boolean isLimit = e.reason() == EsiSyntaxException.Reason.TOO_MANY_INCLUDES;
            fail(
                    e.reason().text(),
                    "the markup of the page is faulty: " + e.getMessage(),
                    isLimit ? Counter.ESI_PAGES_FAILED_LIMIT : Counter.ESI_PAGES_FAILED_DOCUMENT);
            return;
        }
        int level = fragment == null ? 0 : fragment.level();
        PageAssembly begun =
                new PageAssembly(assembler, client, request, parsed, level, limits, new PageAssembly.End() {
                    @Override
                    public void onPage(ArrayDeque<ByteBuf> assembled) {
                        sendPage(assembled);
                    }

                    @Override
                    public void onFailure(String reason, String text) {
                        fail(reason, text, Counter.ESI_PAGES_FAILED_FRAGMENT);
                    }
                });
        assembly = begun;
        document = EMPTY;
        begun.start();
    }

    private void sendPage(ArrayDeque<ByteBuf> assembled) {
        assembler.counters().increment(Counter.ESI_PAGES_ASSEMBLED);
        OutboundHead own = head;
        if (own == null) {
            throw new IllegalStateException("no document has begun");
        }
        phase = Phase.SENDING;
        pieces = assembled;
        long bytes = 0;
        for (ByteBuf piece : assembled) {
            bytes += piece.readableBytes();
        }
        if (fragment != null) {
            fragment.assembled();
        }
        client.writeHead(own.contentLength(bytes));
        head = null;
        send();
    }

    private void send() {
        while (client.isWritable() && !pieces.isEmpty()) {
            ByteBuf piece = pieces.remove();
            sentBytes += piece.readableBytes();
            client.write(piece);
        }
        if (pieces.isEmpty() && isAwaited) {
            isAwaited = false;
            client.finish();
            if (caller != null) {
                caller.onPageEnd(true);
            }
        }
    }

    /** Sends a response of this proxy instead of the page. */
    private void fail(String detail, String text, Counter counter) {
        assembler.counters().increment(counter);
        stop();
        phase = Phase.PASSING;
        if (caller != null) {
            caller.onPageFailure(502, detail, text);
        }
        client.finish();
        phase = Phase.ENDED;
        if (isAwaited) {
            isAwaited = false;
            if (caller != null) {
                caller.onPageEnd(true);
            }
        } else if (!isExchangeOver) {
            // The exchange, which is the caller, still receives the document.
            client.eventLoop().execute(this::endExchange);
        }
    }

    private void endExchange() {
        if (!isExchangeOver && caller != null) {
            isExchangeOver = true;
            caller.onPageEnd(false);
        }
    }

    private void stop() {
        if (assembly != null) {
            assembly.cancel();
        }
        document = EMPTY;
        pieces.forEach(ByteBuf::release);
        pieces = NONE;
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
        exchange().onRequestEnd();
    }

    @Override
    public void onRequestFailure(BadRequest reason) {
        exchange().onRequestFailure(reason);
    }

    @Override
    public void onWritable() {
        if (phase == Phase.SENDING) {
            send();
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
        stop();
        exchange().onClientGone();
    }
}
