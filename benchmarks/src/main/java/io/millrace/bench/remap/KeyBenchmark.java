package io.millrace.bench.remap;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.CacheRules;
import io.millrace.proxy.remap.EffectiveCacheSettings;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapTable;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of cache keys and cache rules. It computes the cache key of a URL, with and without excluded query
 * parameters. It also matches a request with no cache rules, with four rules that do not match, and with two of four
 * rules that match. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class KeyBenchmark {
    private final RequestHead request = StoredResponses.browserRequest();
    private final TargetUri clean = url("http://www.example.com/news/2026/11/a-page.html?id=1&page=2");
    private final TargetUri tracked = url("http://www.example.com/news/2026/11/a-page.html?id=1&utm_source=x&page=2");
    private final Mapped plain = mapped(ConfigValues.empty());
    private final Mapped excluding = mapped(ConfigValues.builder()
            .set(CacheKeyKeys.EXCLUDED_PARAMS, List.of("utm_*", "gclid", "fbclid"))
            .build());
    private final CacheRules none = rules();
    private final CacheRules others = rules("a.example", "b.example", "c.example", "d.example");
    private final CacheRules matching = rules("a.example", ".", "c.example", ".");

    private static TargetUri url(String text) {
        return (TargetUri) TargetUri.parseAbsolute(text);
    }

    private static Mapped mapped(ConfigValues settings) {
        RemapTable table = RemapTable.of(
                ProxyConfig.builder().map("/", "http://origin/", settings).build());
        return (Mapped) table.match(url("http://www.example.com/"));
    }

    private static CacheRules rules(String... domains) {
        ProxyConfig.Builder config = ProxyConfig.builder().map("/", "http://origin/");
        for (String domain : domains) {
            config.cacheRule(ConfigValues.builder()
                    .set(CacheRulesKeys.DEST_DOMAIN, domain)
                    .set(CacheRulesKeys.ACTION, CacheRuleConfig.Action.IGNORE_CLIENT_NO_CACHE)
                    .build());
        }
        return CacheRules.of(config.build(), ZoneOffset.UTC);
    }

    /** Computes a key without excluded parameters. */
    @Benchmark
    public CacheKey plainKey() {
        return plain.keyOf(plain.keyUrl(clean));
    }

    /** Computes a key with excluded parameters that the URL does not contain. */
    @Benchmark
    public CacheKey keyWithNothingToExclude() {
        return excluding.keyOf(excluding.keyUrl(clean));
    }

    /** Computes a key from which one parameter of the URL is excluded. */
    @Benchmark
    public CacheKey keyWithOneExcluded() {
        return excluding.keyOf(excluding.keyUrl(tracked));
    }

    /** Matches the request with no cache rules. */
    @Benchmark
    public EffectiveCacheSettings noRules() {
        return none.isEmpty() ? none.without(plain) : none.match(plain, request, null, 0);
    }

    /** Matches the request with four cache rules for other hosts. */
    @Benchmark
    public EffectiveCacheSettings fourRulesForOthers() {
        return others.match(plain, request, null, 0);
    }

    /** Matches the request with four cache rules, of which two match. */
    @Benchmark
    public EffectiveCacheSettings twoOfFourRules() {
        return matching.match(plain, request, null, 0);
    }
}
