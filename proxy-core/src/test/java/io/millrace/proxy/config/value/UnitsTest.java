package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class UnitsTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1B, 1",
        "1KiB, 1024",
        "1kB, 1000",
        "1KB, 1000",
        "4G, 4294967296",
        "1.5GiB, 1610612736",
        "512 MiB, 536870912",
        "2TB, 2000000000000",
        "8388607TiB, 9223370937343148032"
    })
    void readsSizes(String text, long bytes) throws InvalidValueException {
        assertEquals(bytes, Units.parseSize(text));
    }

    @ParameterizedTest
    @CsvSource({
        "512, has no unit, 512B",
        "2gib, unknown unit, 2GiB",
        "2GBi, unknown unit, 2GiB",
        "-1KiB, is not a size,",
        "KiB, is not a size,",
        "1KiB 1B, is not a size,",
        "0.3B, whole number,",
        "9999999999TiB, too large,"
    })
    void refusesSizes(String text, String message, String suggestion) {
        InvalidValueException problem = assertThrows(InvalidValueException.class, () -> Units.parseSize(text));
        assertEquals(true, problem.problem().contains(message), problem.problem());
        assertEquals(suggestion, problem.suggestion());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "30s, 30000000000",
        "1h30m, 5400000000000",
        "1h15m20s, 4520000000000",
        "250ms, 250000000",
        "0.5s, 500000000",
        "2d, 172800000000000",
        "5min, 300000000000",
        "1w, 604800000000000"
    })
    void readsDurations(String text, long nanos) throws InvalidValueException {
        assertEquals(Duration.ofNanos(nanos), Units.parseDuration(text));
    }

    @ParameterizedTest
    @CsvSource({
        "30, has no unit, 30s",
        "30S, unknown unit, 30s",
        "30sec, unknown unit, 30s",
        "3months, unknown unit,",
        "90minutes, unknown unit, 90min",
        "1h30, has no unit, 1h30s"
    })
    void refusesDurations(String text, String message, String suggestion) {
        InvalidValueException problem = assertThrows(InvalidValueException.class, () -> Units.parseDuration(text));
        assertEquals(true, problem.problem().contains(message), problem.problem());
        assertEquals(suggestion, problem.suggestion());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-1s", "1s-", "99999999999w", "300000w"})
    void rejectsInvalidDurations(String text) {
        assertNotNull(assertThrows(InvalidValueException.class, () -> Units.parseDuration(text))
                .problem());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1023, 1024, 1536, 1L << 20, 3L << 30, (1L << 40) + 1, Long.MAX_VALUE})
    void writesSizesThatReadBack(long bytes) throws InvalidValueException {
        assertEquals(bytes, Units.parseSize(Units.formatSize(bytes)));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1000, 1_000_000, 1_500_000_000L, 90_000_000_000L, 86_400_000_000_000L, Long.MAX_VALUE})
    void writesDurationsThatReadBack(long nanos) throws InvalidValueException {
        Duration duration = Duration.ofNanos(nanos);
        assertEquals(duration, Units.parseDuration(Units.formatDuration(duration)));
    }

    @Test
    void writesTheLargestUnitThatDivides() {
        assertEquals("512MiB", Units.formatSize(512L << 20));
        assertEquals("1h", Units.formatDuration(Duration.ofHours(1)));
        assertEquals("90s", Units.formatDuration(Duration.ofSeconds(90)));
    }
}
