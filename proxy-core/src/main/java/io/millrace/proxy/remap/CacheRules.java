package io.millrace.proxy.remap;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.http.RequestHead;
import java.net.InetAddress;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the configuration list {@code cache_rules}. They change the cache settings of a request's remap
 * rule. Without rules, a request costs one check. Thread-safe.
 */
public final class CacheRules {
    /** Limit of cached combinations of rules. Clients can cause any combination by their choice of method and URL. */
    private static final int COMBINATIONS_MAX = 4096;

    private static final long MINUTE_MILLIS = 60_000;
    private static final int DAY_MINUTES = 24 * 60;

    private final CacheRule[] rules;
    /** The settings of each remap rule without cache rules, by the index of the remap rule. */
    private final EffectiveCacheSettings[] plain;

    private final boolean dependsOnTime;
    private final ZoneId zone;
    private final AtomicInteger freeCombinations = new AtomicInteger(COMBINATIONS_MAX);

    /**
     * Cached result of the time zone lookup for one minute. The low 11 bits contain the local minute of the day, the
     * other bits the minute since the epoch.
     */
    private final AtomicLong lastMinute = new AtomicLong(-1);

    private CacheRules(ProxyConfig config, ZoneId zone) {
        this.zone = zone;
        rules = config.cacheRules().stream().map(CacheRule::new).toArray(CacheRule[]::new);
        int count = rules.length + config.rules().lifetimes().size();
        List<EffectiveCacheSettings> settings = new ArrayList<>();
        config.remap()
                .forEach(rule ->
                        settings.add(EffectiveCacheSettings.of(rule.cache().settings(), count)));
        settings.add(EffectiveCacheSettings.of(config.forwardRule().cache().settings(), count));
        plain = settings.toArray(EffectiveCacheSettings[]::new);
        boolean timed = false;
        for (CacheRule rule : rules) {
            timed |= rule.dependsOnTime();
        }
        dependsOnTime = timed;
    }

    /** Returns the rules of a configuration. Times of day are in the given zone. */
    public static CacheRules of(ProxyConfig config, ZoneId zone) {
        return new CacheRules(config, zone);
    }

    /** Returns true if there are no rules. */
    public boolean isEmpty() {
        return rules.length == 0;
    }

    /** Returns the settings of the request's remap rule, without cache rules. */
    public EffectiveCacheSettings without(Mapped mapped) {
        return plain[mapped.rule().index()];
    }

    /**
     * Returns the settings in force for a request.
     *
     * @param client the client's address; null if unknown; then rules with a condition on the address do not match
     */
    public EffectiveCacheSettings match(
            Mapped mapped, RequestHead request, @Nullable InetAddress client, long nowMillis) {
        EffectiveCacheSettings found = without(mapped);
        int minute = dependsOnTime ? minuteOfDay(nowMillis) : 0;
        for (CacheRule rule : rules) {
            if (rule.matches(mapped, request, client, minute)) {
                found = found.with(rule.config(), freeCombinations);
            }
        }
        return found;
    }

    /** Returns the settings changed by the lifetime of an element of the configuration list {@code rules}. */
    public EffectiveCacheSettings with(EffectiveCacheSettings settings, CacheRuleConfig lifetime) {
        return settings.with(lifetime, freeCombinations);
    }

    private int minuteOfDay(long nowMillis) {
        long minute = Math.floorDiv(nowMillis, MINUTE_MILLIS);
        long last = lastMinute.get();
        if (last >> 11 != minute || last < 0) {
            int offset =
                    zone.getRules().getOffset(Instant.ofEpochMilli(nowMillis)).getTotalSeconds();
            long local = Math.floorDiv(nowMillis / 1000 + offset, 60L);
            last = minute << 11 | Math.floorMod(local, (long) DAY_MINUTES);
            lastMinute.set(last);
        }
        return (int) (last & 0x7ff);
    }
}
