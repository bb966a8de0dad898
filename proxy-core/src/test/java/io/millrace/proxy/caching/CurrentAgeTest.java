package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CurrentAgeTest {

    @ParameterizedTest(name = "RFC 9111 4.2.3, 5.1: {0} after a delay of {1} ms has the initial age {2} ms")
    @CsvSource(
            delimiter = '|',
            value = {
                "Date: {0}                        | 0     | 0",
                "Date: {0}                        | 1500  | 1500",
                "Date: {-7200}                    | 0     | 7200000",
                "Date: {-7200}                    | 1500  | 7200000",
                "Date: {50}                       | 0     | 0",
                "X: no date                       | 0     | 0",
                "Date: {0}^Age: 30                | 1500  | 31500",
                "Date: {-40}^Age: 30              | 1500  | 40000",
                "Date: {0}^Age: abc               | 0     | 0",
                "Date: {0}^Age: -7200             | 0     | 0",
                "Date: {0}^Age: 7200.0            | 0     | 0",
                "Date: {0}^Age: 7200;a=b          | 0     | 7200000",
                "Date: {0}^Age: 7200 ;a=b, 1      | 0     | 7200000",
                "Date: {0}^Age: x;7200            | 0     | 0",
                "Date: {0}^Age: 2147483647        | 0     | 2147483647000",
                "Date: {0}^Age: 99999999999999999 | 0     | 2147483648000",
                "Date: {0}^Age: 7200, 0           | 0     | 7200000",
                "Date: {0}^Age: 0, 7200           | 0     | 0",
                "Date: {0}^Age: 7200^Age: 0       | 0     | 7200000",
                "Date: {0}^Age: 0^Age: 7200       | 0     | 0",
                "Date: {0}^Age: 5                 | -3000 | 5000"
            })
    void initialAge(String fields, long delayMillis, long expected) {
        assertEquals(expected, CurrentAge.initialMillis(Heads.fields(fields), NOW - delayMillis, NOW));
    }

    @Test
    void ageGrowsWithTheTimeInThisCache_RFC9111_4_2_3() {
        StoredHead stored = Heads.stored("Age: 30", "Cache-Control: max-age=60");
        assertEquals(30, stored.currentAgeSeconds(NOW));
        assertEquals(30, stored.currentAgeSeconds(NOW + 999));
        assertEquals(31, stored.currentAgeSeconds(NOW + 1000));
        assertEquals(30, stored.ttlSeconds(NOW));
        assertTrue(stored.isFresh(NOW + 29_999));
        assertFalse(stored.isFresh(NOW + 30_000));
        assertEquals(-10, stored.ttlSeconds(NOW + 40_000));
    }

    @Test
    void aClockThatWentBackAddsNothing() {
        assertEquals(30, Heads.stored("Age: 30").currentAgeSeconds(NOW - 100_000));
    }
}
