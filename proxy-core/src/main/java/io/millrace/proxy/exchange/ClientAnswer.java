package io.millrace.proxy.exchange;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.config.access.ErrorPageConfig;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.LocalAnswer;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.exchange.esi.AssembledResponse;
import io.millrace.proxy.exchange.esi.PageFailure;
import io.millrace.proxy.exchange.forward.BodySender;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.report.ExchangePhase;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.ReverseMap;
import io.millrace.proxy.serve.ErrorPages;
import io.millrace.proxy.serve.LocalAnswers;
import io.millrace.proxy.serve.MultipartBody;
import io.millrace.proxy.serve.Selection;
import io.millrace.proxy.serve.StoredBody;
import io.millrace.proxy.spi.Answer;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the response to one request. The response is a stored response or a part of one, an origin's response, or a
 * response that this proxy generates. A method that returns true has sent only the head; the {@link BodySender} then
 * sends the content and reports its end.
 *
 * <p>Confined to the client stream's event loop.
 */
final class ClientAnswer implements AssembledResponse.Caller {
    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final BodySender sender;
    private final Consumer<ExchangePhase> pageEnd;
    /** The assembly of a page from an ESI document; null if no rule assembles pages. */
    private final @Nullable AssembledResponse page;

    private @Nullable Mapped mapped;
    private @Nullable CacheSettings settings;
    /** The bytes that the client wants of the response; null when unknown, or when they are several ranges. */
    private @Nullable Missing wanted;

    private boolean headSent;

    /** @param pageEnd receives the last phase of the exchange after a page, if {@link #finish} has returned false */
    ClientAnswer(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            RequestHead request,
            ExchangeReport report,
            BodySender sender,
            Consumer<ExchangePhase> pageEnd) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.report = report;
        this.sender = sender;
        this.pageEnd = pageEnd;
        this.page = stream instanceof AssembledResponse assembled ? assembled : null;
        if (page != null) {
            page.caller(this);
        }
    }

    /** Records the decision's rule and cache settings. They determine how response heads are written. */
    void decided(Decision decision) {
        mapped = decision.isMapped() ? decision.mapped() : null;
        settings = decision.isMapped() ? decision.cacheSettings() : null;
        if (page != null) {
            page.decided(
                    mapped == null
                            ? null
                            : EsiRule.of(
                                    exchangeLoop.settings().edge(),
                                    mapped.rule().index()));
        }
    }

    /** The receiver of the client's events, if pages may be assembled; null if the exchange receives them itself. */
    @Nullable
    AssembledResponse page() {
        return page;
    }

    /**
     * Ends the response.
     *
     * @return false if a page is still being assembled; {@link #onPageEnd} then reports the end
     */
    boolean finish(@Nullable FieldSection trailers) {
        if (page != null && page.finishPage()) {
            return false;
        }
        if (trailers == null) {
            stream.finish();
        } else {
            stream.finish(trailers);
        }
        return true;
    }

    /**
     * Sends the request again if the response was only a part of an ESI document. Called when the exchange has ended.
     *
     * @return true if another exchange, with its own report, answers the request
     */
    boolean repeat() {
        return page != null && page.repeat();
    }

    /** Bytes of content sent to the client. */
    long contentBytes() {
        long ofPage = page == null ? -1 : page.pageBytes();
        return ofPage < 0 ? sender.bytes() : ofPage;
    }

    @Override
    public int onPageFailure(PageFailure failure, boolean closing) {
        report.pageFailed(failure);
        int status = failure.status();
        ErrorPageConfig own =
                errorPage(mapped == null ? AccessRules.NO_RULE : mapped.rule().index(), status);
        ByteBuf content = own == null
                ? LocalAnswers.content(stream.alloc(), status, failure.text())
                : Unpooled.wrappedBuffer(own.content());
        int length = content.readableBytes();
        OutboundHead head = LocalAnswers.head(
                exchangeLoop.outbound(),
                status,
                length,
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers(),
                null,
                null,
                own);
        report.addTo(head);
        if (closing) {
            head.closeConnection();
        }
        send(head);
        stream.write(content);
        return length;
    }

    @Override
    public void onPageBroken(PageFailure failure) {
        report.pageFailed(failure);
        pageEnd.accept(ExchangePhase.ABORTED);
    }

    @Override
    public void onPageEnd(boolean isComplete) {
        pageEnd.accept(isComplete ? ExchangePhase.DONE : ExchangePhase.ABORTED);
    }

    /**
     * Returns the request whose conditions and range apply to a stored response. For an ESI document, returns the
     * request without conditions and range.
     */
    RequestHead selecting(StoredHead stored) {
        return page != null && page.begins(stored) ? page.unconditional() : request;
    }

    private @Nullable ErrorPageConfig errorPage(int rule, int status) {
        ErrorPages pages = exchangeLoop.settings().errorPages();
        return pages == null ? null : pages.find(rule, status);
    }

    boolean isHeadSent() {
        return headSent;
    }

    /**
     * Sends a stored response, a part of it, or the result of the client's preconditions. Takes over the object's
     * reference.
     *
     * @return whether content follows
     */
    boolean sendStored(StoredObject<StoredHead> object, StoredHead stored, CacheResult result) {
        Selection selection;
        long offset = 0;
        try {
            report.stored(stored, result, object.residentBody() != null);
            long length = object.length();
            RequestHead selecting = selecting(stored);
            if (StoredParts.isPart(stored)) {
                ContentRange part = PartialContent.rangeOf(stored);
                offset = part.first();
                length = part.length();
                selection = Objects.requireNonNull(Selection.ofPart(request, stored, part), "the part has the range");
            } else {
                selection = Selection.of(selecting, stored, length);
            }
            sendHead(selection, stored, length);
            rememberMissing(selection, null, stored, length);
        } catch (RuntimeException | Error e) {
            object.release();
            throw e;
        }
        if (request.method() == Method.HEAD || !selection.hasContent()) {
            object.release();
            return false;
        }
        if (selection.kind() == Selection.Kind.PARTS) {
            sender.start(new MultipartBody(selection.parts(), object, stream.eventLoop(), sender));
        } else {
            long first = selection.first() - offset;
            sender.start(new StoredBody(object, stream.eventLoop(), sender, first, selection.end() - offset));
        }
        return true;
    }

    /** Sends a stored response whose missing blocks are fetched while it is sent. */
    void sendPartial(PartialBody body, Selection selection, StoredHead stored, long length) {
        try {
            report.stored(stored, CacheResult.PARTIAL, false);
            sendHead(selection, stored, length);
            rememberMissing(selection, null, stored, length);
        } catch (RuntimeException | Error e) {
            body.close();
            throw e;
        }
        sender.start(body);
    }

    private void sendHead(Selection selection, StoredHead stored, long length) {
        headSent = true;
        StoredHead head = toClient(exchangeLoop, stored, request, mapped);
        sendHead(
                exchangeLoop,
                stream,
                request,
                report,
                selection,
                head,
                length,
                exchangeLoop.clock().millis());
    }

    /** Returns the head in which the reverse map has replaced origin URLs by client URLs. */
    static StoredHead toClient(
            ExchangeLoop exchangeLoop, StoredHead stored, RequestHead request, @Nullable Mapped mapped) {
        ReverseMap reverse = exchangeLoop.settings().reverse();
        return reverse == null || mapped == null ? stored : reverse.toClient(stored, request.target(), mapped);
    }

    /**
     * Sends the head for a selection of a stored response. The fast lane (the short code path for hits in RAM) and the
     * full exchange both call this method, so they write the same bytes.
     */
    static void sendHead(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            RequestHead request,
            ExchangeReport report,
            Selection selection,
            StoredHead stored,
            long length,
            long nowMillis) {
        OutboundHead head = selection.fill(exchangeLoop.outbound(), stored, length);
        report.addTo(head, stored, nowMillis);
        send(stream, request, report, head);
    }

    /**
     * Sends an origin's response. If the response is storable, evaluates the request's conditions and range. Takes
     * ownership of the reader.
     *
     * @return whether content follows
     */
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
        sender.start(reader);
        if (sender.bytes() == 0) {
            stream.flush();
        }
        return true;
    }

    /**
     * The bytes that a client still lacks after the source of its response failed in the middle.
     *
     * @param keptUnder key of the stored beginning of a fetched response, or null
     * @param head head of the response
     * @param position position of the first byte that the client lacks
     * @param end position after the last byte that the client wants
     * @param wholeLength bytes of the whole body
     */
    record Missing(@Nullable StoreKey keptUnder, StoredHead head, long position, long end, long wholeLength) {}

    /** Returns the bytes that the client still lacks; null when they are unknown or consist of several ranges. */
    @Nullable
    Missing missing() {
        Missing all = wanted;
        return all == null
                ? null
                : new Missing(
                        all.keptUnder(), all.head(), all.position() + sender.bytes(), all.end(), all.wholeLength());
    }

    /** Remembers which bytes the client wants, in case the source of the response fails in the middle. */
    private void rememberMissing(Selection selection, @Nullable StoreKey keptUnder, StoredHead head, long length) {
        switch (selection.kind()) {
            case WHOLE -> wanted = length < 0 ? null : new Missing(keptUnder, head, 0, length, length);
            case PART -> wanted = new Missing(keptUnder, head, selection.first(), selection.end(), length);
            case PARTS, NOT_MODIFIED, PRECONDITION_FAILED, UNSATISFIABLE -> wanted = null;
        }
    }

    /** Sends the head of an origin's response. Returns whether content follows. */
    private boolean sendFetchedHead(FetchedResponse response, ResponseTee.Reader reader) {
        boolean isDocument = page != null && page.begins(response.head().fields());
        Selection selection = isDocument ? null : select(response);
        StoredHead stored =
                response.selection() == null ? null : response.selection().known();
        OutboundHead head;
        boolean withContent = request.method() != Method.HEAD;
        if (stored == null || selection == null || isSentWhole(selection)) {
            head = ResponseHeads.fetched(
                    exchangeLoop.outbound(),
                    response,
                    exchangeLoop.toClient(response.head(), request.target(), mapped),
                    exchangeLoop.clock().millis(),
                    request.method() == Method.HEAD,
                    settings == null ? null : settings.tags());
            if (stored != null && response.part() == null && response.length() >= 0) {
                wanted = new Missing(response.keptUnder(), stored, 0, response.length(), response.length());
            }
        } else {
            StoredHead clientHead = settings == null
                    ? stored
                    : Validation.forRequestingClient(stored, response.head().fields(), settings);
            head = selection.fill(
                    exchangeLoop.outbound(), toClient(exchangeLoop, clientHead, request, mapped), response.length());
            ResponseHeads.addAge(head, response, exchangeLoop.clock().millis());
            rememberMissing(selection, response.keptUnder(), stored, response.length());
            withContent &= selection.hasContent();
            if (selection.kind() == Selection.Kind.PART) {
                long offset = response.part() == null ? 0 : response.part().first();
                reader.narrow(selection.first() - offset, selection.end() - offset);
            }
        }
        report.addTo(head);
        send(head);
        return withContent;
    }

    /** Returns the result of the request's conditions and range; null if the response is sent as it is. */
    private @Nullable Selection select(FetchedResponse response) {
        if (request.method() == Method.POST || !Selection.isRequestedBy(request)) {
            return null;
        }
        StoredHead stored = response.selectable();
        if (stored == null) {
            return null;
        }
        return response.part() == null
                ? Selection.of(request, stored, response.contentLength())
                : Selection.ofPart(request, stored, response.part());
    }

    /**
     * Returns true if the whole content is sent. A request for several ranges also gets the whole content here, because
     * only stored responses are sent as several ranges. RFC 9110 s14.2 permits this.
     */
    private static boolean isSentWhole(Selection selection) {
        return selection.kind() == Selection.Kind.WHOLE || selection.kind() == Selection.Kind.PARTS;
    }

    /**
     * Sends a response that this proxy generates, completely.
     *
     * @param decision supplies Allow and other fields of the response; null if there is none
     * @param closing whether to close the connection after the response
     */
    void sendLocal(int status, String text, ExchangeOutcome result, @Nullable Decision decision, boolean closing) {
        LocalAnswer decided = decision == null ? null : decision.localOrNull();
        byte[] body = decided == null ? null : decided.body();
        if (decided != null && body != null) {
            sendLocal(status, Objects.requireNonNull(decided.fields()), body, result, closing);
            return;
        }
        ErrorPageConfig own = errorPage(decision == null ? AccessRules.NO_RULE : decision.rule(), status);
        ByteBuf content = own == null
                ? LocalAnswers.content(stream.alloc(), status, text)
                : Unpooled.wrappedBuffer(own.content());
        OutboundHead head = LocalAnswers.head(
                exchangeLoop.outbound(),
                status,
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers(),
                decided == null ? null : decided.allow(),
                decided == null ? null : decided.fields(),
                own);
        report.answeredLocally(result, null);
        sendLocal(head, content, closing);
    }

    /** Sends the refusal of an authorisation server, with the server's fields instead of this proxy's fields. */
    private void sendLocal(int status, FieldSection fields, byte[] body, ExchangeOutcome result, boolean closing) {
        OutboundHead head = LocalAnswers.extension(
                exchangeLoop.outbound(),
                status,
                fields,
                body.length,
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers());
        report.answeredLocally(result, null);
        sendLocal(head, Unpooled.wrappedBuffer(body), closing);
    }

    /** Answers an ACME challenge with the key authorization only (RFC 8555 section 8.3). */
    void sendChallenge(String text, boolean closing) {
        ByteBuf content = ByteBufUtil.writeAscii(stream.alloc(), text);
        OutboundHead head = LocalAnswers.head(
                exchangeLoop.outbound(),
                200,
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers(),
                null);
        report.answeredLocally(ExchangeOutcome.LOCAL, "acme-challenge");
        sendLocal(head, content, closing);
    }

    /**
     * Sends a response that this proxy generates. Takes ownership of the content. A response to HEAD omits the content.
     */
    private void sendLocal(OutboundHead head, ByteBuf content, boolean closing) {
        if (page != null) {
            page.begins(FieldSection.EMPTY);
        }
        report.addToLocal(head);
        if (closing) {
            head.closeConnection();
        }
        send(head);
        if (request.method() == Method.HEAD) {
            content.release();
        } else {
            stream.write(content);
        }
    }

    /**
     * Sends a redirect. The status determines whether the client may cache it permanently or not at all.
     *
     * @param closing whether to close the connection after the response
     */
    void sendRedirect(Decision decision, boolean closing) {
        LocalAnswer redirect = decision.local();
        String location = redirect.redirectTarget();
        ByteBuf content = LocalAnswers.content(stream.alloc(), redirect.status(), "see " + location);
        OutboundHead head = LocalAnswers.redirect(
                exchangeLoop.outbound(),
                redirect.status(),
                location,
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers());
        report.answeredLocally(ExchangeOutcome.REDIRECTED, redirect.reason());
        sendLocal(head, content, closing);
    }

    /**
     * Sends the answer of a rule.
     *
     * @param closing whether to close the connection after the response
     */
    void sendAnswer(Decision decision, boolean closing) {
        RuleConfig.Answer ruleAnswer = decision.local().ruleAnswer();
        ByteBuf content = LocalAnswers.hasContent(ruleAnswer.status())
                ? ruleAnswer.body() == null
                        ? LocalAnswers.content(stream.alloc(), ruleAnswer.status(), "a rule of this proxy answers")
                        : ByteBufUtil.writeUtf8(stream.alloc(), ruleAnswer.body())
                : Unpooled.EMPTY_BUFFER;
        OutboundHead head = LocalAnswers.answer(
                exchangeLoop.outbound(),
                ruleAnswer.status(),
                ruleAnswer.contentType(),
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers());
        report.answeredLocally(ExchangeOutcome.LOCAL, decision.local().reason());
        sendLocal(head, content, closing);
    }

    /**
     * Sends the answer of an extension.
     *
     * @param result whether the extension refused or answered the request
     * @param closing whether to close the connection after the response
     */
    void sendExtensionAnswer(RequestHooks hooks, ExchangeOutcome result, boolean closing) {
        Answer extensionAnswer = hooks.answer();
        ByteBuf content = LocalAnswers.hasContent(extensionAnswer.status())
                ? Unpooled.wrappedBuffer(extensionAnswer.body())
                : Unpooled.EMPTY_BUFFER;
        OutboundHead head = LocalAnswers.extension(
                exchangeLoop.outbound(),
                extensionAnswer.status(),
                hooks.answerFields(),
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers());
        report.answeredLocally(result, RequestHooks.DETAIL_PREFIX + hooks.decidedBy());
        sendLocal(head, content, closing);
    }

    /**
     * Answers as the final recipient (RFC 9110 s7.6.2): OPTIONS with the methods of the URL, TRACE with the received
     * request.
     *
     * @param closing whether to close the connection after the response
     */
    void sendAsRecipient(@Nullable String allow, boolean closing) {
        boolean trace = request.method() == Method.TRACE;
        ByteBuf content = trace ? LocalAnswers.trace(stream.alloc(), request) : Unpooled.EMPTY_BUFFER;
        OutboundHead head = LocalAnswers.ofRecipient(
                exchangeLoop.outbound(),
                content.readableBytes(),
                exchangeLoop.clock().millis(),
                exchangeLoop.settings().server().ofLocalAnswers(),
                trace ? null : allow);
        report.addToLocal(head);
        if (closing) {
            head.closeConnection();
        }
        send(head);
        stream.write(content);
    }

    private void send(OutboundHead head) {
        headSent = true;
        send(stream, request, report, head);
    }

    private static void send(ClientStream stream, RequestHead request, ExchangeReport report, OutboundHead head) {
        report.headSent(head.status());
        if (request.method() == Method.HEAD) {
            head.withoutContent();
        }
        ServerTlsConfig tls = stream.connection().tlsSettings(request.target().hostBytes());
        ServerTlsConfig.Hsts hsts = tls == null ? null : tls.hsts();
        report.applyRules(head);
        if (hsts != null
                && !head.has(FieldName.STRICT_TRANSPORT_SECURITY)
                && !head.isEdited(FieldName.STRICT_TRANSPORT_SECURITY)) {
            head.strictTransportSecurity(hsts.value());
        }
        stream.writeHead(head);
    }
}
