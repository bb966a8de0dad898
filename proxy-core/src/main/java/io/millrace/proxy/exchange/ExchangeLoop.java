package io.millrace.proxy.exchange;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.Guards;
import io.millrace.proxy.caching.CacheGroups;
import io.millrace.proxy.caching.Invalidation;
import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.clients.ClientAdmission;
import io.millrace.proxy.config.access.ErrorPageConfig;
import io.millrace.proxy.dictionary.Dictionaries;
import io.millrace.proxy.dictionary.DictionaryReader;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.encode.EncoderThreads;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.DecisionWaits;
import io.millrace.proxy.exchange.decide.DryRunResult;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.decide.RequestDecider;
import io.millrace.proxy.exchange.decide.Variants;
import io.millrace.proxy.exchange.esi.AssembledResponse;
import io.millrace.proxy.exchange.esi.PageAssembler;
import io.millrace.proxy.exchange.esi.PageMemory;
import io.millrace.proxy.exchange.forward.HeldContent;
import io.millrace.proxy.exchange.forward.Mirror;
import io.millrace.proxy.exchange.origin.OriginAccess;
import io.millrace.proxy.exchange.report.FailureCounters;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.lookup.Collapser;
import io.millrace.proxy.lookup.UncacheableKeys;
import io.millrace.proxy.memory.LoopMemory;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.FastReceiver;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.ViaCodes;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.live.LoopLiveLog;
import io.millrace.proxy.observe.log.live.LoopLogs;
import io.millrace.proxy.observe.trace.LoopTraces;
import io.millrace.proxy.origin.HostDatabase;
import io.millrace.proxy.origin.LoopOrigins;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.proxy.overload.Overload;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.PinnedResponses;
import io.millrace.proxy.purge.Purger;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.ReverseMap;
import io.millrace.proxy.rules.RequestView;
import io.millrace.proxy.serve.ErrorPages;
import io.millrace.proxy.serve.LocalAnswers;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state that the exchanges of one event loop share: the loop's own origin connections, counters and ring of access
 * log records, and the components common to all loops. Receives requests from the connections and begins an exchange
 * for each.
 *
 * <p>Confined to its event loop.
 */
public final class ExchangeLoop implements RequestReceiver, FastReceiver, OriginAccess {
    /**
     * The components that all loops of a proxy share.
     *
     * @param store the cache
     * @param collapser fetches in flight
     * @param uncacheable keys whose responses could not be stored
     * @param purger removes the stored responses of single URLs
     * @param invalidator invalidates wider scopes: hosts, path prefixes, cache groups, tags
     * @param purges records of purges
     * @param groups the groups of origins
     * @param hosts the health of origins that are single hosts, not groups
     * @param overload tracks which remap rules are in overload
     * @param clients enforces the limits per client
     * @param encoderThreads the threads that encode responses
     * @param dictionaries the dictionaries for compression
     * @param pages the memory of pages in assembly
     * @param clock the wall clock
     * @param settings the settings in force, a new snapshot after each reload
     */
    public record Shared(
            CacheStore<StoredHead> store,
            Collapser<SharedFetch> collapser,
            UncacheableKeys uncacheable,
            Purger purger,
            Invalidator invalidator,
            PurgeHistory purges,
            OriginGroups groups,
            HostDatabase hosts,
            Overload overload,
            ClientAdmission clients,
            EncoderThreads encoderThreads,
            Dictionaries dictionaries,
            PageMemory pages,
            WallClock clock,
            Supplier<ExchangeSettings> settings)
            implements DecisionInputs {

        /**
         * Creates the shared components of a new proxy over a store.
         *
         * @param allocator the buffer pool of the connections
         */
        public static Shared create(
                CacheStore<StoredHead> store,
                Invalidator invalidator,
                PurgeHistory purges,
                ByteBufAllocator allocator,
                WallClock clock,
                Supplier<ExchangeSettings> settings) {
            Collapser<SharedFetch> collapser = new Collapser<>();
            store.pinCheck(new PinnedResponses(store, invalidator.invalidations()));
            return new Shared(
                    store,
                    collapser,
                    new UncacheableKeys(),
                    new Purger(
                            store,
                            collapser,
                            url -> settings.get().remap().keys(url),
                            url -> settings.get().dividedScopes(url),
                            invalidator,
                            purges.removals()),
                    invalidator,
                    purges,
                    new OriginGroups(),
                    new HostDatabase(),
                    new Overload(),
                    new ClientAdmission(),
                    new EncoderThreads(allocator),
                    new Dictionaries(),
                    new PageMemory(),
                    clock,
                    settings);
        }
    }

    private final EventLoop loop;
    private final Shared shared;
    private final OriginClient origins;
    private final LoopOrigins groups;
    private final LoopCounters counters;
    private final LoopLogs logs;
    private final RequestDecider decider;
    private final Variants variants;
    private final DictionaryReader dictionaryReader;
    private final FastHits fastHits;
    private final OutboundHead outbound = new OutboundHead();
    private final RequestView ruleView = new RequestView(ZoneId.systemDefault());
    private final ViaCodes viaCodes = new ViaCodes();
    private final LoopMemory memory;
    private final Mirror mirror;
    private final PageAssembler pages;
    private final HeldContent.Budget heldContent = new HeldContent.Budget();

    /**
     * @param origins origin connections of this loop
     * @param counters counters of this loop
     * @param log ring of this loop's access log records, or null when there is no access log
     */
    public ExchangeLoop(
            EventLoop loop, Shared shared, OriginClient origins, LoopCounters counters, @Nullable AccessLogRing log) {
        this(loop, shared, origins, counters, new LoopLogs(log, null, null), LoopMemory.unlimited());
    }

    /**
     * Creates the state of a loop with a budget for bytes in flight.
     *
     * @param logs logs of this loop
     * @param memory this loop's view of the budget
     */
    public ExchangeLoop(
            EventLoop loop,
            Shared shared,
            OriginClient origins,
            LoopCounters counters,
            LoopLogs logs,
            LoopMemory memory) {
        this.memory = memory;
        this.loop = loop;
        this.shared = shared;
        this.origins = origins;
        this.groups = shared.groups().newLoop();
        this.counters = counters;
        this.logs = logs;
        this.mirror = new Mirror(origins, counters);
        this.pages = new PageAssembler(this, shared.settings(), counters, shared.pages());
        this.decider = new RequestDecider(shared, counters, origins);
        this.variants = new Variants(shared, counters);
        this.dictionaryReader = new DictionaryReader(
                loop,
                shared.store(),
                shared.encoderThreads(),
                shared.purger(),
                shared.dictionaries(),
                () -> shared.clock().millis());
        this.fastHits = new FastHits(this, shared.clock());
    }

    @Override
    public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
        if (head.method().isPurge()) {
            return PurgeExchange.start(this, stream, head, contentLength);
        }
        if (head.method() == Method.CONNECT) {
            return ConnectExchange.start(this, stream, head, contentLength);
        }
        Exchange exchange = exchange(stream, head, contentLength);
        try {
            exchange.begin();
        } catch (RuntimeException | Error e) {
            exchange.onFault(e);
        }
        return exchange.receiver();
    }

    /** Returns a new exchange that has not begun yet. */
    Exchange exchange(ClientStream stream, RequestHead head, long contentLength) {
        AssembledResponse page = pages.begin(stream, head);
        if (page == null) {
            return new Exchange(this, stream, head, contentLength);
        }
        Exchange exchange = new Exchange(this, page, head, contentLength);
        page.handler(exchange);
        return exchange;
    }

    @Override
    public void beginBatch() {
        fastHits.beginBatch();
    }

    @Override
    public @Nullable DecidedRequest onFastRequest(ClientStream stream, RequestHead head) {
        return fastHits.answer(stream, head);
    }

    /** Releases the loop's state. Call on the loop, once no more requests arrive. */
    public void close() {
        fastHits.close();
    }

    /**
     * Performs a dry run of a request: returns the result that the request would have, without side effects.
     *
     * @param contentLength as for {@link #onRequest}
     * @return completes on this event loop, immediately or after a disk read
     */
    public CompletionStage<DryRunResult> dryRun(RequestHead request, long contentLength, ClientConnection client) {
        return RequestDryRun.of(this, shared, request, contentLength, client);
    }

    @Override
    public void onBadRequest(ClientStream stream, BadRequest reason) {
        counters.increment(FailureCounters.of(reason));
        long nowMillis = clock().millis();
        ErrorPages pages = settings().errorPages();
        ErrorPageConfig page = pages == null ? null : pages.find(AccessRules.NO_RULE, reason.status());
        ByteBuf content = page == null
                ? LocalAnswers.content(stream.alloc(), reason.status(), reason.text())
                : Unpooled.wrappedBuffer(page.content());
        String server = settings().server().ofLocalAnswers();
        OutboundHead head = LocalAnswers.head(
                outbound, reason.status(), content.readableBytes(), nowMillis, server, null, null, page);
        stream.writeHead(head.closeConnection());
        stream.write(content);
        stream.finish();
        ExchangeReport.refused(this, stream, reason);
    }

    /**
     * Invalidates the URLs and cache groups that the response to an unsafe request outdates, then runs {@code then}
     * (RFC 9111 s4.4). The response is passed on only after the invalidation is durable. So a client that has received
     * the response never gets the old representation again.
     */
    void invalidate(RequestHead request, ResponseHead response, Runnable then) {
        Collection<TargetUri> targets = Invalidation.of(request, response);
        if (targets.isEmpty()) {
            then.run();
            return;
        }
        List<InvalidationScope> groups = groupsInvalidatedBy(request, response);
        counters.add(Counter.INVALIDATIONS, targets.size());
        int[] outstanding = {targets.size() + (groups.isEmpty() ? 0 : 1)};
        Runnable completeOne = () -> {
            outstanding[0]--;
            if (outstanding[0] == 0) {
                then.run();
            }
        };
        if (!groups.isEmpty()) {
            counters.add(Counter.INVALIDATIONS_GROUP, groups.size());
            shared.invalidator().invalidate(groups, false, loop, (entries, failure) -> {
                if (failure != null) {
                    counters.increment(Counter.INVALIDATIONS_GROUP_FAILED);
                }
                completeOne.run();
            });
        }
        for (TargetUri target : targets) {
            shared.purger().purge(target, loop, (wasPresent, failure) -> completeOne.run());
        }
    }

    /** Returns an origin's head in which the reverse map has replaced origin URLs by client URLs. */
    ResponseHead toClient(ResponseHead head, TargetUri client, @Nullable Mapped mapped) {
        ReverseMap reverse = settings().reverse();
        return reverse == null || mapped == null ? head : reverse.toClient(head, client, mapped);
    }

    /**
     * Returns the scopes of Cache-Group-Invalidation (RFC 9875 s3). They are the groups of the origin in the client's
     * URL, under every host name that cache keys use for this origin.
     */
    private List<InvalidationScope> groupsInvalidatedBy(RequestHead request, ResponseHead response) {
        List<String> names = CacheGroups.invalidatedBy(request, response);
        if (names.isEmpty()) {
            return List.of();
        }
        TargetUri target = request.target();
        List<RemapRule> rules = settings().remap().rulesUnder(target);
        if (names.size() > CacheGroups.INVALIDATED_MAX) {
            return InvalidationScopes.hosts(target, rules);
        }
        List<InvalidationScope> scopes = new ArrayList<>(names.size());
        for (String name : names) {
            scopes.addAll(InvalidationScopes.group(target, rules, name));
        }
        return scopes;
    }

    /** The health of origins that are single hosts, not groups. */
    HostDatabase hosts() {
        return shared.hosts();
    }

    /** Sends copies of requests to other origins. */
    Mirror mirror() {
        return mirror;
    }

    @Override
    public OriginClient origins() {
        return origins;
    }

    /** The gauges that measure whether a remap rule is in overload. */
    Overload overload() {
        return shared.overload();
    }

    ClientAdmission clients() {
        return shared.clients();
    }

    EncoderThreads encoderThreads() {
        return shared.encoderThreads();
    }

    /**
     * Returns the dictionary that the plan's request names. Null if it names none, or if the dictionary has been
     * dropped since.
     */
    @Nullable
    CompressionDictionary dictionaryOf(FetchPlan plan) {
        FieldSection fields = plan.request().fields();
        String hash = plan.cacheSettings().encoding().dictionaries().isOff()
                ? null
                : fields.get(DictionaryRules.AVAILABLE_DICTIONARY);
        return hash == null
                ? null
                : shared.dictionaries().content(settings().access().clientUrl(plan.request(), plan.client()), hash);
    }

    /**
     * Called when a fetch has stored or validated a response, which may be a dictionary.
     *
     * @param before the head before the validation; null for a new response
     */
    void dictionaryStored(FetchPlan plan, StoreKey key, StoredHead head, @Nullable StoredHead before) {
        DictionaryRules rules = plan.cacheSettings().encoding().dictionaries();
        if (rules.isOff()) {
            return;
        }
        TargetUri url = settings().access().clientUrl(plan.request(), plan.client());
        DictionaryReader.Candidate response =
                new DictionaryReader.Candidate(url, plan.keyUrl(), plan.primaryBytes(), key, head);
        if (isProtected(plan.request(), plan.mapped())) {
            dictionaryReader.forget(url);
        } else if (before == null) {
            dictionaryReader.stored(response, rules);
        } else {
            dictionaryReader.validated(response, before, rules);
        }
    }

    /**
     * Returns true if only some clients may get the response. Such a response must not become a dictionary, because
     * other clients could learn that it exists by guessing its hash.
     */
    private boolean isProtected(RequestHead request, Mapped mapped) {
        Guards guards = settings().guards();
        return request.fields().contains(FieldName.AUTHORIZATION)
                || (guards != null && guards.needsProof(mapped.rule().index()));
    }

    /**
     * Returns true if a full exchange must serve the response, because it is a dictionary that is not registered yet.
     */
    boolean isDictionaryWanted(Decision decision, StoredHead head, ClientConnection client, long nowMillis) {
        DictionaryRules rules = decision.cacheSettings().encoding().dictionaries();
        return !rules.isOff()
                && DictionaryReader.mayBeDictionary(head, rules)
                && !isProtected(decision.request(), decision.mapped())
                && dictionaryReader.isWanted(settings().access().clientUrl(decision.request(), client), nowMillis);
    }

    /** Called when a full exchange serves a fresh response, which may be a dictionary. */
    void dictionaryServed(Decision decision, ClientConnection client) {
        DictionaryRules rules = decision.cacheSettings().encoding().dictionaries();
        StoredObject<StoredHead> object = decision.object();
        StoreKey primary = decision.primaryKey();
        if (!rules.isOff()
                && object != null
                && primary != null
                && DictionaryReader.mayBeDictionary(object.head(), rules)
                && !isProtected(decision.request(), decision.mapped())) {
            TargetUri url = settings().access().clientUrl(decision.request(), client);
            dictionaryReader.served(
                    new DictionaryReader.Candidate(
                            url, decision.keyUrl(), primary.bytes(), decision.key(), object.head()),
                    rules);
        }
    }

    @Override
    public LoopOrigins groups() {
        return groups;
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    CacheStore<StoredHead> store() {
        return shared.store();
    }

    Collapser<SharedFetch> collapser() {
        return shared.collapser();
    }

    UncacheableKeys uncacheable() {
        return shared.uncacheable();
    }

    Purger purger() {
        return shared.purger();
    }

    Invalidator invalidator() {
        return shared.invalidator();
    }

    PurgeHistory purges() {
        return shared.purges();
    }

    /** The invalidations in force. */
    Invalidations invalidations() {
        return shared.invalidator().invalidations();
    }

    /**
     * Replaces the head of a stored response. Does nothing if a purge by pattern may have outdated the response since
     * the request to the origin.
     *
     * @param stamp the newest purge stamp (an increasing number) when that request was sent
     * @return whether the head was replaced
     */
    boolean update(StoredObject<StoredHead> object, TargetUri keyUrl, long stamp, StoredHead head) {
        Outdated outdated = invalidations().ofFetch(keyUrl, stamp, Labels.NONE);
        if (outdated == Outdated.BY_PATTERN || outdated == Outdated.STALE_BY_PATTERN) {
            return false;
        }
        store().update(object, head);
        return true;
    }

    /** This loop's view of the budget for bytes in flight. */
    LoopMemory memory() {
        return memory;
    }

    @Override
    public WallClock clock() {
        return shared.clock();
    }

    @Override
    public ExchangeSettings settings() {
        return shared.settings().get();
    }

    @Override
    public LoopCounters counters() {
        return counters;
    }

    @Nullable
    AccessLogRing log() {
        return logs.access();
    }

    /** The live log of this loop; null without an admin API. */
    @Nullable
    LoopLiveLog liveLog() {
        return logs.live();
    }

    /** The traces of this loop; null if the proxy was built without an export of spans. */
    @Nullable
    LoopTraces traces() {
        return logs.traces();
    }

    RequestDecider decider() {
        return decider;
    }

    /** Returns the steps for which a request may have to wait before it is decided. */
    DecisionWaits waitsOf(ClientStream stream, RequestHead request, long contentLength) {
        return new DecisionWaits(shared, stream.eventLoop(), stream.connection(), request, contentLength);
    }

    Variants variants() {
        return variants;
    }

    /** The loop's reusable view of a request, for the rules that change its response. */
    RequestView ruleView() {
        return ruleView;
    }

    /** The loop's reusable buffer of Via codes. */
    ViaCodes viaCodes() {
        return viaCodes;
    }

    /** The budget for request content that is held until its request takes an origin connection. */
    HeldContent.Budget heldContent() {
        return heldContent;
    }

    /**
     * The loop's reusable response head. Fill it and pass it to a stream immediately, without other calls in between.
     */
    OutboundHead outbound() {
        return outbound;
    }
}
