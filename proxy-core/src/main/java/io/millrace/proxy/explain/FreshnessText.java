package io.millrace.proxy.explain;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Freshness;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.http.FieldName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Describes the freshness computation of a stored response in text (RFC 9111 s4.2). The text contains the source of the
 * lifetime and the parts of the age. Immutable.
 *
 * @param settings cache settings for the request
 * @param cacheRules names of the cache rules that changed the settings, for display; null for none
 */
record FreshnessText(CacheSettings settings, @Nullable String cacheRules, StoredHead head, long nowMillis) {
    /** Receives the steps of the description. */
    interface Steps {
        void step(String name, String text, @Nullable String cause);
    }

    /** Adds the steps of the description to {@code steps}. */
    void addTo(Steps steps) {
        long lifetime = settings.lifetimes().lifetimeSeconds(head);
        long age = head.currentAgeSeconds(nowMillis);
        steps.step("lifetime", head.isPurgedSoftly() ? purged() : lifetime + " s by " + sourceText(), source());
        long initial = Math.floorDiv(head.initialAgeMillis(), 1000L);
        steps.step(
                "age",
                age + " s: " + initial + " s on arrival, " + Math.max(0, age - initial) + " s since then",
                initial > 0 ? "the answer's Age, or its Date" : null);
        long left = lifetime - age;
        steps.step(
                "freshness",
                lifetime + " - " + age + " = " + left + " s: "
                        + (left > 0 ? "fresh for " + left + " s more" : "stale for " + -left + " s"),
                null);
        if (head.pinnedUntilSeconds() > Math.floorDiv(nowMillis, 1000L)) {
            steps.step(
                    "pinned", "kept on disk until " + Instant.ofEpochSecond(head.pinnedUntilSeconds()), "pin_in_cache");
        }
    }

    /** Describes a lifetime that was ended by a soft purge by pattern. */
    private String purged() {
        long before = Freshness.secondsByFields(head, settings);
        return "ended after " + head.lifetimeSeconds() + " s by a soft purge by pattern"
                + (before < 0 ? "" : "; it was " + before + " s by " + sourceText());
    }

    private boolean isForced() {
        return settings.lifetimes().isForced(head);
    }

    private String sourceText() {
        if (isForced()) {
            return "cache rules";
        }
        return switch (head.lifetimeSource()) {
            case SHARED_MAX_AGE -> "s-maxage";
            case MAX_AGE -> "max-age";
            case EXPIRES -> "Expires minus Date";
            case HEURISTIC ->
                head.fields().contains(FieldName.LAST_MODIFIED)
                        ? "heuristic, " + settings.lifetimes().heuristicFactor()
                                + " of the time between Last-Modified and Date"
                        : "heuristic, the shortest lifetime, because there is no Last-Modified";
            case NEGATIVE -> "negative caching";
            case WITHHELD -> "no heuristic, because of Cookie, Authorization or Set-Cookie";
            case NONE -> "default: no lifetime is given";
        };
    }

    private @Nullable String source() {
        if (isForced()) {
            return cacheRules;
        }
        LifetimeRules rules = settings.lifetimes();
        long seconds = head.lifetimeSeconds();
        if (seconds > 0 && seconds == rules.guaranteedMinSeconds()) {
            return "cache.guaranteed_min_lifetime";
        }
        if (seconds > 0 && seconds == rules.guaranteedMaxSeconds()) {
            return "cache.guaranteed_max_lifetime";
        }
        return switch (head.lifetimeSource()) {
            case HEURISTIC -> "Last-Modified: " + head.fields().get(FieldName.LAST_MODIFIED);
            case NEGATIVE -> "cache.negative_caching.lifetime";
            case WITHHELD -> "cache.guessed_lifetime_with_cookies";
            case SHARED_MAX_AGE, MAX_AGE, EXPIRES, NONE -> decidingField(head, settings);
        };
    }

    /** Returns the field that determines lifetime and validation; null if there is none. */
    static @Nullable String decidingField(StoredHead head, CacheSettings settings) {
        for (FieldName target : settings.storing().targets()) {
            if (head.fields().contains(target)) {
                return target + ": " + head.fields().get(target);
            }
        }
        boolean expires = head.lifetimeSource() == LifetimeSource.EXPIRES;
        FieldName name = expires ? FieldName.EXPIRES : FieldName.CACHE_CONTROL;
        String value = head.fields().get(name);
        if (value != null) {
            return name + ": " + value;
        }
        String control = head.fields().get(FieldName.CACHE_CONTROL);
        return control == null ? null : "Cache-Control: " + control;
    }
}
