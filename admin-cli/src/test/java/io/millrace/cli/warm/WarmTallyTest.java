package io.millrace.cli.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.cli.warm.WarmResult.Effect;
import org.junit.jupiter.api.Test;

/** Counts of results with more reasons than are kept. */
final class WarmTallyTest {
    private final WarmTally tally = new WarmTally();

    private void add(int count, String status) {
        for (int i = 0; i < count; i++) {
            tally.add(new WarmResult(Effect.ERROR, status + " detail " + i), 0);
        }
    }

    @Test
    void statusesBelow500AreNoFailuresAlsoBeyondTheLimitOfReasons() {
        add(30, "404");
        assertEquals(0, tally.failures());
        add(7, "503");
        assertEquals(7, tally.failures());
        assertEquals(37, tally.total());
    }
}
