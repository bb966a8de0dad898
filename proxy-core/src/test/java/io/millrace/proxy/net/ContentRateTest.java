package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContentRateTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long WINDOW = 20 * SECOND;

    /**
     * The second, of 100, at which a client is found too slow; 0 for never. Each second is a letter, and the sequence
     * repeats: {@code t} sends ten bytes, {@code r} the required number, {@code m} 10 kB, {@code -} none; in {@code p}
     * the proxy pauses, and in {@code w} it does not accept content at the check.
     */
    @ParameterizedTest
    @CsvSource({
        "-, 500, 20",
        "t, 500, 20",
        "t, 0, 0",
        "r, 500, 0",
        "m, 500, 0",
        "m-------------------, 500, 0",
        "m----------------------------------------, 500, 40",
        "p, 500, 0",
        "w, 500, 0",
        "w-, 500, 40",
        "p-, 500, 40",
        "mp, 500, 0",
    })
    void tooSlowAt(String seconds, long rate, int expected) {
        ContentRate content = new ContentRate();
        long now = SECOND;
        content.begin();
        content.checkTooSlow(now, true, rate, WINDOW);
        for (int second = 0; second < 100; second++) {
            char does = seconds.charAt(second % seconds.length());
            content.received(
                    switch (does) {
                        case 't' -> 10;
                        case 'r' -> 500;
                        case 'm' -> 10_000;
                        default -> 0;
                    });
            if (does == 'p') {
                content.pause();
            }
            now += SECOND;
            if (content.checkTooSlow(now, does != 'w', rate, WINDOW)) {
                assertEquals(expected, second + 1);
                return;
            }
        }
        assertEquals(expected, 0);
    }
}
