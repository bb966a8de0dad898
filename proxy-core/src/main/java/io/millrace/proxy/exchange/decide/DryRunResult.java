package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.HookChain;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHost;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapRule;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The result of a dry run of a request, with the reasons. Immutable; created by {@code RequestDryRun}.
 *
 * @param outcome the action that the proxy would take
 * @param status status of a response that the proxy generates or takes from the cache; 0 when the origin determines it
 * @param why the reason for a response that the proxy generates, as a sentence or an identifier; else empty
 * @param denial log name of the check that denies the request, such as a filter or request limit; null for none
 * @param location target of the redirect; null for none
 * @param rule the rule that maps or redirects the request; null for none
 * @param rules the elements of {@code rules} that match, in order
 * @param limits the request limits that apply, in order
 * @param extensions the extensions whose hooks the request would call, in order
 * @param branch name of the branch of the canary split; null for the rule's own origin
 * @param cacheRules description of the matching cache rules; null for none
 * @param settings the cache settings for the request; null when no rule maps it
 * @param coding the content coding that this proxy would apply to compressible responses; null for none
 * @param keyUrl URL of the cache key; null without a lookup
 * @param key the primary key, printable; null without a lookup
 * @param found the stored response under the key that the request selects; null for none
 * @param reuse the decision about reuse of that response; null without one
 * @param purge identifier of the purge that has outdated the stored response; null for none or when not known
 * @param forwarded the Cache-Status reason for forwarding; null when the cache alone answers
 * @param noStore the reason why no response to this request is stored; null when it depends on the response
 * @param uncacheable the recent response under the key that could not be stored; null for none
 * @param originFetch the request to the origin; null for none
 * @param collapse the fetch in flight that the request would wait for; null for none
 */
public record DryRunResult(
        Outcome outcome,
        int status,
        String why,
        @Nullable String denial,
        @Nullable String location,
        @Nullable Rule rule,
        List<RuleMatch> rules,
        List<LimitState> limits,
        List<ExtensionUse> extensions,
        @Nullable String branch,
        @Nullable String cacheRules,
        @Nullable CacheSettings settings,
        @Nullable ContentCoding coding,
        @Nullable String keyUrl,
        @Nullable String key,
        @Nullable Found found,
        @Nullable Reuse reuse,
        @Nullable String purge,
        @Nullable String forwarded,
        @Nullable NoStoreReason noStore,
        @Nullable Uncacheable uncacheable,
        @Nullable OriginFetch originFetch,
        @Nullable Collapse collapse) {
    /**
     * A response that could not be stored.
     *
     * @param reason the reason why it was not stored
     * @param atSeconds time of the response in epoch seconds; exact unless {@code cache.uncacheable_ttl} has changed
     *     since
     */
    public record Uncacheable(NoStoreReason reason, long atSeconds) {}

    /** The action to take. */
    public enum Outcome {
        /** The proxy denies the request. */
        DENY("deny"),
        /** The proxy answers in the origin's place. */
        ANSWER("answer"),
        /** The proxy redirects the client. */
        REDIRECT("redirect"),
        /** The proxy opens a tunnel to a host. */
        TUNNEL("tunnel"),
        /** The request is sent to the origin unchanged, without the cache. */
        PASS("pass"),
        /** A stored response answers. */
        HIT("hit"),
        /** A stale stored response answers. */
        STALE("stale"),
        /** The stored response is validated by the origin. */
        VALIDATE("validate"),
        /** A part is stored; the missing bytes are fetched. */
        COMPLETE("complete"),
        /** No stored response is usable: the response is fetched. */
        FETCH("fetch"),
        /** No stored response is usable, and the request contains only-if-cached. */
        UNAVAILABLE("unavailable");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /** Stable name. */
        public String text() {
            return text;
        }
    }

    /**
     * A rule of {@code remap}.
     *
     * @param text description of the rule
     * @param index position in the file, from 0
     * @param place location as {@code millrace.yaml:12:5}; null when the rule was created by code
     * @param isForwarding whether this is the built-in rule of the forward proxy, whose host the client chooses
     */
    public record Rule(String text, int index, @Nullable String place, boolean isForwarding) {
        public static Rule of(RemapRule rule) {
            return new Rule(
                    rule.config().toString(), rule.index(), rule.config().location(), rule.isForwarding());
        }

        public static Rule of(Mapped mapped) {
            return of(mapped.rule());
        }
    }

    /**
     * An element of {@code rules} that matches the request.
     *
     * @param name its path, such as {@code rules[2]}
     * @param place location as {@code millrace.yaml:12:5}; null when the rule was created by code
     * @param actions names of its actions
     * @param isCertain false if it depends on the response whether the condition holds
     */
    public record RuleMatch(String name, @Nullable String place, List<String> actions, boolean isCertain) {}

    /**
     * A request limit that applies to the request.
     *
     * @param limit the limit
     * @param left number of further requests that the limit permits; negative if the limit does not count the request
     */
    public record LimitState(RequestLimitConfig limit, long left) {}

    /**
     * An extension whose hooks the request would call.
     *
     * @param name its name
     * @param called the names of the hooks that are called
     * @param failing the names of the hooks that are not called for now, because many of their calls failed
     */
    public record ExtensionUse(String name, List<String> called, List<String> failing) {
        /** Returns the extensions whose hooks a request calls, or that set constant fields in its response. */
        public static List<ExtensionUse> of(Decision decision) {
            RequestHooks hooks = decision.hooks();
            HookChain chain = hooks == null ? decision.constantFieldHooks() : hooks.chain();
            if (chain == null) {
                return List.of();
            }
            return chain.all().stream()
                    .map(one -> new ExtensionUse(
                            one.name(),
                            labels(one.hooks(), hook -> !one.isCircuitOpen(hook)),
                            labels(one.hooks(), one::isCircuitOpen)))
                    .toList();
        }

        private static List<String> labels(List<Hook> hooks, Predicate<Hook> predicate) {
            return hooks.stream().filter(predicate).map(Hook::label).toList();
        }
    }

    /**
     * A stored response.
     *
     * @param head its head
     * @param isInRam whether the response is in RAM; else it was read from disk for the dry run
     * @param length bytes of the body, -1 while unknown
     * @param isComplete whether the whole body is stored
     * @param isVariant whether request fields have selected the response (Vary)
     */
    public record Found(StoredHead head, boolean isInRam, long length, boolean isComplete, boolean isVariant) {}

    /**
     * The request to the origin.
     *
     * @param url the requested URL
     * @param group group of origins; null for the host of the rule
     * @param host the next host of the group; null when none is up, or when the request would wait for a fetch in
     *     flight
     * @param isInBackground whether the request is a background validation, for which the client does not wait
     * @param isDown whether the origin, a single host instead of a group, is marked down, so that a stale response is
     *     sent instead
     */
    public record OriginFetch(
            String url,
            @Nullable OriginGroup group,
            @Nullable OriginHost host,
            boolean isInBackground,
            boolean isDown) {}

    /**
     * A fetch in flight of the same key, by another request.
     *
     * @param waitNanos time limit for waiting for its response head
     */
    public record Collapse(long waitNanos) {}
}
