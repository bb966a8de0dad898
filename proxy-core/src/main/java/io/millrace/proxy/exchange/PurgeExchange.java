package io.millrace.proxy.exchange;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.ExchangeSettings;
import io.millrace.proxy.exchange.decide.ScopesOfRules;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationEntry;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.serve.LocalAnswers;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One PURGE or BAN: who may, what is meant, and an answer when what is gone stays gone in a crash. It never reaches an origin.
 *
 * <pre>
 *   403  purge.allow does not have the client
 *   400  it has content
 *   501  a pattern that is more than the beginning of a path, or a tag is asked for
 *   200  something was stored and is gone; of a host or a path's beginning, whatever was stored
 *   404  nothing was stored, for a URL
 *   500  gone from this process, but the storage could not be written
 * </pre>
 *
 * <p>Confined to the client stream's event loop.
 */
final class PurgeExchange implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(PurgeExchange.class);

    private static final String OFFERED =
            "what can be purged are URLs, a host by the path /.* and what begins so by a path like /blog/.*";

    private final ExchangeLoop home;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;
    private final ExchangeReport report;

    private int outstanding;
    private boolean found;
    private @Nullable IOException failure;
    private @Nullable String refusal;
    private @Nullable String filter;
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
        PurgeRequest asked = PurgeRequest.of(request);
        if (asked instanceof PurgeRequest.Host host) {
            invalidate(host.url(), Counter.PURGES_HOST);
        } else if (asked instanceof PurgeRequest.Prefix prefix) {
            invalidate(prefix.url(), Counter.PURGES_PREFIX);
        } else if (asked instanceof PurgeRequest.Urls single) {
            purge(single.urls());
        } else if (asked instanceof PurgeRequest.Unsupported unsupported) {
            if (permitted(PurgeRequest.urls(request.target())).isEmpty()) {
                deny();
            } else {
                home.counters().increment(Counter.PURGES_UNSUPPORTED);
                answer(501, unsupported.what() + "; " + OFFERED, ExchangeOutcome.NOT_OFFERED);
            }
        }
    }

    private void deny() {
        if (filter == null) {
            home.counters().increment(Counter.DENIED_PURGE);
        } else {
            home.counters().filterDenied(filter);
        }
        answer(403, String.valueOf(refusal), ExchangeOutcome.DENIED);
    }

    /** Why the client may not purge what a rule maps: the filters of all requests come before those who may purge.
     *
     * @param access of the settings that have the rule at that place
     */
    private @Nullable String refusalOf(int ruleIndex, AccessRules access) {
        ClientConnection client = stream.connection();
        filter = access.hasFilters() ? access.denial(ruleIndex, request, client.remoteIp(), client.localIp()) : null;
        return filter == null
                ? access.purges().refusal(ruleIndex, client.remoteAddress().getAddress(), request.fields())
                : Decision.FILTERED;
    }

    private boolean refuseContent() {
        if (contentLength != 0) {
            answer(400, request.methodName() + " has no content", ExchangeOutcome.DENIED);
        }
        return contentLength != 0;
    }

    private void purge(List<TargetUri> asked) {
        List<TargetUri> urls = permitted(asked);
        if (urls.isEmpty()) {
            deny();
            return;
        }
        if (refuseContent()) {
            return;
        }
        outstanding = urls.size();
        for (TargetUri url : urls) {
            home.purger().purge(url, stream.eventLoop(), this::onPurged);
        }
    }

    /** All of a host or what begins so: for who may purge whatever rule maps there. */
    private void invalidate(TargetUri url, Counter counter) {
        ExchangeSettings settings = home.settings();
        List<RemapRule> rules = settings.remap().rulesUnder(url);
        refusal = rules.isEmpty() ? refusalOf(AccessRules.NO_RULE, settings.access()) : null;
        for (RemapRule rule : settings.remap().rulesConcernedBy(url)) {
            if (refusal == null) {
                refusal = refusalOf(rule.index(), settings.access());
            }
        }
        if (refusal != null) {
            deny();
            return;
        }
        if (refuseContent()) {
            return;
        }
        home.counters().increment(counter);
        home.invalidator()
                .invalidate(
                        ScopesOfRules.of(url, rules),
                        false,
                        stream.eventLoop(),
                        (entries, failure) -> onInvalidated(url, entries, failure));
    }

    private void onInvalidated(TargetUri url, List<InvalidationEntry> entries, @Nullable IOException problem) {
        if (problem != null) {
            home.counters().increment(Counter.PURGES_FAILED);
        }
        if (over) {
            return;
        }
        try {
            InvalidationEntry last = entries.get(entries.size() - 1);
            if (problem != null) {
                log.warn("an invalidation is not durable, the storage could not be written", problem);
                answer(500, "invalidated, but the storage could not be written", ExchangeOutcome.STORE_WRITE);
            } else {
                answer(200, "invalidated " + words(url, last) + ", stamp " + last.stamp(), ExchangeOutcome.LOCAL);
            }
        } catch (RuntimeException | Error e) {
            onFault(e);
        }
    }

    private static String words(TargetUri url, InvalidationEntry entry) {
        return switch (entry.kind()) {
            case PREFIX -> "all of host " + url.authority() + " whose path begins with " + url.path();
            case HOST -> "all of host " + url.authority();
            case ALL, GROUP, ALL_GROUPS, STAMPED -> "everything, as too many hosts were invalidated one by one";
        };
    }

    /** Those of the URLs that this client may purge; where one is mapped its rule speaks for one that is not. */
    private List<TargetUri> permitted(List<TargetUri> asked) {
        ExchangeSettings settings = home.settings();
        List<TargetUri> permitted = new ArrayList<>(2);
        List<TargetUri> unmapped = new ArrayList<>(2);
        for (TargetUri url : asked) {
            List<Mapped> rules = settings.remap().matches(url);
            if (!rules.isEmpty()) {
                mapped = true;
                String no = null;
                for (Mapped found : rules) {
                    no = no == null ? refusalOf(found.rule().index(), settings.access()) : no;
                }
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
            refusal = refusalOf(AccessRules.NO_RULE, settings.access());
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
        report.refusedAs(outcome, outcome == ExchangeOutcome.DENIED ? filter : null);
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
