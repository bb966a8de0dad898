package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessResult;
import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.CountryField;
import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.MethodPolicy;
import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.dictionary.DictionaryChoice;
import io.millrace.proxy.edge.CorsRule;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.geo.GeoFiles;
import io.millrace.proxy.geo.GeoLocation;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.forward.UpgradeFields;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.observe.field.Via;
import io.millrace.proxy.overload.OverloadGauge;
import io.millrace.proxy.remap.CacheRules;
import io.millrace.proxy.remap.EffectiveCacheSettings;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.NotMapped;
import io.millrace.proxy.remap.Redirected;
import io.millrace.proxy.remap.RefererRules;
import io.millrace.proxy.remap.RemapResult;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the decision about a request head: access, remap rule, cache key, lookup in RAM, and reuse. The fast lane (a
 * short code path for hits in RAM) and full exchanges share it. Never blocks and never reads from disk. If the object
 * is only on disk, the decision is {@code OPEN}; after the disk read, {@link #afterOpen} continues.
 *
 * <p>Confined to one event loop.
 */
public final class RequestDecider {
    /** Loop Detected (RFC 5842 s7.2). */
    private static final int LOOP_DETECTED = 508;

    private static final String LOOP_TEXT =
            "Via contains the name of this proxy; in a chain, each proxy needs its own via.name";

    /** Misdirected Request (RFC 9110 s15.5.20). */
    private static final int MISDIRECTED = 421;

    private static final String NOT_SECURED =
            "a request for an https URL needs a TLS connection, or a trusted proxy that reports one";

    private static final String NOT_ADMITTED =
            "the host requires a client certificate, which this connection did not present: open a new connection for the host";

    private static final byte[] CHALLENGE_PATH = ChallengeAnswers.PATH.getBytes(StandardCharsets.US_ASCII);

    private static final List<String> WEBSOCKET = List.of(UpgradeFields.WEBSOCKET);

    private final DecisionInputs shared;
    private final LoopCounters counters;
    private final ForwardDecider forwards;
    private final RuleDecider rules;
    private final LimitDecider limits;
    private final GuardDecider guards;
    private final HookDecider hooks;
    private final LookupDecider lookups;
    private final EdgeDecider edges;
    private final boolean dryRun;

    /** @param origins origin connections of the loop, for requests to authorisation servers */
    public RequestDecider(DecisionInputs shared, LoopCounters counters, OriginClient origins) {
        this(shared, counters, false, origins);
    }

    /**
     * Returns a decider that does not count requests against request limits, and sends no requests to authorisation
     * servers.
     */
    public static RequestDecider ofDryRun(DecisionInputs shared, LoopCounters counters) {
        return new RequestDecider(shared, counters, true, null);
    }

    private RequestDecider(
            DecisionInputs shared, LoopCounters counters, boolean dryRun, @Nullable OriginClient origins) {
        this.shared = shared;
        this.counters = counters;
        this.dryRun = dryRun;
        this.forwards = new ForwardDecider(counters);
        this.rules = new RuleDecider(counters);
        this.limits = new LimitDecider(shared, counters, dryRun);
        this.guards = new GuardDecider(shared, counters, dryRun, origins);
        this.hooks = new HookDecider(counters, dryRun);
        this.edges = new EdgeDecider(counters, dryRun);
        this.lookups = new LookupDecider(shared, counters, hooks);
    }

    /**
     * Decides about a request.
     *
     * @param client the client's connection
     */
    public Decision decide(RequestHead request, long contentLength, ClientConnection client) {
        return decide(
                new Decision(request), contentLength, client, shared.clock().millis());
    }

    /**
     * Decides about a request for a second time. Request limits do not count it again, and it is not looked up among
     * the ACME challenges again.
     *
     * @param before the earlier decision. Its hooks of extensions and its checks of credentials are not repeated.
     *     Otherwise, a check whose result is not remembered would be required again after each decision.
     */
    public Decision decideAgain(RequestHead request, long contentLength, ClientConnection client, Decision before) {
        return decideAgain(request, contentLength, client, before, before.checked());
    }

    /**
     * Decides like {@link #decideAgain} about a request, after one of its credentials was checked.
     *
     * @param result the result of the check
     */
    public Decision decideChecked(
            RequestHead request,
            long contentLength,
            ClientConnection client,
            CredentialCheck.Checked result,
            Decision before) {
        List<CredentialCheck.Checked> results = new ArrayList<>(before.checked());
        results.removeIf(one -> one.digest().equals(result.digest()));
        results.add(result);
        return decideAgain(request, contentLength, client, before, results);
    }

    private Decision decideAgain(
            RequestHead request,
            long contentLength,
            ClientConnection client,
            Decision before,
            List<CredentialCheck.Checked> results) {
        Decision decision = new Decision(request)
                .withoutCounting()
                .markNoAcmeChallenge()
                .checked(results)
                .hooks(before.hooks());
        return decide(decision, contentLength, client, shared.clock().millis());
    }

    /** Decides about a request to the path of ACME challenges whose token is unknown here. */
    public Decision decideWithoutAcme(RequestHead request, long contentLength, ClientConnection client) {
        Decision decision = new Decision(request).markNoAcmeChallenge();
        return decide(decision, contentLength, client, shared.clock().millis());
    }

    /**
     * Decides about the request of a new decision, and sets the values of this decision.
     *
     * @param decision contains only the request so far
     * @param nowMillis the wall-clock time, in epoch milliseconds
     */
    public Decision decide(Decision decision, long contentLength, ClientConnection client, long nowMillis) {
        decision.lookupStamp(shared.invalidator().stamp());
        ExchangeSettings settings = shared.settings().get();
        if (settings.geo() != null) {
            locate(decision, settings.geo(), settings.country(), client);
        }
        if (settings.rules() != null) {
            rules.begin(decision, settings.rules(), nowMillis);
        }
        if (endsBeforeRemap(decision, contentLength, client, settings)) {
            return decision;
        }
        RequestHead request = decision.request();
        boolean upgrading = isUpgrading(request, contentLength);
        RemapResult found = map(settings.remap(), request, client, upgrading);
        decision.rule(ruleOf(found));
        CorsRule cors = edges.cors(decision, settings.edge());
        if (refuses(decision, client, settings, nowMillis)) {
            return decision;
        }
        if (cors != null && CorsRule.isPreflight(request)) {
            return edges.preflight(decision, cors);
        }
        AccessRules access = settings.access();
        if (request.method() == Method.CONNECT) {
            return forwards.connect(
                    decision, contentLength, access.client(request, client.remoteIp()), settings.forward());
        }
        if (ForwardDecider.isForwardRequest(request, found, settings.forward().access(), client)) {
            if (forwards.denies(decision, access.client(request, client.remoteIp()), settings.forward())) {
                return decision;
            }
            found = settings.remap().forwarded(request.target());
        } else if (request.target().isSecure() && !client.secure() && isMisdirected(found, request, client, access)) {
            counters.increment(Counter.DENIED_SCHEME);
            return decision.denied(MISDIRECTED, NOT_SECURED, "scheme");
        }
        if (!(found instanceof Mapped rule)) {
            return notMapped(decision, found, settings);
        }
        Mapped mapped = setOriginAndCaching(decision, rule, client, settings, nowMillis);
        if (endsBeforeLookup(decision, mapped, contentLength, client, settings, nowMillis)) {
            return decision;
        }
        if (!decision.cacheSettings().encoding().dictionaries().isOff()
                && decision.request().fields().contains(DictionaryRules.AVAILABLE_DICTIONARY)) {
            chooseDictionary(decision, client, settings.access(), nowMillis);
        }
        String protocols = upgrading
                ? UpgradeFields.allowed(request.fields(), mapped.rule().upgrade())
                : null;
        if (protocols != null) {
            return decision.upgrade(protocols).forward(DecisionKind.PASS, ForwardReason.BYPASS);
        }
        return settings.rules() != null && rules.bypasses()
                ? decision.forward(DecisionKind.PASS, ForwardReason.BYPASS)
                : lookups.decide(decision, contentLength, nowMillis);
    }

    /**
     * Returns true if the request ends before its remap rule is known: it may be an ACME challenge, it is in a loop of
     * proxies, or it lacks the client certificate of its host.
     */
    private boolean endsBeforeRemap(
            Decision decision, long contentLength, ClientConnection client, ExchangeSettings settings) {
        RequestHead request = decision.request();
        if (settings.challenges() != null && !decision.isNoAcmeChallenge() && isChallenge(request, contentLength)) {
            decision.challenge();
            return true;
        }
        if (isLoop(request.fields(), settings.via())) {
            counters.increment(Counter.DENIED_LOOP);
            decision.denied(LOOP_DETECTED, LOOP_TEXT);
            return true;
        }
        if (client.secure()
                && request.method() != Method.CONNECT
                && !client.isAdmittedTo(request.target().hostBytes())) {
            counters.increment(Counter.DENIED_CLIENT_CERTIFICATE);
            decision.denied(MISDIRECTED, NOT_ADMITTED, "client-certificate");
            return true;
        }
        return false;
    }

    /**
     * Sets the origin and the cache settings of a mapped request: the branch of its canary split, cache rules,
     * lifetimes of rules, and overload.
     *
     * @return the mapping with the origin of the branch
     */
    private Mapped setOriginAndCaching(
            Decision decision, Mapped rule, ClientConnection client, ExchangeSettings settings, long nowMillis) {
        RequestHead request = decision.request();
        Mapped mapped = edges.branch(decision, settings.edge(), rule, client, settings.access());
        CacheRules cacheRules = settings.cacheRules();
        EffectiveCacheSettings ruled = cacheRules.isEmpty()
                ? cacheRules.without(mapped)
                : cacheRules.match(mapped, request, client.remoteAddress().getAddress(), nowMillis);
        if (settings.rules() != null) {
            ruled = rules.applyRemapRules(decision, settings.rules(), mapped, client, cacheRules, ruled);
        }
        OverloadGauge gauge = shared.overload().of(mapped.rule().config());
        decision.mapped(
                mapped,
                gauge != null && gauge.isInOverload()
                        ? ruled.inOverload(gauge.config().served())
                        : ruled);
        return mapped;
    }

    /**
     * Returns true if a mapped request ends before the lookup: because of its method, a missing password or other
     * credential, an extension, its Referer, a rule, or Max-Forwards.
     */
    private boolean endsBeforeLookup(
            Decision decision,
            Mapped mapped,
            long contentLength,
            ClientConnection client,
            ExchangeSettings settings,
            long nowMillis) {
        AccessRules access = settings.access();
        MethodPolicy methods = access.methods(mapped.rule().index());
        RequestHead request = decision.request();
        if (methods.check(request.method(), request.methodName()) instanceof AccessResult.Denied denied) {
            counters.increment(Counter.DENIED_METHOD);
            decision.denied(denied.status(), denied.reason().text()).allow(methods.allow());
            return true;
        }
        if (settings.guards() != null && guards.stops(decision, settings.guards(), mapped, client, access, nowMillis)) {
            return true;
        }
        if (settings.extensions() != null
                && hooks.stops(decision, settings.extensions(), mapped, contentLength, client, access)) {
            return true;
        }
        RefererRules referers = mapped.rule().referers();
        if (referers != null && !referers.allow(request.fields())) {
            counters.increment(Counter.REDIRECTS_REFERER);
            decision.redirected(302, referers.location(request.target(), request.fields()), referers.reason());
            return true;
        }
        if (settings.rules() != null && rules.ends(decision)) {
            return true;
        }
        if (request.method() == Method.TRACE && contentLength != 0) {
            decision.denied(400, "a TRACE request must not have content");
            return true;
        }
        if (isFinalRecipient(request)) {
            decision.finalRecipient(methods.allow());
            return true;
        }
        return false;
    }

    /** Removes Available-Dictionary from a request, unless its dictionary may be used for the response. */
    private void chooseDictionary(Decision decision, ClientConnection client, AccessRules access, long nowMillis) {
        RequestHead request = decision.request();
        DictionaryChoice choice =
                new DictionaryChoice(shared.dictionaries(), shared.invalidator().invalidations(), shared.purger());
        DictionaryChoice.Result result =
                choice.choose(access.clientUrl(request, client), request.fields(), nowMillis, dryRun);
        if (!dryRun && !decision.isUncounted()) {
            counters.increment(
                    switch (result) {
                        case USED -> Counter.DICTIONARY_USED;
                        case OTHER -> Counter.DICTIONARY_OTHER;
                        case UNKNOWN -> Counter.DICTIONARY_UNKNOWN;
                    });
        }
        decision.change(head -> head.with(head.target(), DictionaryChoice.fieldsAfter(result, head.fields())));
    }

    /**
     * Passes the location databases to the client's connection, and sets the request field that contains the client's
     * country.
     */
    private static void locate(
            Decision decision, GeoFiles geo, @Nullable CountryField country, ClientConnection client) {
        client.locateBy(geo.current());
        if (country != null) {
            GeoLocation location = client.location();
            decision.change(head -> head.with(head.target(), country.set(head.fields(), location)));
        }
    }

    /** Returns true if a filter or a request limit refuses the request. The decision then contains the response. */
    private boolean refuses(Decision decision, ClientConnection client, ExchangeSettings settings, long nowMillis) {
        int rule = decision.rule();
        AccessRules access = settings.access();
        if (access.hasFilters()) {
            String denied = access.denial(rule, decision.request(), client.remoteIp(), client.localIp());
            if (denied != null) {
                counters.filterDenied(denied);
                decision.filtered(denied);
                return true;
            }
        }
        if (settings.requestLimits() != null
                && !decision.isUncounted()
                && limits.refuses(decision, settings.requestLimits(), rule, client, access, nowMillis)) {
            counters.increment(Counter.DENIED_REQUEST_LIMIT);
            return true;
        }
        return false;
    }

    /**
     * Returns the state of each request limit that applies to a request, without counting.
     *
     * @param rule index of the remap rule; negative for none
     */
    public List<DryRunResult.LimitState> limitStates(
            RequestHead request, int rule, ClientConnection client, long nowMillis) {
        ExchangeSettings settings = shared.settings().get();
        return settings.requestLimits() == null
                ? List.of()
                : limits.states(request, settings.requestLimits(), rule, client, settings.access(), nowMillis);
    }

    /** Returns true if the request may be the validation request of an ACME CA (RFC 8555 section 8.3). */
    private static boolean isChallenge(RequestHead request, long contentLength) {
        return request.target().pathStartsWith(CHALLENGE_PATH)
                && contentLength == 0
                && (request.method() == Method.GET || request.method() == Method.HEAD);
    }

    /**
     * Returns true if a rule maps an https URL that was received without TLS (RFC 9110 s7.4). Its response would count
     * as authentic for https, and clients with TLS would get it from the store. Forward-proxy requests are exempt,
     * because they go to the URL's own host over TLS and have separate cache keys.
     */
    private static boolean isMisdirected(
            RemapResult found, RequestHead request, ClientConnection client, AccessRules access) {
        return (found instanceof Mapped || found instanceof Redirected) && !access.isSecured(request.fields(), client);
    }

    /** Returns the index of the rule that maps or redirects the URL; negative for none. */
    private static int ruleOf(RemapResult found) {
        if (found instanceof Mapped mapped) {
            return mapped.rule().index();
        }
        return found instanceof Redirected redirected ? redirected.rule().index() : AccessRules.NO_RULE;
    }

    /**
     * Returns true if the client offers another protocol (RFC 9110 s7.8) by a GET without content, like WebSocket.
     * Other offers are ignored, as the RFC permits.
     */
    private static boolean isUpgrading(RequestHead request, long contentLength) {
        return request.method() == Method.GET
                && contentLength == 0
                && UpgradeFields.isIn(request.fields(), request.minorVersion());
    }

    private static RemapResult map(RemapTable remap, RequestHead request, ClientConnection client, boolean upgrading) {
        if (upgrading && UpgradeFields.allowed(request.fields(), WEBSOCKET) != null) {
            RemapResult found = remap.matchWebSocket(request.target());
            if (found != NotMapped.NO_RULE) {
                return found;
            }
        }
        return remap.match(request.target(), client.localAddress().getPort());
    }

    private Decision notMapped(Decision decision, RemapResult found, ExchangeSettings settings) {
        RequestHead request = decision.request();
        if (found instanceof Redirected redirected) {
            counters.increment(Counter.REDIRECTS_REMAP);
            int status = redirected.status(request.minorVersion());
            return decision.redirected(status, redirected.location(request.target()), redirected.reason());
        }
        String redirectTarget = settings.noHostUrlRedirect();
        if (redirectTarget != null && request.target().hostBytes().length == 0) {
            counters.increment(Counter.REDIRECTS_NO_HOST);
            return decision.redirected(302, redirectTarget, "no-host");
        }
        counters.increment(Counter.DENIED_NOT_MAPPED);
        return decision.notMapped("no remap rule maps this URL");
    }

    /** Returns true if Max-Forwards of OPTIONS or TRACE is 0 (RFC 9110 s7.6.2). */
    private static boolean isFinalRecipient(RequestHead request) {
        if (request.method() != Method.OPTIONS && request.method() != Method.TRACE) {
            return false;
        }
        FieldSection fields = request.fields();
        int line = fields.find(FieldName.MAX_FORWARDS);
        return line >= 0 && FieldLexer.number(fields.bytes(), fields.valueStart(line), fields.valueEnd(line)) == 0;
    }

    /** Continues with the object read from disk, if any. Takes over the reference. */
    public Decision afterOpen(Decision decision, @Nullable StoredObject<StoredHead> found) {
        return lookups.afterOpen(decision, found);
    }

    private static boolean isLoop(FieldSection fields, Via via) {
        for (int line = fields.find(FieldName.VIA); line >= 0; line = fields.next(FieldName.VIA, line)) {
            int start = fields.valueStart(line);
            if (via.isNamedIn(fields.bytes(), start, fields.valueEnd(line) - start)) {
                return true;
            }
        }
        return false;
    }
}
