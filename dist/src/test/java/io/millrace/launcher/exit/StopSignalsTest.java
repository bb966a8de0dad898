package io.millrace.launcher.exit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StopSignalsTest {
    private final AtomicInteger heard = new AtomicInteger();
    private final AtomicInteger givenUp = new AtomicInteger();
    private final StopSignals signals = new StopSignals(givenUp::incrementAndGet);

    @Test
    void aSignalBeforeTheListenerIsDeliveredToIt() {
        signals.received();
        assertEquals(0, heard.get());
        signals.onSignal(heard::incrementAndGet);
        assertEquals(1, heard.get());
        signals.received();
        assertEquals(2, heard.get());
        assertEquals(0, givenUp.get());
    }

    @Test
    void withoutASignalNothingIsReported() {
        signals.onSignal(heard::incrementAndGet);
        assertEquals(0, heard.get());
    }

    @Test
    void aSecondUnhandledSignalEndsAHangingStart() {
        signals.received();
        assertEquals(0, givenUp.get());
        signals.received();
        assertEquals(1, givenUp.get());
    }
}
