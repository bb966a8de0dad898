package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests levels of resets, faults and control frames: the permitted rates, and their decay. */
class FloodGuardTest {
    /** Ticks in the 30 s of a limit. */
    private static final int WINDOW_TICKS = 120;

    private record Level(String name, Http2Fault fault, int max, Event event) {
        interface Event {
            void happen(FloodGuard guard, Http2Settings settings) throws Http2Exception;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final Http2Settings SETTINGS =
            new Http2Settings(100, 65_536, 10, 20, 130, 0, 0, 65_536, 1, 1, 1, 0, 1, 1);

    static Stream<Level> levels() {
        return Stream.of(
                new Level("resets", Http2Fault.RESETS, SETTINGS.resetsMax(), FloodGuard::countReset),
                new Level("faults", Http2Fault.STREAM_FAULTS, SETTINGS.streamFaultsMax(), FloodGuard::streamFault),
                new Level("control", Http2Fault.CONTROL_FRAMES, SETTINGS.controlFramesMax(), FloodGuard::controlFrame));
    }

    private static int allowed(FloodGuard guard, Level level) {
        int allowed = 0;
        try {
            while (allowed <= 1_000_000) {
                level.event().happen(guard, SETTINGS);
                allowed++;
            }
        } catch (Http2Exception e) {
            assertEquals(ErrorCode.ENHANCE_YOUR_CALM, e.code());
            assertEquals(level.fault(), e.fault());
            assertEquals(Http2Exception.CONNECTION, e.streamId());
        }
        return allowed;
    }

    @ParameterizedTest
    @MethodSource("levels")
    void allowsUpToTheLimitAtOnce(Level level) {
        assertEquals(level.max(), allowed(new FloodGuard(), level));
    }

    /** A level falls by the limit within a window, whatever tick of the window it began at. */
    @ParameterizedTest
    @MethodSource("levels")
    void fallsByTheLimitWithinTheWindow(Level level) throws Exception {
        for (int begin = 0; begin < WINDOW_TICKS; begin += 7) {
            FloodGuard guard = new FloodGuard();
            Consumer<Integer> ticks = count -> {
                for (int i = 0; i < count; i++) {
                    guard.onTick(SETTINGS);
                }
            };
            ticks.accept(begin);
            for (int i = 0; i < level.max(); i++) {
                level.event().happen(guard, SETTINGS);
            }
            ticks.accept(WINDOW_TICKS);
            assertEquals(level.max(), allowed(guard, level), "from tick " + begin);
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void endsAClientThatStaysAboveTheRate(Level level) {
        FloodGuard guard = new FloodGuard();
        assertThrows(Http2Exception.class, () -> {
            for (int tick = 0; tick < 10 * WINDOW_TICKS; tick++) {
                // One and a half times the permitted rate.
                int due =
                        3 * level.max() * (tick + 1) / (2 * WINDOW_TICKS) - 3 * level.max() * tick / (2 * WINDOW_TICKS);
                for (int i = 0; i < due; i++) {
                    level.event().happen(guard, SETTINGS);
                }
                guard.onTick(SETTINGS);
            }
        });
    }

    /** Two WINDOW_UPDATE frames for each DATA frame are free, up to a limit. */
    @Test
    void sentContentEarnsControlFrames() {
        Level control = levels().toList().get(2);
        FloodGuard guard = new FloodGuard();
        for (int i = 0; i < 50; i++) {
            guard.allowWindowUpdates();
        }
        assertEquals(control.max() + 100, allowed(guard, control));
        FloodGuard busy = new FloodGuard();
        for (int i = 0; i < 1_000_000; i++) {
            busy.allowWindowUpdates();
        }
        assertEquals(control.max() + 20_000, allowed(busy, control));
    }
}
