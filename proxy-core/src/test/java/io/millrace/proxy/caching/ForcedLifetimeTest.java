package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.millrace.proxy.caching.reuse.FollowerReuse;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the effect of {@code revalidate} and {@code ttl_in_cache} of cache rules on responses. */
final class ForcedLifetimeTest {
    private static final CacheSettings REVALIDATE = forced(60, -1).build();
    private static final CacheSettings TTL =
            forced(-1, 60).ignoreServerNoCache(true).build();

    private static CacheSettings.Builder forced(long revalidate, long ttl) {
        return CacheSettings.builder().forced(new LifetimeRules.Forced(revalidate, ttl));
    }

    private static String decision(ResponseHead response, CacheSettings settings) {
        Storability storability = Storability.of(Heads.get(), response, NOW, settings);
        if (storability instanceof Storability.NotStorable not) {
            return not.reason().text();
        }
        return Long.toString(Freshness.of(Heads.get(), response, NOW, settings).lifetimeSeconds());
    }

    @ParameterizedTest(name = "revalidate after 60 s: {0} with \"{1}\" is fresh for, or not stored because of, {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | Cache-Control: max-age=10     | 60",
                "200 | Cache-Control: max-age=1000   | 60",
                "200 | Cache-Control: s-maxage=0     | 60",
                "200 | X: y                          | 60",
                "302 | Cache-Control: max-age=10     | 60",
                "302 | X: y                          | status",
                "503 | Cache-Control: max-age=10     | 60",
                "404 | X: y                          | 60",
                "200 | Cache-Control: no-store       | no-store",
                "200 | Cache-Control: private        | private"
            })
    void revalidateStandsInPlaceOfALifetimeAndMakesNothingStorableThatDirectivesForbid(
            int status, String fields, String expected) {
        assertEquals(expected, decision(Heads.response(status, fields), REVALIDATE));
    }

    @ParameterizedTest(name = "ttl in cache of 60 s: {0} with \"{1}\" is fresh for, or not stored because of, {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | Cache-Control: max-age=10           | 60",
                "200 | Cache-Control: max-age=1000         | 60",
                "200 | Cache-Control: no-store             | 60",
                "200 | Cache-Control: no-cache             | 60",
                "200 | Cache-Control: private              | private",
                "200 | X: y                                | 60",
                "200 | Age: 100                            | 160",
                "200 | Vary: *                             | vary-any",
                "301 | X: y                                | 60",
                "302 | X: y                                | status",
                "302 | Cache-Control: max-age=10           | 10",
                "404 | X: y                                | no-lifetime",
                "404 | Cache-Control: max-age=10           | 10",
                "503 | X: y                                | status"
            })
    void timeToLiveInCacheAppliesToSuccessfulNonPrivateResponses(int status, String fields, String expected) {
        assertEquals(expected, decision(Heads.response(status, fields), TTL));
    }

    @Test
    void timeToLiveCountsFromReceiptAndRevalidateFromTheOriginsAnswer() {
        ResponseHead old = Heads.response(200, "Age: 50", "Cache-Control: max-age=1000");
        StoredHead stored = StoredHead.of(Heads.get(), old, NOW, NOW, TTL);
        assertInstanceOf(Reuse.Fresh.class, Reuse.of(Heads.get(), stored, NOW + 59_999, TTL));
        assertInstanceOf(Reuse.Validate.class, Reuse.of(Heads.get(), stored, NOW + 60_000, TTL));
        assertInstanceOf(Reuse.Fresh.class, Reuse.of(Heads.get(), stored, NOW + 9_999, REVALIDATE));
        assertInstanceOf(Reuse.Validate.class, Reuse.of(Heads.get(), stored, NOW + 10_000, REVALIDATE));
    }

    @Test
    void delayOfTheAnswerAddsNoSecondToATimeToLive() {
        StoredHead stored = StoredHead.of(Heads.get(), Heads.response(200, "X: y"), NOW - 5, NOW, TTL);
        assertEquals(60, TTL.lifetimes().ttlSeconds(stored, NOW));
    }

    /** A rule that matches at some times of the day, or some clients, does not change the lifetime for the others. */
    @Test
    void storedResponseKeepsItsOwnLifetimeForRequestsThatNoRuleMatches() {
        ResponseHead response = Heads.response(200, "Cache-Control: max-age=100");
        StoredHead stored = StoredHead.of(Heads.get(), response, NOW, NOW, REVALIDATE);
        assertEquals(100, stored.lifetimeSeconds());
        assertInstanceOf(Reuse.Fresh.class, Reuse.of(Heads.get(), stored, NOW + 99_999, CacheSettings.DEFAULTS));
        assertInstanceOf(Reuse.Validate.class, Reuse.of(Heads.get(), stored, NOW + 99_999, REVALIDATE));
    }

    @Test
    void storedErrorAndRedirectionKeepTheirsUnderATimeToLive() {
        for (int status : new int[] {302, 404}) {
            ResponseHead response = Heads.response(status, "Cache-Control: max-age=10");
            StoredHead stored = StoredHead.of(Heads.get(), response, NOW, NOW, TTL);
            assertEquals(10, TTL.lifetimes().lifetimeSeconds(stored));
        }
    }

    @Test
    void itIsKeptForAsLongAsItIsForced() {
        ResponseHead response = Heads.response(200, "Cache-Control: no-store");
        CacheSettings week = forced(-1, 7 * 86_400)
                .ignoreServerNoCache(true)
                .maxStaleSeconds(0)
                .build();
        StoredHead stored = StoredHead.of(Heads.get(), response, NOW, NOW, week);
        assertEquals(NOW / 1000 + 7 * 86_400, stored.keepUntilSeconds());
    }

    @Test
    void sharedMaxAgeAlsoForbidsToServeStale_rfc9111_s5_2_2_10() {
        ResponseHead response = Heads.response(200, "Cache-Control: s-maxage=1000");
        StoredHead stored = StoredHead.of(Heads.get(), response, NOW, NOW, REVALIDATE);
        assertEquals(
                new StaleServing.Refused(StaleServing.RefusalReason.SHARED_MAX_AGE),
                StaleServing.of(Heads.get(), stored, NOW + 70_000, REVALIDATE));
        StoredHead plain =
                StoredHead.of(Heads.get(), Heads.response(200, "Cache-Control: max-age=1000"), NOW, NOW, REVALIDATE);
        assertEquals(StaleServing.ALLOWED, StaleServing.of(Heads.get(), plain, NOW + 70_000, REVALIDATE));
    }

    @Test
    void waiterSharesAResponseMadeFreshByATimeToLive() {
        ResponseHead response = Heads.response(200, "Cache-Control: max-age=0", "Age: 5");
        assertEquals(FollowerReuse.SHARED, FollowerReuse.of(Heads.get(), Heads.get(), response, NOW, TTL));
    }
}
