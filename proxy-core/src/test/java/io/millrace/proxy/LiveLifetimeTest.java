package io.millrace.proxy;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of freshness lifetimes, in seconds. */
class LiveLifetimeTest {
    private static final String TEN_HOURS_OLD = "Last-Modified: Wed, 31 Dec 2025 14:00:00 GMT\r\n";
    private static final String TEN_DAYS_OLD = "Last-Modified: Mon, 22 Dec 2025 00:00:00 GMT\r\n";
    private static final String YEARS_OLD = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private int ttl() throws Exception {
        return live.ttl(live.fresh());
    }

    @LiveKey("cache.heuristic_lm_factor")
    void heuristicFactor() throws Exception {
        live.answers(TEN_DAYS_OLD)
                .file("cache: {heuristic_lm_factor: <0.1|0.05>}")
                .turns(86_400, 43_200, this::ttl);
    }

    @LiveKey("cache.heuristic_min_lifetime")
    void heuristicMinLifetime() throws Exception {
        live.answers(TEN_HOURS_OLD)
                .file("cache: {heuristic_min_lifetime: <1h|2h>}")
                .turns(3_600, 7_200, this::ttl);
    }

    @LiveKey("cache.heuristic_max_lifetime")
    void heuristicMaxLifetime() throws Exception {
        live.answers(YEARS_OLD)
                .file("cache: {heuristic_max_lifetime: <1d|12h>}")
                .turns(86_400, 43_200, this::ttl);
    }

    @LiveKey("cache.heuristic_without_last_modified")
    void heuristicWithoutLastModified() throws Exception {
        live.answers("")
                .file("cache: {heuristic_without_last_modified: <false|true>}")
                .turns(true, false, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache.guessed_lifetime_with_cookies")
    void guessedLifetimeWithCookies() throws Exception {
        live.answers(TEN_DAYS_OLD + "Set-Cookie: a=b\r\n")
                .file("cache: {guessed_lifetime_with_cookies: <all|not_text>}")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache.targeted_cache_control")
    void targetedCacheControl() throws Exception {
        live.answers("CDN-Cache-Control: max-age=10\r\nEdge-Control: max-age=20\r\n")
                .file("cache: {targeted_cache_control: [<CDN-Cache-Control|Edge-Control>]}")
                .turns(10, 20, this::ttl);
    }

    @LiveKey("cache.when_to_revalidate")
    void whenToRevalidate() throws Exception {
        live.file("cache: {when_to_revalidate: <directives|always>}")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache.guaranteed_min_lifetime")
    void guaranteedMinLifetime() throws Exception {
        live.file("cache: {guaranteed_min_lifetime: <0s|2m>}").turns(60, 120, this::ttl);
    }

    @LiveKey("cache.guaranteed_max_lifetime")
    void guaranteedMaxLifetime() throws Exception {
        live.file("cache: {guaranteed_max_lifetime: <0s|30s>}").turns(60, 30, this::ttl);
    }

    @LiveKey("cache.negative_caching.enabled")
    void negativeCaching() throws Exception {
        answersNotFound()
                .file("cache: {negative_caching: {enabled: <false|true>}}")
                .turns(true, false, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache.negative_caching.lifetime")
    void negativeCachingLifetime() throws Exception {
        answersNotFound()
                .file("cache: {negative_caching: {enabled: true, lifetime: <10s|20s>}}")
                .turns(10, 20, this::ttl);
    }

    @LiveKey("cache.negative_caching.list")
    void negativeCachingList() throws Exception {
        answersNotFound()
                .file("cache: {negative_caching: {enabled: true, list: [<404|410>]}}")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    private LiveProxy answersNotFound() {
        return live.script(request -> request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    }
}
