package io.millrace.proxy.caching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.StoringRules;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CacheSettingsTest {

    @Test
    void defaultsAreThoseOfTheDocumentation() {
        CacheSettings settings = CacheSettings.DEFAULTS;
        assertTrue(settings.enabled());
        assertEquals(0.1, settings.lifetimes().heuristicFactor());
        assertEquals(3_600, settings.lifetimes().heuristicMinSeconds());
        assertEquals(86_400, settings.lifetimes().heuristicMaxSeconds());
        assertEquals(604_800, settings.stale().maxStaleSeconds());
        assertEquals(0, settings.storing().maxObjectBytes());
        assertEquals(StoringRules.RequiredHeaders.NONE, settings.storing().requiredHeaders());
        assertFalse(settings.requests().ignoreNoCache());
        assertFalse(settings.requests().ignoreMaxAge());
    }

    @Test
    void aBuilderOfSettingsStartsWithThem() {
        CacheSettings settings = CacheSettings.builder()
                .enabled(false)
                .heuristicFactor(0.2)
                .heuristicMinSeconds(1)
                .heuristicMaxSeconds(2)
                .maxStaleSeconds(3)
                .maxObjectBytes(4)
                .requiredHeaders(StoringRules.RequiredHeaders.LIFETIME)
                .ignoreClientNoCache(true)
                .ignoreClientMaxAge(true)
                .build();
        assertEquals(settings, settings.toBuilder().build());
    }

    @ParameterizedTest
    @MethodSource("outOfBounds")
    void rejectsValuesOutOfBounds(Consumer<CacheSettings.Builder> change) {
        CacheSettings.Builder builder = CacheSettings.builder();
        change.accept(builder);
        assertThrows(IllegalArgumentException.class, builder::build);
    }

    static Stream<Consumer<CacheSettings.Builder>> outOfBounds() {
        return Stream.of(
                builder -> builder.heuristicFactor(-0.1),
                builder -> builder.heuristicFactor(1.1),
                builder -> builder.heuristicFactor(Double.NaN),
                builder -> builder.heuristicMinSeconds(-1),
                builder -> builder.heuristicMaxSeconds(-1),
                builder -> builder.maxStaleSeconds(-1),
                builder -> builder.maxObjectBytes(-1),
                builder -> builder.storageShareMax(0),
                builder -> builder.storageShareMax(1.1),
                builder -> builder.storageShareMax(Double.NaN));
    }

    @Test
    void zeroIsNoLimitOfLength() {
        assertTrue(CacheSettings.DEFAULTS.storing().allowsLength(Long.MAX_VALUE));
        CacheSettings ten = CacheSettings.builder().maxObjectBytes(10).build();
        assertTrue(ten.storing().allowsLength(-1));
        assertTrue(ten.storing().allowsLength(10));
        assertFalse(ten.storing().allowsLength(11));
    }
}
