package io.millrace.proxy.remap;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.LifetimeRules;
import io.millrace.proxy.caching.StaleRules;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The effective cache settings of a request: the settings of its remap rule, changed by the matching cache rules.
 * Objects for combinations of rules are cached, so that a repeated combination allocates nothing. Thread-safe.
 */
public final class EffectiveCacheSettings {
    private final CacheSettings base;
    private final List<CacheRuleConfig> applied;
    private final CacheSettings settings;
    private final @Nullable String text;
    /** The cached settings after one more matching rule, by the index of this rule. */
    private final AtomicReferenceArray<EffectiveCacheSettings> next;
    /** The settings during an overload. Created on first use, perhaps by several threads at the same time. */
    private volatile @Nullable EffectiveCacheSettings inOverload;

    private EffectiveCacheSettings(CacheSettings base, List<CacheRuleConfig> applied, int ruleCount) {
        this.base = base;
        this.applied = applied;
        this.settings = applied.isEmpty() ? base : compound(base, applied);
        this.text = applied.isEmpty()
                ? null
                : String.join(
                        " ", applied.stream().map(CacheRuleConfig::toString).toList());
        this.next = new AtomicReferenceArray<>(ruleCount);
    }

    private EffectiveCacheSettings(EffectiveCacheSettings original, CacheSettings settings) {
        this.base = original.base;
        this.applied = original.applied;
        this.settings = settings;
        this.text = original.text;
        this.next = original.next;
    }

    /**
     * Returns the settings of a remap rule without changes.
     *
     * @param ruleCount number of all rules that may change the settings
     */
    static EffectiveCacheSettings of(CacheSettings base, int ruleCount) {
        return new EffectiveCacheSettings(base, List.of(), ruleCount);
    }

    /** Returns the cache settings of the remap rule after the changes by the matching cache rules. */
    public CacheSettings settings() {
        return settings;
    }

    /** Returns the matching rules as text for logs, such as {@code cache_rules[0] cache_rules[3]}; null for none. */
    public @Nullable String text() {
        return text;
    }

    /**
     * Returns these settings, changed by a further matching rule.
     *
     * @param freeCombinations number of combinations that may still be cached; decremented
     */
    EffectiveCacheSettings with(CacheRuleConfig rule, AtomicInteger freeCombinations) {
        EffectiveCacheSettings known = next.get(rule.index());
        if (known != null) {
            return known;
        }
        List<CacheRuleConfig> more = new ArrayList<>(applied);
        more.add(rule);
        EffectiveCacheSettings made = new EffectiveCacheSettings(base, List.copyOf(more), next.length());
        if (freeCombinations.getAndDecrement() > 0) {
            next.set(rule.index(), made);
        } else {
            freeCombinations.set(0);
        }
        return made;
    }

    /** Returns the settings that apply while the remap rule is in overload. */
    public EffectiveCacheSettings inOverload(StaleRules.UnderLoad load) {
        EffectiveCacheSettings made = inOverload;
        if (made == null || !made.settings.stale().underLoad().equals(load)) {
            made = new EffectiveCacheSettings(
                    this, settings.toBuilder().underLoad(load).build());
            inOverload = made;
        }
        return made;
    }

    private static CacheSettings compound(CacheSettings base, List<CacheRuleConfig> rules) {
        CacheSettings.Builder settings = base.toBuilder();
        boolean neverCache = false;
        Duration revalidate = null;
        Duration ttl = null;
        for (CacheRuleConfig rule : rules) {
            CacheRuleConfig.Actions then = rule.then();
            CacheRuleConfig.Action action = then.action();
            neverCache |= action == CacheRuleConfig.Action.NEVER_CACHE;
            if (action == CacheRuleConfig.Action.IGNORE_NO_CACHE
                    || action == CacheRuleConfig.Action.IGNORE_CLIENT_NO_CACHE) {
                settings.ignoreClientNoCache(true);
            }
            if (action == CacheRuleConfig.Action.IGNORE_NO_CACHE
                    || action == CacheRuleConfig.Action.IGNORE_SERVER_NO_CACHE) {
                settings.ignoreServerNoCache(true);
            }
            if (then.cookies() != null) {
                settings.cookies(then.cookies());
            }
            if (then.pinInCache() != null) {
                settings.pinSeconds(then.pinInCache().toSeconds());
            }
            revalidate = then.revalidate() == null ? revalidate : then.revalidate();
            ttl = then.ttlInCache() == null ? ttl : then.ttlInCache();
        }
        // A lifetime that ttl_in_cache sets overrides never_cache.
        if (ttl != null) {
            settings.ignoreServerNoCache(true)
                    .requiredHeaders(StoringRules.RequiredHeaders.NONE)
                    .dynamicUrls(true);
        } else if (neverCache) {
            settings.enabled(false);
        }
        return settings.forced(new LifetimeRules.Forced(
                        revalidate == null ? -1 : revalidate.toSeconds(), ttl == null ? -1 : ttl.toSeconds()))
                .build();
    }
}
