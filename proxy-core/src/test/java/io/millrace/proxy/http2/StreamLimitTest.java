package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A lower number of streams holds from its acknowledgement on, a higher one at once (RFC 9113 s6.5.3). */
class StreamLimitTest {
    private final StreamLimit limit = new StreamLimit();

    @ParameterizedTest
    @CsvSource({
        // numbers that are announced, "a" for an acknowledgement; the number that holds
        "100, 100",
        "100 a, 100",
        "100 a 10, 100",
        "100 a 10 a, 10",
        "100 a 200, 200",
        "100 10 a, 100",
        "100 10 a a, 10",
        "100 a 10 50 a, 100",
        "100 a 10 50 a a, 50",
        "100 a 10 50 a a a, 50",
    })
    void holdsWhatTheClientKnows(String events, int max) {
        for (String event : events.split(" ", -1)) {
            if (event.equals("a")) {
                limit.onAcknowledgement();
            } else {
                limit.announce(Integer.parseInt(event));
            }
        }
        assertEquals(max, limit.max());
    }

    @Test
    void isKnownFromTheFirstAcknowledgementOn() {
        limit.announce(1);
        assertFalse(limit.isKnown());
        limit.onAcknowledgement();
        limit.announce(2);
        assertTrue(limit.isKnown());
        assertEquals(2, limit.announced());
    }
}
