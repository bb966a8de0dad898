package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.storing.NoStoreReason;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHost;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapRule;
import org.jspecify.annotations.Nullable;

/**
 * What would become of a request at one moment, and what decided it. Immutable; {@code RequestDryRun} makes it.
 *
 * @param outcome what would be done
 * @param status of the answer that the proxy gives by itself or from the cache; 0 where the origin's counts
 * @param why a sentence, or a stable word, of an answer that the proxy gives by itself; empty else
 * @param filter the filter that refuses, as logs name it; null for none
 * @param location where the client is redirected; null when it is not
 * @param rule what maps the request, or redirects it; null for none
 * @param cacheRules the cache rules that match, for people; null for none
 * @param settings what holds for it; null where nothing maps it
 * @param keyUrl the URL that the key stands for; null where nothing is looked up
 * @param key the primary key, printable; null where nothing is looked up
 * @param found what is stored under the key and selected by the request; null for nothing
 * @param reuse what is made of it; null for nothing found
 * @param purge identifier of the purge that has outdated what is stored; null when none has, or it is not known
 * @param forwarded why the cache alone is not enough, as Cache-Status has it; null where it is
 * @param noStore why an answer is not stored whatever it says; null where that is not known before
 * @param uncacheable whether an answer under the key was lately not stored
 * @param asked whom the origin's part is asked of; null where nobody is
 * @param collapse the fetch of another request that takes the place of this one's; null where there is none
 */
public record DryRunResult(
        Outcome outcome,
        int status,
        String why,
        @Nullable String filter,
        @Nullable String location,
        @Nullable Rule rule,
        @Nullable String cacheRules,
        @Nullable CacheSettings settings,
        @Nullable String keyUrl,
        @Nullable String key,
        @Nullable Found found,
        @Nullable Reuse reuse,
        @Nullable String purge,
        @Nullable String forwarded,
        @Nullable NoStoreReason noStore,
        boolean uncacheable,
        @Nullable Asked asked,
        @Nullable Collapse collapse) {
    /** What would be done. */
    public enum Outcome {
        /** Refused by this proxy. */
        DENY("deny"),
        /** Answered by this proxy in the origin's place. */
        ANSWER("answer"),
        /** Sent elsewhere. */
        REDIRECT("redirect"),
        /** Joined to a host, past HTTP. */
        TUNNEL("tunnel"),
        /** Sent to the origin as it is: the cache has no part in it. */
        PASS("pass"),
        /** Answered from the cache. */
        HIT("hit"),
        /** Answered from the cache although it is stale. */
        STALE("stale"),
        /** The origin is asked whether what is stored still holds. */
        VALIDATE("validate"),
        /** A part is stored; the rest is fetched. */
        COMPLETE("complete"),
        /** Nothing that is stored can be used: fetched. */
        FETCH("fetch"),
        /** Nothing that is stored can be used, and the client wants nothing else. */
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
     * @param text for people
     * @param index place in the file, from 0
     * @param place where it stands, as {@code millrace.yaml:12:5}; null when it comes from code
     * @param isForwarding whether it is no rule of an operator's: the client names its host itself
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
     * A stored response.
     *
     * @param head its head
     * @param isInRam whether it is in RAM; else it was read from disk to be looked at
     * @param length bytes of the body, -1 while not known
     * @param isComplete whether all of the body is stored
     * @param isVariant whether request fields have chosen it
     */
    public record Found(StoredHead head, boolean isInRam, long length, boolean isComplete, boolean isVariant) {}

    /**
     * Whom the origin's part is asked of.
     *
     * @param url what is asked for
     * @param group of origins; null for the host of the rule
     * @param host of the group that is next in turn; null when none is up, or none is chosen since another request asks already
     * @param isAside whether the client does not wait for it
     */
    public record Asked(
            String url,
            @Nullable OriginGroup group,
            @Nullable OriginHost host,
            boolean isAside) {}

    /**
     * Another request fetches the same already.
     *
     * @param waitNanos how long its answer is waited for
     */
    public record Collapse(long waitNanos) {}
}
