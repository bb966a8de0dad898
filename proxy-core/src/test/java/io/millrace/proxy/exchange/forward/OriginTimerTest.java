package io.millrace.proxy.exchange.forward;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.overload.Overload;
import org.junit.jupiter.api.Test;

/** Tests that a timer without a request to an origin reports nothing. */
class OriginTimerTest {
    @Test
    void withoutARequestNoGaugeIsLookedUp() {
        // The plan is null, so that looking up the gauge of its rule would fail.
        OriginTimer timer = new OriginTimer(new LoopCounters(), new Overload(), null);
        assertDoesNotThrow(timer::cancelled);
    }
}
