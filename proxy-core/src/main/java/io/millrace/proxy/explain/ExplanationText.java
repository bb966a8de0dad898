package io.millrace.proxy.explain;

import io.millrace.proxy.admin.cache.ExplainSource.Explanation;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.caching.storing.LeakGuard;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.FilterConfig;
import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.exchange.decide.DryRunResult;
import io.millrace.proxy.exchange.decide.DryRunResult.Found;
import io.millrace.proxy.exchange.decide.DryRunResult.OriginFetch;
import io.millrace.proxy.exchange.decide.DryRunResult.Outcome;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Describes the dry run of a request in text. Each step is a decision with the rule or setting that caused it. Confined
 * to one thread.
 */
public final class ExplanationText {
    private final ProxyConfig config;
    private final RequestHead request;
    private final ClientConnection client;
    private final DryRunResult result;
    private final long nowMillis;
    private final List<Step> steps = new ArrayList<>();

    public ExplanationText(
            ProxyConfig config, RequestHead request, ClientConnection client, DryRunResult result, long nowMillis) {
        this.config = config;
        this.request = request;
        this.client = client;
        this.result = result;
        this.nowMillis = nowMillis;
    }

    public Explanation explanation() {
        DryRunResult.Rule rule = result.rule();
        access();
        limits();
        extensions();
        rules();
        if (rule != null && result.outcome() != Outcome.DENY) {
            new EdgeText(config, request, rule.index(), result.branch()).addTo(this::step);
        }
        if (result.settings() != null) {
            cacheRules();
            lookup();
            collapse();
            storing(result.settings());
            compression(result.settings().encoding());
        }
        origin();
        answer();
        Found found = result.found();
        OriginFetch originFetch = result.originFetch();
        return new Explanation(
                request.target().asString(),
                request.methodName(),
                client.remoteText(),
                client.localAddress().getPort(),
                result.outcome().text(),
                result.status(),
                rule == null ? null : rule.text(),
                result.denial(),
                result.key(),
                found == null ? null : tier(found),
                originFetch == null ? null : originFetch.url(),
                originFetch == null || originFetch.group() == null
                        ? null
                        : originFetch.group().name(),
                originFetch == null || originFetch.host() == null
                        ? null
                        : originFetch.host().toString(),
                result.collapse() != null,
                List.copyOf(steps));
    }

    private void step(String name, String text, @Nullable String cause) {
        steps.add(new Step(name, text, cause));
    }

    private static String tier(Found found) {
        return found.isInRam() ? "ram" : "disk";
    }

    // steps: rule and access

    private void access() {
        DryRunResult.Rule rule = result.rule();
        if (rule == null) {
            String url = request.target().asString();
            step("rule", "no rule of remap matches " + url + "; add its host and path to remap", null);
        } else if (rule.isForwarding()) {
            step("rule", "no rule of remap matches; forwarded to the host that the client names", "forward_proxy");
        } else {
            step("rule", rule.text(), withPlace("remap[" + rule.index() + "]", rule.place()));
        }
        String denial = result.denial();
        String from = client.remoteText();
        if (denial != null && isByFilter(denial)) {
            step("filters", from + " is refused by " + denial, filterPlace(denial));
        } else if (result.outcome() != Outcome.DENY && hasFilters(rule)) {
            step("filters", "the filters allow " + request.methodName() + " from " + from, null);
        }
        if (denial != null && isByCorsOrCredential(denial) && rule != null) {
            step(
                    denial.substring(0, denial.indexOf(':')),
                    result.why() + " (" + denial + ")",
                    withPlace("remap[" + rule.index() + "]", rule.place()));
        }
        if (result.outcome() == Outcome.DENY && denial == null && rule != null) {
            step(
                    "access",
                    result.why(),
                    result.status() == 405 ? withPlace("remap[" + rule.index() + "].methods", rule.place()) : null);
        }
    }

    private boolean hasFilters(DryRunResult.@Nullable Rule rule) {
        List<List<FilterConfig>> byRule = config.filters().byRule();
        boolean ruleHasFilters = rule != null
                && rule.index() < byRule.size()
                && !byRule.get(rule.index()).isEmpty();
        return ruleHasFilters || !config.filters().general().isEmpty();
    }

    /** Returns true if the step {@code filters} describes the denial. Other denials have their own steps. */
    private static boolean isByFilter(String denial) {
        return !denial.startsWith("request-limit:")
                && !denial.startsWith(RequestHooks.DETAIL_PREFIX)
                && !isByCorsOrCredential(denial);
    }

    /** Returns true if CORS, or a missing or invalid credential, is the reason for the denial. */
    private static boolean isByCorsOrCredential(String denial) {
        return denial.startsWith("signed-url:")
                || denial.startsWith("basic-auth:")
                || denial.startsWith("jwt:")
                || denial.startsWith("cors:")
                || denial.startsWith("authorize:");
    }

    /** Returns the name and the file position of the filter that denied the request; null if unknown. */
    private @Nullable String filterPlace(String denial) {
        String name = denial.substring(denial.indexOf(':') + 1);
        List<FilterConfig> all = new ArrayList<>(config.filters().general());
        config.filters().byRule().forEach(all::addAll);
        for (FilterConfig filter : all) {
            if (filter.name().equals(name)) {
                return withPlace(name, filter.location());
            }
        }
        return denial.startsWith("no-filter:")
                ? "no filter of " + name + " allows the request"
                : denial.startsWith("forward:") ? "forward_proxy" : null;
    }

    /** Appends the file position to the name of a rule or key, if it is known. */
    private static String withPlace(String name, @Nullable String place) {
        return place == null ? name : name + " at " + place;
    }

    private void limits() {
        StringJoiner texts = new StringJoiner("; ");
        StringJoiner places = new StringJoiner(", ");
        for (DryRunResult.LimitState state : result.limits()) {
            RequestLimitConfig limit = state.limit();
            String left = state.left() < 0
                    ? "does not count this request"
                    : state.left() > 0
                            ? state.left() + " of " + limit.burst() + " requests left"
                            : limit.dryRun() ? "reached, but only counted (dry_run)" : "reached";
            texts.add(limit.name() + " (" + limit.rate() + "): " + left);
            places.add(limit.toString());
        }
        if (!result.limits().isEmpty()) {
            step("request-limits", texts.toString(), places.toString());
        }
    }

    private void extensions() {
        StringJoiner texts = new StringJoiner("; ");
        for (DryRunResult.ExtensionUse use : result.extensions()) {
            if (!use.called().isEmpty()) {
                texts.add(use.name() + " is asked: " + String.join(", ", use.called()));
            }
            if (!use.failing().isEmpty()) {
                texts.add(use.name() + " is not asked now, because many calls failed: "
                        + String.join(", ", use.failing()));
            }
        }
        String denial = result.denial();
        if (denial != null && denial.startsWith(RequestHooks.DETAIL_PREFIX)) {
            texts.add(result.why() + " (" + denial + ")");
        }
        if (!result.extensions().isEmpty()) {
            step("extensions", texts + "; this dry run calls only cache_key", null);
        }
    }

    private void rules() {
        StringJoiner texts = new StringJoiner("; ");
        StringJoiner places = new StringJoiner(", ");
        for (DryRunResult.RuleMatch match : result.rules()) {
            texts.add(match.name()
                    + (match.isCertain() ? ": " : ", if the response matches: ")
                    + String.join(", ", match.actions()));
            places.add(withPlace(match.name(), match.place()));
        }
        if (!result.rules().isEmpty()) {
            step("rules", texts.toString(), places.toString());
        }
    }

    private void compression(EncodingRules encoding) {
        if (encoding.isOff()) {
            return;
        }
        ContentCoding coding = result.coding();
        step(
                "compression",
                coding == null
                        ? "the client gets content without an encoding"
                        : "content of the listed types is encoded with " + coding.token(),
                CompressionKeys.SECTION);
        if (!encoding.dictionaries().isOff() && request.fields().contains(DictionaryRules.AVAILABLE_DICTIONARY)) {
            boolean isUsed = coding != null && coding.usesDictionary();
            step(
                    "dictionary",
                    isUsed
                            ? "the client's dictionary is used"
                            : "the client's dictionary is not used: it is unknown, stale or purged, or does not match"
                                    + " the request, or the URL is longer than 2 KiB or too long for its match, or the"
                                    + " client prefers another encoding",
                    CompressionKeys.DICTIONARIES);
        }
    }

    private void cacheRules() {
        String text = result.cacheRules();
        if (text == null) {
            return;
        }
        StringJoiner places = new StringJoiner(", ");
        List<CacheRuleConfig> all = new ArrayList<>(config.cacheRules());
        for (RuleConfig rule : config.rules().lifetimes()) {
            if (rule.lifetime() != null) {
                all.add(rule.lifetime());
            }
        }
        for (CacheRuleConfig rule : all) {
            // The text contains the names of the matching rules, separated by spaces.
            if ((" " + text + " ").contains(" " + rule + " ")) {
                places.add(withPlace(rule.toString(), rule.location()));
            }
        }
        step("cache-rules", "matched by " + text, places.toString());
    }

    // steps: lookup and reuse of a stored response

    private void lookup() {
        String key = result.key();
        if (key == null) {
            step("lookup", "the cache is not used: " + whyNotUsed(), null);
            return;
        }
        step("key", key, isKeyUnchanged() ? null : "cache.key");
        Found found = result.found();
        if (found == null) {
            DryRunResult.Uncacheable recent = result.uncacheable();
            step("lookup", recent == null ? "nothing is stored" : notCached(recent), null);
            return;
        }
        StoredHead head = found.head();
        String variant = found.isVariant() || !head.variance().isNone()
                ? ", the variant by " + String.join(", ", head.variance().selectors())
                : "";
        String length = found.length() < 0 ? "" : ", " + found.length() + " bytes";
        step(
                "lookup",
                head.status() + (found.isInRam() ? " in RAM" : " on disk") + length
                        + (found.isComplete() ? "" : ", of which a part is stored") + variant + ", received "
                        + Instant.ofEpochSecond(Math.floorDiv(head.responseTimeMillis(), 1000L)),
                variant.isEmpty() ? null : field(head, FieldName.VARY));
        CacheSettings settings = result.settings();
        if (settings != null) {
            new FreshnessText(settings, result.cacheRules(), head, nowMillis).addTo(this::step);
            reuse(head, settings);
        }
    }

    /**
     * Returns the reason why a recent response could not be stored, as a sentence. The dashboard shows it as the
     * verdict.
     */
    private static String notCached(DryRunResult.Uncacheable recent) {
        String reason = recent.reason().sentence();
        String response = "the origin's response of " + Instant.ofEpochSecond(recent.atSeconds());
        return "not cached: " + response
                + (reason.startsWith("it ") ? reason.substring(2) : " was not stored, because " + reason);
    }

    private boolean isKeyUnchanged() {
        CacheSettings settings = result.settings();
        return settings == null || settings.key().isUnchanged();
    }

    private String whyNotUsed() {
        CacheSettings settings = result.settings();
        if (settings != null && !settings.enabled()) {
            return "caching is off for this request";
        }
        NoStoreReason never = result.noStore();
        if (never != null) {
            return never.text();
        }
        String forwarded = result.forwarded();
        return forwarded == null ? "the request cannot use it" : forwarded;
    }

    private static @Nullable String field(StoredHead head, FieldName name) {
        String value = head.fields().get(name);
        return value == null ? null : name + ": " + value;
    }

    private void reuse(StoredHead head, CacheSettings settings) {
        Reuse reuse = result.reuse();
        if (reuse == null) {
            return;
        }
        long stale = -(settings.lifetimes().lifetimeSeconds(head) - head.currentAgeSeconds(nowMillis));
        if (reuse instanceof Reuse.Fresh) {
            step("reuse", "fresh: used as it is", null);
        } else if (reuse instanceof Reuse.ServeStale) {
            step("reuse", "stale for " + stale + " s, which the client accepts", requestDirective());
        } else if (reuse instanceof Reuse.ServeStaleWhileRevalidating) {
            step(
                    "reuse",
                    "stale for " + stale + " s, below " + head.staleWhileRevalidateSeconds()
                            + " s of stale-while-revalidate: used, and validated in the background",
                    FreshnessText.decidingField(head, settings));
        } else if (reuse instanceof Reuse.ServeStaleUnderLoad) {
            step("reuse", "stale for " + stale + " s, used because of overload", "cache.overload");
        } else if (reuse instanceof Reuse.Validate validate) {
            validate(validate.reason(), head, settings);
        } else if (reuse instanceof Reuse.NotUsable notUsable) {
            step(
                    "reuse",
                    "not for this request: " + notUsable.reason().text(),
                    notUsable.reason() == Reuse.NotUsableReason.AUTHORIZATION
                            ? "cache.reuse_with_authorization"
                            : null);
        } else if (reuse instanceof Reuse.Invalidated invalidated) {
            step(
                    "reuse",
                    (invalidated.kind().isSoft()
                                    ? "purged softly since it was fetched"
                                    : "invalidated since it was fetched")
                            + (result.purge() == null ? "" : ", by purge " + result.purge()),
                    invalidated.kind().detail());
        }
    }

    private void validate(Reuse.ValidateReason reason, StoredHead head, CacheSettings settings) {
        String cause =
                switch (reason) {
                    case STALE, NO_CACHE -> FreshnessText.decidingField(head, settings);
                    case REQUEST_NO_CACHE, REQUEST_MAX_AGE, REQUEST_MIN_FRESH -> requestDirective();
                    case WHEN_TO_REVALIDATE -> "cache.when_to_revalidate";
                    case AUTHORIZATION -> "cache.reuse_with_authorization";
                };
        String validators = head.hasValidator() ? "" : "; without a validator it is fetched again";
        long onError = head.staleIfErrorSeconds();
        String error = onError > 0 ? "; if the origin fails, stale-if-error permits it for " + onError + " s" : "";
        step("reuse", "to be validated: " + reason.text() + validators + error, cause);
    }

    /** Returns the request's own cache directive; null for a request without one. */
    private @Nullable String requestDirective() {
        String control = request.fields().get(FieldName.CACHE_CONTROL);
        if (control != null) {
            return "request's Cache-Control: " + control;
        }
        String pragma = request.fields().get(FieldName.PRAGMA);
        return pragma == null ? null : "request's Pragma: " + pragma;
    }

    // steps: fetch and answer

    private void collapse() {
        DryRunResult.Collapse collapse = result.collapse();
        if (collapse == null) {
            return;
        }
        long millis = collapse.waitNanos() / 1_000_000;
        step(
                "collapse",
                result.outcome() == Outcome.STALE
                        ? "another request fetches the response already: no validation is begun"
                        : "another request fetches the response already: this request waits for it, at most "
                                + (millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms"),
                result.outcome() == Outcome.STALE ? null : "cache.collapse_wait");
    }

    private void storing(CacheSettings settings) {
        if (result.originFetch() == null || result.outcome() == Outcome.STALE) {
            return;
        }
        NoStoreReason never = result.noStore();
        if (result.outcome() == Outcome.PASS || never != null) {
            step(
                    "storing",
                    "the answer is not stored: " + (never == null ? String.valueOf(result.forwarded()) : never.text()),
                    never == NoStoreReason.REQUEST_NO_STORE
                            ? requestDirective()
                            : never == NoStoreReason.DYNAMIC_URL ? "cache.cache_urls_that_look_dynamic" : null);
            return;
        }
        String needs =
                switch (settings.storing().requiredHeaders()) {
                    case NONE -> "a lifetime or a validator";
                    case LAST_MODIFIED -> "a lifetime or a Last-Modified";
                    case LIFETIME -> "a lifetime";
                };
        step(
                "storing",
                result.found() == null && result.uncacheable() != null
                        ? "not stored if the origin answers as before; another answer needs " + needs
                        : "the answer is stored if its fields permit storing and it has " + needs,
                "cache.required_headers");
        heuristicLifetime(settings.lifetimes().heuristicWithCookies());
        leakGuard(settings.storing().leakGuard());
    }

    /** Adds a step if the leak guard compares the media type of the answer with the file extension of the URL. */
    private void leakGuard(StoringRules.LeakGuardLevel level) {
        String extension = LeakGuard.staticExtension(request.target());
        if (level == StoringRules.LeakGuardLevel.OFF || extension == null) {
            return;
        }
        boolean credentials = LeakGuard.hasCredentials(request);
        step(
                "leak-guard",
                "an answer of HTML or JSON for ." + extension
                        + (credentials ? "" : " with Set-Cookie")
                        + (level == StoringRules.LeakGuardLevel.ON ? " is not stored" : " is stored and logged")
                        + " unless it has public or s-maxage"
                        + (credentials ? ", as the request has credentials" : ""),
                "cache.leak_guard");
    }

    /** Adds a step if the request's fields prevent a heuristic lifetime. */
    private void heuristicLifetime(LifetimeRules.HeuristicWithCookies policy) {
        boolean authorized = request.fields().contains(FieldName.AUTHORIZATION);
        boolean withCookie = request.fields().contains(FieldName.COOKIE);
        if (policy == LifetimeRules.HeuristicWithCookies.ALL || !(authorized || withCookie)) {
            return;
        }
        boolean forEveryType = authorized || policy == LifetimeRules.HeuristicWithCookies.NONE;
        step(
                "guess",
                "no heuristic lifetime" + (forEveryType ? "" : " for text, JSON and XML") + ", as the request has "
                        + (authorized ? "Authorization" : "Cookie"),
                "cache.guessed_lifetime_with_cookies");
    }

    private void origin() {
        OriginFetch originFetch = result.originFetch();
        if (originFetch == null) {
            return;
        }
        if (result.collapse() != null) {
            step("origin", originFetch.url() + " is being fetched already", null);
            return;
        }
        if (originFetch.group() == null) {
            step(
                    "origin",
                    originFetch.url() + connectionSettings(originFetch) + ifDown(originFetch),
                    originFetch.isDown() ? "origin.markdown" : null);
            return;
        }
        String host = originFetch.host() == null
                ? originFetch.group().config().goDirect()
                        ? "no host is up: the host of the rule is used"
                        : "no host is up"
                : "next is " + originFetch.host() + " by "
                        + originFetch.group().config().policy().name().toLowerCase(Locale.ROOT);
        step(
                "origin",
                originFetch.url() + ", " + host + connectionSettings(originFetch),
                "origins " + originFetch.group().name());
    }

    private String ifDown(OriginFetch originFetch) {
        if (!originFetch.isDown()) {
            return "";
        }
        if (originFetch.isInBackground()) {
            return ", which is marked down";
        }
        return result.found() == null
                ? ", which is marked down but tried, because nothing is stored"
                : ", which is marked down: not tried if the stored response may be served stale";
    }

    /** Returns the configured Unix socket, source address and time limit of the origin request. */
    private String connectionSettings(OriginFetch originFetch) {
        DryRunResult.Rule rule = result.rule();
        if (rule == null || rule.index() >= config.remap().size()) {
            return "";
        }
        RemapRuleConfig ruleConfig = config.remap().get(rule.index());
        SourceAddress groupSource = originFetch.group() == null
                ? null
                : originFetch.group().config().sourceAddress();
        SourceAddress source = groupSource == null ? ruleConfig.originSource() : groupSource;
        Path socket = result.branch() == null ? ruleConfig.unixSocket() : null;
        return (socket == null ? "" : ", on " + socket)
                + (source.equals(SourceAddress.NONE) ? "" : ", from " + source)
                + (ruleConfig.transactionNanos() == 0
                        ? ""
                        : ", within " + ValueType.DURATION.format(Duration.ofNanos(ruleConfig.transactionNanos())));
    }

    private void answer() {
        if (result.collapse() != null && result.outcome() != Outcome.STALE) {
            step("answer", "waits for the fetch of another request (" + result.forwarded() + ")", null);
            return;
        }
        String text =
                switch (result.outcome()) {
                    case DENY -> result.status() + ", " + result.why();
                    case ANSWER ->
                        result.why().isEmpty()
                                ? "this proxy answers in the origin's place (RFC 9110 section 7.6.2)"
                                : result.status() + ", by answer of " + result.why();
                    case REDIRECT -> result.status() + " to " + result.location() + " (" + result.why() + ")";
                    case TUNNEL -> "a tunnel to " + request.target().authority();
                    case PASS -> "is sent to the origin unchanged (" + result.forwarded() + ")";
                    case HIT -> "answered from the cache" + otherStatus() + ", without an origin request";
                    case STALE ->
                        "answered from the cache" + otherStatus() + " though stale"
                                + (result.originFetch() == null ? "" : ", validated in the background");
                    case VALIDATE -> "the stored response is validated with the origin (" + conditions() + ")";
                    case COMPLETE -> "the stored part is used, the rest is fetched from the origin";
                    case FETCH -> "fetched from the origin (" + result.forwarded() + ")";
                    case UNAVAILABLE -> "504: the client accepts only stored responses (only-if-cached)";
                };
        step("answer", text, null);
    }

    /**
     * Returns the status of the answer if conditions or a range change the stored status. Otherwise the text is empty.
     */
    private String otherStatus() {
        Found found = result.found();
        return found == null || found.head().status() == result.status() ? "" : " with " + result.status();
    }

    private String conditions() {
        Found found = result.found();
        if (found == null) {
            return "conditional";
        }
        String tag = found.head().entityTag();
        if (tag != null) {
            return "If-None-Match: " + tag;
        }
        String modified = found.head().fields().get(FieldName.LAST_MODIFIED);
        return modified == null ? "without conditions, because it has no validator" : "If-Modified-Since: " + modified;
    }
}
