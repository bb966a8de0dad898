package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.caching.reuse.StaleServing;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The mark of a swept soft purge: the response is validated before its next use, whatever would permit its reuse. */
final class SoftPurgeMarkTest {
    private static final StoredHead MARKED = Heads.stored(
                    "Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\"")
            .withSoftPurge(NOW + 10_000);

    private static final List<CacheSettings> SETTINGS = List.of(
            CacheSettings.DEFAULTS,
            CacheSettings.builder().forced(new LifetimeRules.Forced(86_400, -1)).build(),
            CacheSettings.builder().forced(new LifetimeRules.Forced(-1, 86_400)).build(),
            CacheSettings.builder()
                    .whenToRevalidate(LifetimeRules.WhenToRevalidate.NEVER)
                    .build(),
            CacheSettings.builder()
                    .underLoad(new StaleRules.UnderLoad(3, 30, 2))
                    .build());

    private static StoredHead readAgain(StoredHead head) throws Exception {
        return new StoredHeadCodec().decode(Unpooled.wrappedBuffer(StoredHeadCodec.bytes(head)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Accept: a/b", "Cache-Control: max-stale", "Cache-Control: max-age=30"})
    void isValidatedUnderAllSettings(String field) throws Exception {
        for (CacheSettings settings : SETTINGS) {
            for (StoredHead head : List.of(MARKED, readAgain(MARKED))) {
                Reuse reuse = Reuse.of(Heads.get(field), head, NOW + 10_000, settings);
                assertEquals(new Reuse.Invalidated(Outdated.STALE_BY_PATTERN), reuse, settings.toString());
            }
        }
    }

    @Test
    void isStaleForErrorsSinceThePurge() {
        CacheSettings none = CacheSettings.builder().maxStaleSeconds(0).build();
        CacheSettings ten = CacheSettings.builder().maxStaleSeconds(10).build();
        assertInstanceOf(StaleServing.Refused.class, StaleServing.of(Heads.get(), MARKED, NOW + 10_000, none));
        assertInstanceOf(StaleServing.Allowed.class, StaleServing.of(Heads.get(), MARKED, NOW + 20_000, ten));
        assertInstanceOf(StaleServing.Refused.class, StaleServing.of(Heads.get(), MARKED, NOW + 21_000, ten));
    }

    @Test
    void endsWithAnUpdate() {
        assertTrue(MARKED.isPurgedSoftly());
        StoredHead updated = MARKED.updated(
                Heads.get(),
                Heads.response(304, "Cache-Control: max-age=60", "ETag: \"a\""),
                NOW + 20_000,
                NOW + 20_000,
                CacheSettings.DEFAULTS);
        assertFalse(updated.isPurgedSoftly());
        assertTrue(updated.isFresh(NOW + 30_000));
    }
}
