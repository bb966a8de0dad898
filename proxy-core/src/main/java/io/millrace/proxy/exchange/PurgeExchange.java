package io.millrace.proxy.exchange;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.report.ExchangeOutcome;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationEntry;
import io.millrace.proxy.purge.InvalidationKind;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.FleetPurge.Action;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.pattern.PurgedPatterns;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.serve.LocalAnswers;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One PURGE or BAN request: checks the permission, determines the scope, and answers once the purge is durable. The
 * request is never sent to an origin.
 *
 * <pre>
 * 403  purge.allow does not contain the client
 * 400  the request has content, an invalid or too long expression, or tags that exceed a limit
 * 429  too many purges by pattern are in force
 * 501  this kind of purge is not supported
 * 200  URL: a stored response was removed; host, path prefix, tags or pattern: always
 * 404  URL: nothing was stored
 * 500  purged in this process, but not durable or not queued for the fleet, since the storage could not be written
 * 503  the outbox (queue of purges for the other nodes of the fleet) is full
 * </pre>
 *
 * <p>Confined to the client stream's event loop.
 */
final class PurgeExchange implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(PurgeExchange.class);

    private static final String SUPPORTED_PURGES =
            "supported are URLs, tags, a host by the path /.*, prefixes by a path like /blog/.*, and patterns by X-Ban-Url";

    /** Maximum number of purged tags that the response lists by name. */
    private static final int TAGS_NAMED = 5;

    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;
    private final ExchangeReport report;

    /** Number of URLs whose purge has not completed yet. */
    private int outstanding;
    /** True if a response was stored for at least one of the URLs. */
    private boolean found;

    private @Nullable IOException failure;
    /** The reason why the client is not permitted to purge; null for none. */
    private @Nullable String refusal;
    /** Name of the filter that denies the request; null for none. */
    private @Nullable String filter;
    /** True if a rule maps at least one of the URLs. */
    private boolean mapped;

    private boolean ended;
    /** Description of the purged scope, for the response. */
    private String scopeText = "";
    /** A remark on the scope, for the response; empty for none. */
    private String note = "";
    /**
     * True if the purge covers every site: no rule maps the request's host, or the host is an address of this cache.
     */
    private boolean everywhere;
    /** The kind of the purge, for its record. */
    private String kind = "url";

    /** The purged URL, host, tags or pattern, for the record of the purge. */
    private String target;

    /** The site of a purge by tag, for the record of the purge; null for every site and for other purges. */
    private @Nullable String site;
    /** The purge as a message to the other nodes of the fleet. */
    private @Nullable FleetPurge fleetPurge;

    private PurgeExchange(ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request, long contentLength) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.contentLength = contentLength;
        this.report = new ExchangeReport(exchangeLoop, stream, request);
        this.target = request.target().asString();
    }

    /** Begins the purge, or refuses it. The response may be sent later. */
    static RequestHandler start(
            ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request, long contentLength) {
        PurgeExchange exchange = new PurgeExchange(exchangeLoop, stream, request, contentLength);
        try {
            exchange.begin();
        } catch (RuntimeException | Error e) {
            exchange.onFault(e);
        }
        return exchange;
    }

    private void begin() {
        PurgeRequest requested = PurgeRequest.of(request);
        if (requested instanceof PurgeRequest.Host host) {
            purgeBelow(host.url());
        } else if (requested instanceof PurgeRequest.Prefix prefix) {
            purgeBelow(prefix.url());
        } else if (requested instanceof PurgeRequest.Tagged tagged) {
            purge(tagged.tags());
        } else if (requested instanceof PurgeRequest.Matching matching) {
            purge(matching);
        } else if (requested instanceof PurgeRequest.Malformed malformed) {
            answer(400, malformed.what() + "; nothing was purged", ExchangeOutcome.DENIED);
        } else if (requested instanceof PurgeRequest.Urls single) {
            purge(single.urls());
        } else if (requested instanceof PurgeRequest.Unsupported unsupported) {
            if (permitted(PurgeRequest.urls(request.target())).isEmpty()) {
                deny();
            } else {
                exchangeLoop.counters().increment(Counter.PURGES_UNSUPPORTED);
                answer(501, unsupported.what() + "; " + SUPPORTED_PURGES, ExchangeOutcome.NOT_OFFERED);
            }
        }
    }

    /** Sends the refusal, and counts the filter or the missing permission. */
    private void deny() {
        if (filter == null) {
            exchangeLoop.counters().increment(Counter.DENIED_PURGE);
        } else {
            exchangeLoop.counters().filterDenied(filter);
        }
        answer(403, String.valueOf(refusal), ExchangeOutcome.DENIED);
    }

    /**
     * Returns the reason why the client is not permitted to purge URLs of a rule; null if it is permitted. The filters
     * of all requests are checked before the purge permissions.
     *
     * @param access the access rules of the settings that contain the rule at that index
     */
    private @Nullable String refusalOf(int ruleIndex, AccessRules access) {
        ClientConnection client = stream.connection();
        filter = access.hasFilters() ? access.denial(ruleIndex, request, client.remoteIp(), client.localIp()) : null;
        return filter == null
                ? access.purges().refusal(ruleIndex, client.remoteAddress().getAddress(), request.fields())
                : Decision.FILTERED;
    }

    /** Returns true if the request has content; in this case, sends a refusal. */
    private boolean refuseContent() {
        if (contentLength != 0) {
            answer(
                    400,
                    "a " + request.methodName() + " must not have content; nothing was purged",
                    ExchangeOutcome.DENIED);
        }
        return contentLength != 0;
    }

    /** Purges those of the URLs that this client is permitted to purge. */
    private void purge(List<TargetUri> requested) {
        List<TargetUri> urls = permitted(requested);
        if (urls.isEmpty()) {
            deny();
            return;
        }
        if (refuseContent()) {
            return;
        }
        fleetPurge =
                fleetPurge(Action.URL, urls.stream().map(TargetUri::asString).toList());
        if (refusedByFleet()) {
            return;
        }
        if (PurgeRequest.isSoft(request)) {
            scopeText = target;
            note = InvalidationScopes.noteOnUrl(
                    request.target(), mapped || exchangeLoop.settings().remap().forwards());
            invalidate(InvalidationScopes.urls(urls, exchangeLoop.settings().remap()), Counter.PURGES_URL_SOFT);
            return;
        }
        outstanding = urls.size();
        for (TargetUri url : urls) {
            exchangeLoop.purger().purge(url, stream.eventLoop(), this::onPurged);
        }
    }

    /**
     * Purges by tag, on the site of the request's host, or on every site. The client needs the purge permission of
     * every rule concerned.
     */
    private void purge(Tags tags) {
        ExchangeSettings settings = exchangeLoop.settings();
        TargetUri url = request.target();
        List<RemapRule> rules = settings.remap().rulesUnder(url);
        everywhere = coversEverySite(url, rules);
        Set<String> sites = everywhere ? Set.of() : InvalidationScopes.sites(url, rules);
        Set<RemapRule> concerned = new LinkedHashSet<>(
                everywhere ? settings.remap().rules() : settings.remap().rulesConcernedBy(url));
        concerned.addAll(settings.remap().rulesConcernedBySites(sites));
        kind = "tag";
        site = everywhere ? null : url.host();
        target = PurgeRecord.tagTarget(tags.texts(), site);
        note = InvalidationScopes.noteOnRules(rules, settings.remap().forwards());
        scopeText = describe(tags) + (everywhere ? " on every site" : " on the site of host " + url.authority());
        fleetPurge = new FleetPurge(Action.TAG, tags.texts(), List.copyOf(sites), PurgeRequest.isSoft(request));
        if (mayPurge(coversUnmapped(rules), concerned, settings) && !refusedByFleet()) {
            invalidate(InvalidationScopes.tags(tags, sites), Counter.PURGES_TAG);
        }
    }

    private boolean coversEverySite(TargetUri url, List<RemapRule> rules) {
        return InvalidationScopes.coversEverySite(
                url, rules, exchangeLoop.settings().remap().forwards());
    }

    /** Returns true if the purge may cover responses of the forward proxy, whose URLs no rule maps. */
    private boolean coversUnmapped(List<RemapRule> rules) {
        return rules.isEmpty() || (everywhere && exchangeLoop.settings().remap().forwards());
    }

    /**
     * Purges the URLs of a host that begin with a URL. The client needs the purge permission of every rule concerned.
     */
    private void purgeBelow(TargetUri url) {
        ExchangeSettings settings = exchangeLoop.settings();
        List<RemapRule> rules = settings.remap().rulesUnder(url);
        boolean isWholeHost = url.pathAndQuery().equals("/");
        kind = (isWholeHost ? InvalidationKind.HOST : InvalidationKind.PREFIX).text();
        target = isWholeHost ? url.authority() : url.asString();
        scopeText =
                "all of host " + url.authority() + (isWholeHost ? "" : " whose path begins with " + url.pathAndQuery());
        note = InvalidationScopes.noteOnRequestedHost(
                url, rules, settings.remap().forwards());
        fleetPurge = fleetPurge(isWholeHost ? Action.HOST : Action.PREFIX, List.of(target));
        if (mayPurge(rules.isEmpty(), settings.remap().rulesConcernedBy(url), settings) && !refusedByFleet()) {
            invalidate(InvalidationScopes.of(url, rules), isWholeHost ? Counter.PURGES_HOST : Counter.PURGES_PREFIX);
        }
    }

    /**
     * Returns true if the client may purge under all rules and the request has no content; otherwise sends the refusal.
     */
    private boolean mayPurge(boolean isUnmapped, Collection<RemapRule> concerned, ExchangeSettings settings) {
        refusal = isUnmapped ? refusalOf(AccessRules.NO_RULE, settings.access()) : null;
        for (RemapRule rule : concerned) {
            if (refusal == null) {
                refusal = refusalOf(rule.index(), settings.access());
            }
        }
        if (refusal != null) {
            if (everywhere && filter == null) {
                refusal += "; the Host " + request.target().host()
                        + " is no site, so this purge covers every site and needs purge.allow of every rule";
            }
            deny();
            return false;
        }
        return !refuseContent();
    }

    /**
     * Purges by pattern, on all hosts that cache keys have for requests to the requested host. If no rule maps this
     * host, or if the host is an address of this cache, the purge covers every host. The client then needs the purge
     * permission of every rule.
     */
    private void purge(PurgeRequest.Matching matching) {
        ExchangeSettings settings = exchangeLoop.settings();
        TargetUri url = matching.url();
        List<RemapRule> rules = settings.remap().rulesUnder(url);
        everywhere = coversEverySite(url, rules);
        TargetUri beginning = matching.beginning();
        if (beginning != null && !everywhere) {
            purgeBelow(beginning);
            return;
        }
        Collection<RemapRule> concerned =
                everywhere ? settings.remap().rules() : settings.remap().rulesConcernedBy(url);
        TagList listed = listed(matching, concerned);
        if (listed != null && listed.problem() == null) {
            purge(listed.tags());
            return;
        }
        if (!mayPurge(coversUnmapped(rules), concerned, settings)) {
            return;
        }
        String problem = listed == null ? matching.problem() : listed.problem();
        if (problem != null) {
            answer(400, problem + "; nothing was purged", ExchangeOutcome.DENIED);
            return;
        }
        boolean forwards = settings.remap().forwards();
        note = everywhere
                ? InvalidationScopes.noteOnRules(rules, forwards)
                : InvalidationScopes.noteOnHost(url, rules, forwards);
        if (everywhere && matching.isEverything()) {
            purgeEverything();
            return;
        }
        kind = InvalidationKind.PATTERN.text();
        target = matching.expression(everywhere ? Set.of() : keyHosts(url, rules));
        scopeText = "responses for which this holds: " + target;
        fleetPurge = fleetPurge(Action.PATTERN, List.of(target));
        if (refusedByFleet()) {
            return;
        }
        purgePattern();
    }

    /** Purges every response of every site. */
    private void purgeEverything() {
        kind = InvalidationKind.ALL.text();
        target = "everything";
        scopeText = target;
        fleetPurge = fleetPurge(Action.ALL, List.of());
        if (!refusedByFleet()) {
            invalidate(List.of(InvalidationScope.all()), Counter.PURGES_ALL);
        }
    }

    /** Purges by the pattern in {@link #target}. */
    private void purgePattern() {
        try {
            if (PurgedPattern.isTooLong(target)) {
                answer(
                        400,
                        "the conditions have more than " + PurgedPattern.TEXT_BYTES_MAX + " bytes; nothing was purged",
                        ExchangeOutcome.DENIED);
                return;
            }
            PurgedPattern pattern = PurgedPattern.parse(target, PurgeRequest.isSoft(request));
            if (exchangeLoop.invalidator().invalidate(pattern, false, stream.eventLoop(), this::onInvalidated)) {
                exchangeLoop.counters().increment(Counter.PURGES_PATTERN);
            } else {
                answer(429, PurgedPatterns.FULL + "; nothing was purged", ExchangeOutcome.DENIED);
            }
        } catch (ExpressionException e) {
            answer(400, e.message() + "; nothing was purged", ExchangeOutcome.DENIED);
        }
    }

    /**
     * Returns the tags of a condition that only lists tags. Returns null for other conditions. Also returns null if the
     * condition names a response field from which some rule does not read the tags.
     */
    private static @Nullable TagList listed(PurgeRequest.Matching matching, Collection<RemapRule> rules) {
        PurgeRequest.ListedTags listed = matching.listed();
        if (listed == null || rules.isEmpty()) {
            return null;
        }
        for (RemapRule rule : rules) {
            if (rule.config().verb().isForward()
                    && !rule.config().cache().settings().tags().hasField(listed.responseField())) {
                return null;
            }
        }
        return listed.tags();
    }

    private FleetPurge fleetPurge(Action action, List<String> targets) {
        return FleetPurge.of(action, targets, PurgeRequest.isSoft(request));
    }

    /** Sends a refusal and returns true if the fleet's outbox does not accept the purge. */
    private boolean refusedByFleet() {
        FleetPurge wanted = fleetPurge;
        String reason = wanted == null ? null : exchangeLoop.purges().fleet().refusal(wanted);
        if (reason != null) {
            answer(503, reason, ExchangeOutcome.NOT_OFFERED);
        }
        return reason != null;
    }

    private static Set<String> keyHosts(TargetUri url, List<RemapRule> rules) {
        Set<String> hosts = new LinkedHashSet<>();
        hosts.add(url.authority());
        for (RemapRule rule : rules) {
            hosts.add(rule.keyUrl(url).authority());
        }
        return hosts;
    }

    private void invalidate(List<InvalidationScope> scopes, Counter counter) {
        exchangeLoop.counters().increment(counter);
        exchangeLoop
                .invalidator()
                .invalidate(scopes, PurgeRequest.isSoft(request), stream.eventLoop(), this::onInvalidated);
    }

    private void onInvalidated(List<InvalidationEntry> entries, @Nullable IOException problem) {
        if (problem != null) {
            exchangeLoop.counters().increment(Counter.PURGES_FAILED);
        }
        InvalidationEntry last = entries.get(entries.size() - 1);
        record(PurgeId.ofStamp(last.stamp()), last.isSoft(), problem, () -> answerInvalidated(last, problem));
    }

    private void answerInvalidated(InvalidationEntry last, @Nullable IOException problem) {
        if (problem != null) {
            log.warn("an invalidation is not durable, because the storage could not be written", problem);
            answer(500, "invalidated, but the storage could not be written", ExchangeOutcome.STORE_WRITE);
        } else {
            String done = last.isSoft() ? "made stale " : "invalidated ";
            String id = PurgeId.ofStamp(last.stamp());
            answer(
                    200,
                    done + describe(last) + ", stamp " + last.stamp() + ", purge " + id + fleetText()
                            + (note.isEmpty() ? "" : "; " + note),
                    ExchangeOutcome.LOCAL);
        }
    }

    /** Adds the record of the purge, and answers when it is durable, unless the client has disconnected. */
    private void record(String id, boolean soft, @Nullable IOException problem, Runnable answer) {
        PurgeClient client = PurgeClient.ofRequest(stream.connection().remoteText());
        PurgeRecord done = PurgeRecord.done(id, exchangeLoop.clock().millis(), client, kind, target, site, soft);
        PurgeRecord added = problem == null ? done : done.in(PurgeState.FAILED);
        exchangeLoop.purges().add(added, problem == null ? fleetPurge : null, stream.eventLoop(), notQueued -> {
            if (!ended) {
                try {
                    if (notQueued == null) {
                        answer.run();
                    } else {
                        answer(500, "purged on this node, but not queued for the fleet", ExchangeOutcome.STORE_WRITE);
                    }
                } catch (RuntimeException | Error e) {
                    onFault(e);
                }
            }
        });
    }

    /**
     * Describes the purged scope for the response. The scope is wider than requested if the limit of single
     * invalidations was reached.
     */
    private String describe(InvalidationEntry entry) {
        return switch (entry.kind()) {
            case HOST -> "all of host " + request.target().authority();
            case ALL, ALL_GROUPS, ALL_TAGS, JOURNAL_LOST ->
                InvalidationKind.ALL.text().equals(kind)
                        ? scopeText
                        : "everything, because the limit of single invalidations was reached";
            case PREFIX,
                    GROUP,
                    TAG,
                    TAG_EVERYWHERE,
                    TAGS,
                    TAG_KEY,
                    UNDONE,
                    URL,
                    PATTERN,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> scopeText;
        };
    }

    private static String describe(Tags tags) {
        List<String> texts = tags.texts();
        return texts.size() > TAGS_NAMED
                ? texts.size() + " tags, " + String.join(", ", texts.subList(0, TAGS_NAMED)) + " ..."
                : (texts.size() == 1 ? "tag " : "tags ") + String.join(", ", texts);
    }

    /**
     * Returns the URLs that this client may purge. If a rule maps some of the URLs, the permission of that rule also
     * covers the unmapped URLs.
     */
    private List<TargetUri> permitted(List<TargetUri> requested) {
        ExchangeSettings settings = exchangeLoop.settings();
        List<TargetUri> permitted = new ArrayList<>(2);
        List<TargetUri> unmapped = new ArrayList<>(2);
        for (TargetUri url : requested) {
            List<Mapped> rules = settings.remap().matches(url);
            if (!rules.isEmpty()) {
                mapped = true;
                String denialReason = null;
                for (Mapped found : rules) {
                    denialReason =
                            denialReason == null ? refusalOf(found.rule().index(), settings.access()) : denialReason;
                }
                if (denialReason == null) {
                    permitted.add(url);
                } else {
                    refusal = denialReason;
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
        exchangeLoop
                .counters()
                .increment(failed ? Counter.PURGES_FAILED : found ? Counter.PURGES_FOUND : Counter.PURGES_ABSENT);
        String id = exchangeLoop.purges().newRemovalId();
        record(id, false, failure, () -> answerPurged(id, failed));
    }

    private void answerPurged(String id, boolean failed) {
        String url = request.target().asString();
        String portNote = InvalidationScopes.noteOnPort(request.target());
        String remark = portNote.isEmpty() ? "" : "; " + portNote;
        if (failed) {
            log.warn("a purge is not durable, because the storage could not be written", failure);
            answer(500, "purged, but the storage could not be written", ExchangeOutcome.STORE_WRITE);
        } else if (found) {
            String answered = "purged " + url + ", every stored variant, purge " + id + fleetText() + remark;
            answer(200, answered, ExchangeOutcome.LOCAL);
        } else {
            String hint = mapped ? "" : ", and no remap rule maps it";
            String answered = "nothing was stored for " + url + hint + ", purge " + id + fleetText() + remark;
            answer(404, answered, ExchangeOutcome.LOCAL);
        }
    }

    private String fleetText() {
        return exchangeLoop.purges().fleet().isActive() ? ", fleet: " + FleetOutbox.PENDING : "";
    }

    private void answer(int status, String text, ExchangeOutcome outcome) {
        ByteBuf content = LocalAnswers.content(stream.alloc(), status, text);
        int length = content.readableBytes();
        String server = exchangeLoop.settings().server().ofLocalAnswers();
        OutboundHead head = LocalAnswers.head(
                exchangeLoop.outbound(), status, length, exchangeLoop.clock().millis(), server, null);
        report.answeredLocally(outcome, outcome == ExchangeOutcome.DENIED ? filter : null);
        report.addToLocal(head);
        if (contentLength != 0) {
            // The following bytes are unread content, which may contain a smuggled request.
            head.closeConnection();
        }
        ended = true;
        report.headSent(status);
        stream.writeHead(head);
        stream.write(content);
        stream.finish();
        report.end(outcome, length);
    }

    private void onFault(Throwable fault) {
        log.error("purge for {} failed", request.target().host(), fault);
        if (!ended) {
            ended = true;
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

    /** Ends the report. The purge continues, since many content management systems do not wait for the response. */
    @Override
    public void onClientGone() {
        if (!ended) {
            ended = true;
            exchangeLoop.counters().increment(Counter.CLIENT_FAILURES_ABORTED);
            report.end(ExchangeOutcome.CLIENT_GONE, 0);
        }
    }
}
