package io.millrace.proxy.exchange;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.LocalAnswer;
import io.millrace.proxy.exchange.esi.AssembledResponse;
import io.millrace.proxy.exchange.esi.PageFailure;
import io.millrace.proxy.exchange.forward.FetchedResponse;
import io.millrace.proxy.exchange.report.CacheOutcome;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.exchange.report.RecordFields;
import io.millrace.proxy.exchange.report.ViaLetters;
import io.millrace.proxy.extension.HookChain;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.observe.field.ViaCodes;
import io.millrace.proxy.observe.field.ViaText;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogHierarchy;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.log.live.LoopLiveLog;
import io.millrace.proxy.observe.trace.ClientSpan;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.observe.trace.LoopTraces;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.rules.RequestView;
import io.millrace.proxy.rules.RuleProgram;
import io.millrace.proxy.tunnel.Tunnel;
import io.netty.util.AsciiString;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The report of one exchange. It adds Cache-Status, Via and Age to the response head, and updates counters and the
 * access log at the end. The fast lane, a short code path for hits in RAM, reuses one report for all requests that it
 * answers ({@link #begin}).
 *
 * <p>Confined to one event loop.
 */
final class ExchangeReport {
    private static final int FAILURE_STATUS_MIN = 500;

    private final ExchangeLoop exchangeLoop;
    private final CacheOutcome outcome = new CacheOutcome();
    private ClientStream stream;
    private @Nullable RequestHead request;
    private long receivedMillis;
    private long receivedNanos;

    private @Nullable String originHost;
    /** Results of the hosts of an origin group, for the log only: clients do not see them. */
    private @Nullable String hostResults;

    private @Nullable FieldSection originFields;
    private @Nullable StoredHead storedHead;
    /** True once the connection has become a tunnel. */
    private boolean switched;
    /** Time of the switch to a tunnel, as {@link System#nanoTime}. */
    private long tunnelNanos;

    /** Time of the response head, as {@link System#nanoTime}; 0 if it was not measured. */
    private long headNanos;

    private long endNanos;
    /** True for a fragment of a page. Fragments have no record in the access log. */
    private boolean isFragment;

    private long receivedBytes;
    private int status;
    private @Nullable RuleProgram rules;
    private @Nullable FieldEdits cors;
    /** The hooks of extensions for the request; null if its rule has none. */
    private @Nullable RequestHooks hooks;
    /** The extensions that only set constant fields; null for none. */
    private @Nullable HookChain constantFieldHooks;

    private int random;
    private long decidedMillis;
    /** The trace of the request; null before it begins, or if requests are not traced. */
    private @Nullable ExchangeTrace trace;

    /** Index of the remap rule; -1 for none. */
    private int rule = AccessRules.NO_RULE;

    ExchangeReport(ExchangeLoop exchangeLoop, ClientStream stream, @Nullable RequestHead request) {
        this(exchangeLoop, stream, request, exchangeLoop.clock().millis(), System.nanoTime());
        isFragment = stream instanceof AssembledResponse page && page.isFragment();
    }

    /** Creates the report of a request that was received earlier, at the given times. */
    ExchangeReport(
            ExchangeLoop exchangeLoop,
            ClientStream stream,
            @Nullable RequestHead request,
            long receivedMillis,
            long receivedNanos) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.receivedMillis = receivedMillis;
        this.receivedNanos = receivedNanos;
        exchangeLoop.counters().increment(Counter.REQUESTS_ACTIVE);
    }

    /**
     * Resets all fields for the next request, which was received at the given times. The previous request has ended.
     */
    void begin(ClientStream newStream, RequestHead head, long millis, long nanos) {
        stream = newStream;
        request = head;
        receivedMillis = millis;
        receivedNanos = nanos;
        isFragment = false;
        outcome.begin();
        originHost = null;
        hostResults = null;
        originFields = null;
        storedHead = null;
        switched = false;
        tunnelNanos = 0;
        headNanos = 0;
        endNanos = 0;
        receivedBytes = 0;
        status = 0;
        rules = null;
        cors = null;
        hooks = null;
        constantFieldHooks = null;
        random = 0;
        decidedMillis = 0;
        trace = null;
        rule = AccessRules.NO_RULE;
        exchangeLoop.counters().increment(Counter.REQUESTS_ACTIVE);
    }

    /** Reports a request that was refused before an exchange began. */
    static void refused(ExchangeLoop exchangeLoop, ClientStream stream, BadRequest reason) {
        ExchangeReport report = new ExchangeReport(exchangeLoop, stream, null);
        report.outcome.failed(reason.text(), FailureCounters.outcomeOf(reason));
        report.status = reason.status();
        report.end(ExchangeOutcome.BAD_REQUEST, 0);
    }

    /** Records the decision about the request. */
    void decided(Decision decision) {
        if (decision.isMapped()) {
            originHost = decision.mapped().originHost();
            outcome.mapped(decision.cacheSettings(), decision.cacheRules());
            RemapRule mapping = decision.mapped().rule();
            rule = mapping.isForwarding() ? AccessRules.NO_RULE : mapping.index();
        }
        hooks = decision.hooks();
        cors = decision.cors();
        constantFieldHooks = decision.constantFieldHooks();
        rules = decision.rules();
        if (rules != null) {
            random = decision.random();
            decidedMillis = decision.decidedMillis();
        }
        LocalAnswer local = decision.localOrNull();
        if (local != null && local.check() != null) {
            outcome.detail(local.check());
        }
        if (decision.isReadFromDisk()) {
            outcome.markReadFromDisk();
        }
        if (decision.outdated() != null) {
            outcome.outdated(decision.outdated(), decision.outdatingStamp());
        }
    }

    /** Applies the changes of CORS, of rules and of extensions to an otherwise complete response head. */
    void applyRules(OutboundHead head) {
        if (cors != null) {
            head.edit(cors);
        }
        RuleProgram program = rules;
        RequestHead current = request;
        if (program != null && current != null && program.changesResponses()) {
            RequestView view = exchangeLoop.ruleView().begin(current, stream.connection(), decidedMillis, random);
            program.deliver(view.answered(head, outcome.result().word()), head);
            view.end();
        }
        if (constantFieldHooks != null) {
            constantFieldHooks.setConstants(head);
        }
        if (hooks != null && current != null && hooks.changesResponses()) {
            hooks.deliver(current, head, outcome.result().word());
        }
    }

    /** Notes an extension that failed, as the detail of Cache-Status and of the log. */
    private void noteFailedHook() {
        if (hooks != null && !outcome.hasDetail() && hooks.failed() != null) {
            outcome.detail(RequestHooks.DETAIL_PREFIX + hooks.failed());
        }
    }

    /** Notes that the client requests a tunnel to a host. */
    void connecting(String host) {
        originHost = host;
        forwarded(ForwardReason.METHOD);
    }

    /** Notes the reason why the request goes to an origin. */
    void forwarded(ForwardReason reason) {
        outcome.forwarded(reason);
    }

    /** Notes the host of the origin group that responded; null when the rule has no group. */
    void answeredBy(@Nullable String host) {
        if (host != null) {
            originHost = host;
        }
    }

    /** Notes an origin's response; {@code fromOthersFetch} is true if another exchange's fetch delivered it. */
    void fetched(FetchedResponse response, boolean fromOthersFetch) {
        originFields = response.head().fields();
        if (response.isFromVariant()) {
            outcome.madeFromVariant();
            return;
        }
        outcome.fetched(response.originStatus(), response.head().version(), fromOthersFetch, response.stored());
        String unstored = response.detail();
        if (unstored != null) {
            outcome.addDetail(unstored);
        }
    }

    /**
     * Notes the origin's 304, which confirms the stored response.
     *
     * @param version the HTTP version of the 304, as {@link io.millrace.proxy.http.ResponseHead#version}
     */
    void confirmed(boolean byOthersFetch, int version) {
        outcome.confirmed(byOthersFetch, version);
    }

    /** Notes that the missing parts of the stored response are fetched from the origin. */
    void completed(boolean byOthersFetch) {
        outcome.collapsed(byOthersFetch);
    }

    /** Notes that the origin's partial response is written to the store in blocks and sent from there. */
    void storedInBlocks(FetchedResponse response) {
        outcome.storedInBlocks(response.originStatus(), response.head().version(), response.stored());
    }

    /**
     * Notes the origin's status for the missing parts. After the response head was sent, the status goes only to the
     * log.
     */
    void originAnswered(int originStatus) {
        outcome.originAnswered(originStatus);
    }

    /**
     * Notes that the request to the origin failed.
     *
     * @param host as for {@link #answeredBy}
     */
    void failed(OriginFailure failure, @Nullable String host) {
        answeredBy(host);
        if (host != null) {
            hostResults = failure.message();
        }
        outcome.failed(failure.reason().text(), FailureCounters.outcomeOf(failure.reason()));
    }

    /** Notes that the request's total time exceeded the limit; {@code reason} is the identifier for the log. */
    void timedOut(String reason) {
        outcome.failed(reason, LogOutcome.ORIGIN_TIMEOUT);
    }

    /** Nanoseconds since the request was received. */
    long elapsedNanos() {
        return System.nanoTime() - receivedNanos;
    }

    /** Notes that the client's stream is closed because the client receives the response too slowly. */
    void tooSlow(SlowReason reason) {
        outcome.detail(reason.text());
    }

    /** Notes that the request was too large, too slow or malformed. */
    void requestFailed(BadRequest reason) {
        outcome.detail(reason.text());
    }

    /** Notes the limit of requests or tunnels that the client has reached, by its identifier in the log. */
    void limited(String limit) {
        outcome.detail(limit);
    }

    /** Notes that a page cannot be assembled. The response then comes neither from the origin nor from the store. */
    void pageFailed(PageFailure failure) {
        outcome.failed(failure.detail(), failure.outcome());
        originFields = null;
        storedHead = null;
    }

    /**
     * Notes that a stale response is served.
     *
     * @param reason identifier of the origin's failure or status, of overload, or of a timeout; null if directives of
     *     the client or the response permit it
     */
    void stale(@Nullable String reason, StoredHead head) {
        outcome.stale(reason, head);
    }

    /**
     * Sets the time since which the response is stale because of a soft invalidation, in epoch milliseconds; -1 for
     * none.
     */
    void staleSince(long millis) {
        outcome.staleSince(millis);
    }

    /** Notes that a stored response is sent; {@code resident} is true if its content is in RAM. */
    void stored(StoredHead head, CacheResult result, boolean resident) {
        outcome.stored(result, resident);
        storedHead = head;
    }

    /**
     * Notes a response that this proxy generates; {@code reason} is its identifier in the log, null to keep the detail.
     */
    void answeredLocally(ExchangeOutcome result, @Nullable String reason) {
        outcome.answeredLocally(result, reason);
    }

    /** Adds Age, Via and Cache-Status to the head of a stored response. */
    void addTo(OutboundHead head, StoredHead from, long nowMillis) {
        noteFailedHook();
        head.ageSeconds(from.currentAgeSeconds(nowMillis)).via(via(head.status(), 1));
        outcome.writeStored(head.cacheStatus(), exchangeLoop.settings().cacheStatus(), from, nowMillis);
    }

    /** Adds Via and Cache-Status to the head of an origin's response. */
    void addTo(OutboundHead head) {
        noteFailedHook();
        int version = outcome.originVersion();
        head.via(via(head.status(), version == CacheOutcome.UNKNOWN_VERSION ? 1 : version));
        outcome.writeFetched(head.cacheStatus(), exchangeLoop.settings().cacheStatus());
    }

    /**
     * Adds Via and Cache-Status to a response that this proxy generates. If a filter denied the request, Cache-Status
     * names the filter.
     */
    void addToLocal(OutboundHead head) {
        if (outcome.isForwarded()) {
            addTo(head);
            return;
        }
        if (exchangeLoop.settings().responseVia().hasCodes()) {
            head.via(via(head.status(), 1));
        }
        outcome.writeLocal(head.cacheStatus(), exchangeLoop.settings().cacheStatus());
    }

    /** Returns the member that this proxy adds to Via, with the outcome codes if they are configured. */
    private @Nullable AsciiString via(int finalStatus, int minorVersion) {
        ViaText text = exchangeLoop.settings().responseVia();
        if (!text.hasCodes()) {
            return text.plain(minorVersion);
        }
        ViaCodes codes = exchangeLoop.viaCodes().begin();
        outcome.setCodes(codes, finalStatus);
        codes.set(ViaCodes.Part.CLIENT, ViaLetters.client(request));
        ClientConnection client = stream.connection();
        return codes.text(
                text, minorVersion, client.secure(), client.remoteAddress().getAddress() instanceof Inet6Address);
    }

    /** Notes that the response head with this status is sent. */
    void headSent(int finalStatus) {
        status = finalStatus;
        // A response from RAM is sent immediately, so no clock is read here for hits.
        if (outcome.wentToOrigin() || outcome.isFromDisk()) {
            headNanos = System.nanoTime();
        }
    }

    /**
     * Notes that the client's connection becomes a tunnel.
     *
     * @param finalStatus status that the client receives
     * @param originStatus status of the origin's response; 0 if no origin answered
     */
    void switched(int finalStatus, int originStatus) {
        switched = true;
        tunnelNanos = System.nanoTime();
        outcome.switched(originStatus);
        status = finalStatus;
    }

    /** Notes how the tunnel ended and how many bytes it transferred. */
    void tunnelled(Tunnel.End end, long toOriginBytes, long toClientBytes) {
        outcome.detail("tunnel-" + end.text());
        receivedBytes = toOriginBytes;
        exchangeLoop.counters().add(Counter.CLIENT_SENT_BYTES, toClientBytes);
    }

    /** Cancels this report, because another report covers the request. */
    void withdraw() {
        exchangeLoop.counters().decrement(Counter.REQUESTS_ACTIVE);
    }

    /** Returns the end time of the exchange, as {@link System#nanoTime}. */
    long endNanos() {
        return endNanos;
    }

    /** Ends the report: updates the counters and writes the access log record. */
    void end(ExchangeOutcome result, long contentBytes) {
        outcome.ended(result);
        endNanos = System.nanoTime();
        long durationNanos = endNanos - receivedNanos;
        exchangeLoop.counters().decrement(Counter.REQUESTS_ACTIVE);
        // For a tunnel, only the time until the protocol switch is response time.
        exchangeLoop
                .counters()
                .requestCompleted(outcome.result(), status, switched ? tunnelNanos - receivedNanos : durationNanos);
        exchangeLoop.counters().add(Counter.CLIENT_SENT_BYTES, stream.bytesSent());
        RequestHead head = request;
        if (head != null) {
            exchangeLoop
                    .counters()
                    .requestOfHost(head.target().hostBytes(), outcome.result(), status, stream.bytesSent());
        }
        long firstByteNanos = firstByteNanos(durationNanos);
        LoopTraces traces = exchangeLoop.traces();
        if (traces != null && trace == null) {
            trace = continued(traces.reusedTrace());
        }
        log(isFragment ? null : exchangeLoop.log(), durationNanos, firstByteNanos, contentBytes);
        LoopLiveLog live = isFragment ? null : exchangeLoop.liveLog();
        if (live != null) {
            AccessLogRing ring = live.ringFor(status, outcome.logOutcome(), firstByteNanos);
            log(ring, durationNanos, firstByteNanos, contentBytes);
        }
        if (trace != null) {
            span(trace, durationNanos, firstByteNanos);
        }
    }

    /** Returns the trace of a request that may go to an origin; null if requests are not traced. */
    @Nullable
    ExchangeTrace trace() {
        LoopTraces traces = exchangeLoop.traces();
        if (traces != null && trace == null) {
            trace = continued(traces.newTrace());
        }
        return trace;
    }

    /**
     * Returns true if the request was sampled when its trace began. Callable from any thread, once the trace has begun.
     */
    boolean isSampled() {
        ExchangeTrace begun = trace;
        return begun != null && begun.isSampled();
    }

    /**
     * Links the trace of this request to the span of the fetch that answers it, if another request began that fetch.
     */
    void linkedTo(@Nullable ClientSpan fetch) {
        ExchangeTrace own = trace;
        if (fetch != null && own != null && fetch.trace() != own) {
            own.linkTo(fetch);
        }
    }

    /** Continues the trace of the client if the client is a trusted proxy. */
    private @Nullable ExchangeTrace continued(@Nullable ExchangeTrace begun) {
        RequestHead head = request;
        if (begun != null
                && head != null
                && head.fields().contains(FieldName.TRACEPARENT)
                && exchangeLoop
                        .settings()
                        .access()
                        .isTrusted(stream.connection().remoteAddress().getAddress())) {
            begun.continueFrom(head.fields());
        }
        return begun;
    }

    /** Writes the span of the request, if it is exported. */
    private void span(ExchangeTrace traced, long durationNanos, long firstByteNanos) {
        boolean isFailed = status >= FAILURE_STATUS_MIN || outcome.logOutcome().isFailure();
        AccessLogRing ring = traced.end(isFailed, firstByteNanos);
        AccessLogRecord record = ring == null ? null : ring.claim();
        if (ring != null && record != null) {
            fillShared(record, durationNanos);
            traced.addSpan(record, receivedNanos, rule);
            record.text(LogField.CACHE_RULES, outcome.cacheRules());
            ring.publish();
            exchangeLoop
                    .counters()
                    .requestTraced(
                            outcome.result(),
                            switched ? tunnelNanos - receivedNanos : durationNanos,
                            endNanos,
                            receivedMillis + TimeUnit.NANOSECONDS.toMillis(durationNanos),
                            traced.traceHigh(),
                            traced.traceLow(),
                            traced.spanId());
        }
    }

    /** Returns the time to the first byte of the response, or to the end if the client got none; 0 if not measured. */
    private long firstByteNanos(long durationNanos) {
        if (switched) {
            return tunnelNanos - receivedNanos;
        }
        if (headNanos != 0) {
            return headNanos - receivedNanos;
        }
        return status == 0 ? durationNanos : 0;
    }

    private void log(@Nullable AccessLogRing ring, long durationNanos, long firstByteNanos, long contentBytes) {
        AccessLogRecord record = ring == null ? null : ring.claim();
        if (ring != null && record != null) {
            fill(ring, record.firstByteNanos(firstByteNanos), durationNanos, contentBytes);
            ring.publish();
        }
    }

    /** Fills a record of a log. */
    private void fill(AccessLogRing ring, AccessLogRecord record, long durationNanos, long contentBytes) {
        fillShared(record, durationNanos);
        record.receivedAtMillis(receivedMillis)
                .originStatus(outcome.originStatus())
                .sentBytes(switched ? stream.bytesSent() : Math.max(0, stream.bytesSent() - contentBytes), contentBytes)
                .receivedBytes(receivedBytes)
                .hierarchy(outcome.wentToOrigin() ? LogHierarchy.DIRECT : LogHierarchy.NONE);
        InetAddress address = stream.clientAddress().getAddress();
        if (address != null) {
            byte[] bytes = address.getAddress();
            record.client(bytes, 0, bytes.length);
        }
        if (exchangeLoop.settings().geo() != null) {
            record.text(LogField.COUNTRY, stream.connection().location().country());
        }
        if (status == 304 && !outcome.wentToOrigin()) {
            record.notModified();
        }
        if (outcome.wentToOrigin()) {
            record.text(LogField.ORIGIN_HOST, originHost);
        }
        if (trace != null) {
            trace.addId(record);
        }
        if (storedHead != null) {
            RecordFields.contentType(record, storedHead);
        } else if (originFields != null) {
            RecordFields.contentType(record, originFields);
        }
        RecordFields.tls(ring, record, stream.connection());
        RecordFields.captures(ring, record, request, originFields, storedHead);
        int originVersion = outcome.originVersion();
        if (originVersion != CacheOutcome.UNKNOWN_VERSION) {
            record.originVersion(originVersion == 2 ? 2 : 1, originVersion == 2 ? 0 : originVersion);
        }
        RequestHead head = request;
        if (head != null) {
            RecordFields.referer(record, head);
        }
    }

    /** Fills the values that logs and spans contain. Allocates nothing for a hit. */
    private void fillShared(AccessLogRecord record, long durationNanos) {
        record.durationNanos(durationNanos)
                .status(status)
                .cache(outcome.result())
                .outcome(outcome.logOutcome());
        if (outcome.isFromRam()) {
            record.fromRam();
        }
        if (outcome.isCollapsed()) {
            record.collapsed();
        }
        String detailAndRules = outcome.detailAndRules();
        record.text(LogField.DETAIL, hostResults == null ? detailAndRules : detailAndRules + "; " + hostResults);
        RequestHead head = request;
        if (head != null) {
            RecordFields.request(record, head);
        }
    }
}
