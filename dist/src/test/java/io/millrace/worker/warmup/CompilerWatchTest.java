package io.millrace.worker.warmup;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CompilerWatchTest {
    private static final long ENOUGH = 10;

    private long millis;
    private long compilation;
    private long requests;

    private final CompilerWatch watch = new CompilerWatch(() -> millis * 1_000_000, () -> compilation);

    private boolean isQuietAfter(long passed, long compiled, long answered) {
        millis += passed;
        compilation += compiled;
        requests += answered;
        return watch.checkIdle(requests, ENOUGH);
    }

    @Test
    void isQuietAfterTwoWindowsWithoutCompilation() {
        assertFalse(isQuietAfter(500, 0, 100));
        assertTrue(isQuietAfter(500, 20, 100));
    }

    @Test
    void oneWindowWithCompilationBeginsAnew() {
        assertFalse(isQuietAfter(500, 0, 100));
        assertFalse(isQuietAfter(500, 21, 100));
        assertFalse(isQuietAfter(500, 0, 100));
        assertTrue(isQuietAfter(500, 0, 100));
    }

    @Test
    void aWindowLastsUntilThereWasEnoughLoad() {
        assertFalse(isQuietAfter(500, 0, 100));
        assertFalse(isQuietAfter(5000, 0, 9));
        assertTrue(isQuietAfter(1, 0, 1));
    }

    @Test
    void isNeverQuietWhereNothingIsKnown() {
        compilation = -1;
        CompilerWatch unknown = new CompilerWatch(() -> millis * 1_000_000, () -> compilation);
        for (int window = 0; window < 4; window++) {
            millis += 500;
            requests += 100;
            assertFalse(unknown.checkIdle(requests, ENOUGH));
        }
    }
}
