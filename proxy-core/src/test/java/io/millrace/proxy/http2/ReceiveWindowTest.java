package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the receive window of a request's content, whose size may change at any time. */
class ReceiveWindowTest {
    private final ReceiveWindow window = new ReceiveWindow();

    @ParameterizedTest
    @CsvSource({
        // received of the first 65,535 bytes, size from then on, increment
        "0, 65535, 0",
        "32766, 65535, 0",
        "32768, 65535, 32768",
        "65535, 65535, 65535",
        "1, 262144, 196610",
        "1, 100000, 0",
        "20000, 100000, 54465",
        "60000, 16384, 10849",
        "10000, 16384, 0",
        "65535, 1, 1",
    })
    void smallIncrementsWait(int taken, int size, int increment) {
        assertTrue(window.take(taken));
        assertEquals(increment, window.enlarge(size));
    }

    @Test
    void moreThanTheWindowIsRefused() {
        assertFalse(window.take(65_536));
        assertTrue(window.take(65_535));
        assertFalse(window.take(1));
        assertTrue(window.take(0));
    }

    /**
     * With any sequence of sizes, a client that has used up the window receives another one, and never more than the
     * size.
     */
    @Test
    void neverStaysClosed() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int open = 65_535;
        for (int i = 0; i < 100_000; i++) {
            int taken = random.nextInt(4) == 0 ? open : random.nextInt(open + 1);
            assertTrue(window.take(taken), () -> "seed " + seed);
            open -= taken;
            int size = 1 << random.nextInt(25);
            int increment = window.enlarge(size);
            assertTrue(increment == 0 || open + increment == size, () -> "seed " + seed);
            open += increment;
            assertTrue(open > 0, () -> "seed " + seed);
        }
    }
}
