package io.millrace.proxy.exchange;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.ContentRange;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.Validation;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.StoredParts;
import io.millrace.proxy.exchange.forward.BodySender;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.forward.ResponseHeads;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.fill.ResponseTee;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.ReverseMap;
import io.millrace.proxy.serve.LocalAnswers;
import io.millrace.proxy.serve.MultipartBody;
import io.millrace.proxy.serve.Selection;
import io.millrace.proxy.serve.StoredBody;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The response to one request: a stored response or a part of it, an origin's response, or a response that this proxy
 * generates. Each method returns whether content follows the head. If so, the sender writes the content and reports its
 * end.
 *
 * <p>Confined to the client stream's event loop.
 */
final class ClientAnswer {
    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final ExchangeReport report;
    private final BodySender sender;

    private @Nullable Mapped mapped;
    private @Nullable CacheSettings settings;
    private @Nullable Missing whole;
    private boolean headSent;

    ClientAnswer(
            ExchangeLoop home, ClientStream stream, RequestHead request, ExchangeReport report, BodySender sender) {
        this.home = home;
        this.stream = stream;
        this.request = request;
        this.report = report;
        this.sender = sender;
    }

    /** Notes the rule and cache settings of the decision. */
    void decided(Decision decision) {
        mapped = decision.isMapped() ? decision.mapped() : null;
        settings = decision.isMapped() ? decision.cacheSettings() : null;
    }

    boolean isHeadSent() {
        return headSent;
    }

    /**
     * Sends a stored response, a part of it, or the result of the client's preconditions. Takes over the reference.
     *
     * @return whether content follows
     */
    boolean sendStored(StoredObject<StoredHead> object, StoredHead stored, CacheResult result) {
        Selection selection;
        long offset = 0;
        try {
            report.stored(stored, result, object.residentBody() != null);
            long length = object.length();
            if (StoredParts.isPart(stored)) {
                ContentRange part = PartialContent.rangeOf(stored);
                offset = part.first();
                length = part.length();
                selection = Objects.requireNonNull(Selection.ofPart(request, stored, part), "the part has the range");
            } else {
                selection = Selection.of(request, stored, length);
            }
            sendHead(selection, stored, length);
            remember(selection, null, stored, length);
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
            remember(selection, null, stored, length);
        } catch (RuntimeException | Error e) {
            body.close();
            throw e;
        }
        sender.start(body);
    }

    private void sendHead(Selection selection, StoredHead stored, long length) {
        headSent = true;
        StoredHead head = toClient(home, stored, request, mapped);
        sendHead(
                home,
                stream,
                request,
                report,
                selection,
                head,
                length,
                home.clock().millis());
    }

    /** Returns the head after the reverse map has changed its URLs to those of the client. */
    static StoredHead toClient(ExchangeLoop home, StoredHead stored, RequestHead request, @Nullable Mapped mapped) {
        ReverseMap reverse = home.settings().reverse();
        return reverse == null || mapped == null ? stored : reverse.toClient(stored, request.target(), mapped);
    }

    /** Sends the head for a selection of a stored response. Both lanes use it, so that they write the same bytes. */
    static void sendHead(
            ExchangeLoop home,
            ClientStream stream,
            RequestHead request,
            ExchangeReport report,
            Selection selection,
            StoredHead stored,
            long length,
            long nowMillis) {
        OutboundHead head = selection.fill(home.outbound(), stored, length);
        report.addTo(head, stored, nowMillis);
        send(stream, request, report, head);
    }

    /**
     * Sends an origin's response: the whole, or the selection of the request if the response is storable. Takes over
     * the reader.
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
     * The missing rest of a response that broke off on its way to the client.
     *
     * @param keptUnder key of the stored beginning of a fetched response, or null
     * @param head head of the response
     * @param position position of the first byte that the client lacks
     * @param end position after the last byte that the client wants
     * @param length bytes of the whole body
     */
    record Missing(@Nullable StoreKey keptUnder, StoredHead head, long position, long end, long length) {}

    /** Returns the rest that is missing now; null when it is unknown or has several ranges. */
    @Nullable
    Missing missing() {
        Missing all = whole;
        return all == null
                ? null
                : new Missing(all.keptUnder(), all.head(), all.position() + sender.bytes(), all.end(), all.length());
    }

    private void remember(Selection selection, @Nullable StoreKey keptUnder, StoredHead head, long length) {
        switch (selection.kind()) {
            case WHOLE -> whole = length < 0 ? null : new Missing(keptUnder, head, 0, length, length);
            case PART -> whole = new Missing(keptUnder, head, selection.first(), selection.end(), length);
            case PARTS, NOT_MODIFIED, PRECONDITION_FAILED, UNSATISFIABLE -> whole = null;
        }
    }

    private boolean sendFetchedHead(FetchedResponse response, ResponseTee.Reader reader) {
        Selection selection = select(response);
        StoredHead stored =
                response.selection() == null ? null : response.selection().known();
        OutboundHead head;
        boolean withContent = request.method() != Method.HEAD;
        if (stored == null || selection == null || isSentWhole(selection)) {
            head = ResponseHeads.fetched(
                    home.outbound(),
                    response,
                    home.toClient(response.head(), request.target(), mapped),
                    home.clock().millis(),
                    request.method() == Method.HEAD,
                    settings == null ? null : settings.tags());
            if (stored != null && response.part() == null && response.length() >= 0) {
                whole = new Missing(response.keptUnder(), stored, 0, response.length(), response.length());
            }
        } else {
            StoredHead own = settings == null
                    ? stored
                    : Validation.forAsker(stored, response.head().fields(), settings);
            head = selection.fill(home.outbound(), toClient(home, own, request, mapped), response.length());
            ResponseHeads.addAge(head, response, home.clock().millis());
            remember(selection, response.keptUnder(), stored, response.length());
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

    private @Nullable Selection select(FetchedResponse response) {
        if (request.method() == Method.POST || !Selection.isAskedFor(request)) {
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
     * Several ranges are only served from the store. Otherwise the whole is sent, which a server may do
     * (RFC 9110 s14.2).
     */
    private static boolean isSentWhole(Selection selection) {
        return selection.kind() == Selection.Kind.WHOLE || selection.kind() == Selection.Kind.PARTS;
    }

    /**
     * Sends a response that this proxy generates, completely.
     *
     * @param allow the methods that the URL supports, for a response with Allow
     * @param closing whether to close the connection after the response
     */
    void sendLocal(int status, String text, ExchangeOutcome result, @Nullable String allow, boolean closing) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), status, text);
        OutboundHead head = LocalAnswers.head(
                home.outbound(),
                status,
                content.readableBytes(),
                home.clock().millis(),
                home.settings().server().ofLocalAnswers(),
                allow);
        report.refusedAs(result, null);
        sendLocal(head, content, closing);
    }

    /** Answers an ACME challenge with the key authorization only (RFC 8555 section 8.3). */
    void sendChallenge(String text, boolean closing) {
        ByteBuf content = ByteBufUtil.writeAscii(stream.alloc(), text);
        OutboundHead head = LocalAnswers.head(
                home.outbound(),
                200,
                content.readableBytes(),
                home.clock().millis(),
                home.settings().server().ofLocalAnswers(),
                null);
        report.refusedAs(ExchangeOutcome.LOCAL, "acme-challenge");
        sendLocal(head, content, closing);
    }

    /** Sends a response that this proxy generates. Takes ownership of the content, which a response to HEAD omits. */
    private void sendLocal(OutboundHead head, ByteBuf content, boolean closing) {
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

    /**
     * Sends a redirect. The status determines whether the client may cache it permanently or not at all.
     *
     * @param closing whether to close the connection after the response
     */
    void sendRedirect(Decision decision, boolean closing) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), decision.redirectStatus(), "see " + decision.location());
        OutboundHead head = LocalAnswers.redirect(
                home.outbound(),
                decision.redirectStatus(),
                decision.location(),
                content.readableBytes(),
                home.clock().millis(),
                home.settings().server().ofLocalAnswers());
        report.refusedAs(ExchangeOutcome.REDIRECTED, decision.reason());
        sendLocal(head, content, closing);
    }

    /**
     * Sends the answer of a rule.
     *
     * @param closing whether to close the connection after the response
     */
    void sendAnswer(Decision decision, boolean closing) {
        RuleConfig.Answer by = decision.answer();
        ByteBuf content = LocalAnswers.hasContent(by.status())
                ? by.body() == null
                        ? LocalAnswers.content(stream.alloc(), by.status(), "a rule of this proxy answers")
                        : ByteBufUtil.writeUtf8(stream.alloc(), by.body())
                : Unpooled.EMPTY_BUFFER;
        OutboundHead head = LocalAnswers.answer(
                home.outbound(),
                by.status(),
                by.contentType(),
                content.readableBytes(),
                home.clock().millis(),
                home.settings().server().ofLocalAnswers());
        report.refusedAs(ExchangeOutcome.LOCAL, decision.reason());
        sendLocal(head, content, closing);
    }

    /**
     * Answers OPTIONS with the methods of the URL, and TRACE with the request as it was received, as the final
     * recipient does (RFC 9110 s7.6.2).
     *
     * @param closing whether to close the connection after the response
     */
    void sendAsRecipient(@Nullable String allow, boolean closing) {
        boolean trace = request.method() == Method.TRACE;
        ByteBuf content = trace ? LocalAnswers.trace(stream.alloc(), request) : Unpooled.EMPTY_BUFFER;
        OutboundHead head = LocalAnswers.ofRecipient(
                home.outbound(),
                content.readableBytes(),
                home.clock().millis(),
                home.settings().server().ofLocalAnswers(),
                trace ? null : allow);
        report.addToLocal(head);
        if (closing) {
            head.close();
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
