package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a lower number of streams applies after its acknowledgement, and a higher one at once (RFC 9113 s6.5.3).
 */
class StreamLimitTest {
    private final StreamLimit limit = new StreamLimit();

    @ParameterizedTest
    @CsvSource({
        // announced numbers, "a" for an acknowledgement; the number in force
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
    void followsAnnouncementsAndAcknowledgements(String events, int max) {
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
