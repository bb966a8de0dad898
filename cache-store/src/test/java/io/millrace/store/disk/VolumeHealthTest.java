package io.millrace.store.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class VolumeHealthTest {
    private static final Map<VolumeState, Set<VolumeState>> MOVES = Map.of(
            VolumeState.OPENING,
                    EnumSet.of(VolumeState.ONLINE, VolumeState.OFFLINE, VolumeState.SUSPENDED, VolumeState.CLOSED),
            VolumeState.ONLINE,
                    EnumSet.of(VolumeState.OFFLINE, VolumeState.RELEASED, VolumeState.SUSPENDED, VolumeState.CLOSED),
            VolumeState.RELEASED, EnumSet.of(VolumeState.SUSPENDED, VolumeState.CLOSED),
            VolumeState.OFFLINE, EnumSet.of(VolumeState.SUSPENDED, VolumeState.CLOSED),
            VolumeState.SUSPENDED, EnumSet.of(VolumeState.CLOSED),
            VolumeState.CLOSED, EnumSet.noneOf(VolumeState.class));

    private final AtomicInteger offline = new AtomicInteger();

    private VolumeHealth health(VolumeState first) {
        return new VolumeHealth(Path.of("/v"), first, offline::incrementAndGet);
    }

    @Test
    void goesFromEachStateToTheseOnly() {
        for (VolumeState from : VolumeState.values()) {
            for (VolumeState to : VolumeState.values()) {
                assertEquals(MOVES.get(from).contains(to), from.mayBecome(to), from + " to " + to);
                VolumeHealth health = health(from);
                assertEquals(from, health.end(to));
                assertEquals(from.mayBecome(to) ? to : from, health.state());
            }
        }
    }

    @Test
    void theEndOfARebuildDoesNotRestoreVolumesRemovedByErrors() {
        VolumeHealth health = health(VolumeState.OPENING);
        for (int i = 0; i < Volume.ERRORS_IN_A_ROW_MAX; i++) {
            health.failed(new IOException("Input/output error"));
        }
        assertFalse(health.opened());
        assertEquals(VolumeState.OFFLINE, health.state());
        assertEquals(1, offline.get());
    }

    @Test
    void anErrorAfterTheEndDoesNotChangeIt() {
        VolumeHealth health = health(VolumeState.ONLINE);
        health.end(VolumeState.SUSPENDED);
        health.takeOffline(new IOException("late"));
        assertEquals(VolumeState.SUSPENDED, health.state());
        assertEquals(0, offline.get());
    }

    @Test
    void aFailedIndexEndsItAtOnceAndOnce() {
        VolumeHealth health = health(VolumeState.ONLINE);
        health.indexFailed(new InternalError("a fault occurred in an unsafe memory access operation"));
        health.indexFailed(new InternalError("another"));
        assertEquals(VolumeState.OFFLINE, health.state());
        assertEquals(1, offline.get());
        IOException last = health.lastError();
        assertNotNull(last);
        assertTrue(last.toString().contains("a fault occurred"), last::toString);
        assertThrows(IOException.class, health::checkWorking);
    }

    @Test
    void onlyErrorsInARowCount() {
        VolumeHealth health = health(VolumeState.ONLINE);
        for (int i = 0; i < 3 * Volume.ERRORS_IN_A_ROW_MAX; i++) {
            if (i % (Volume.ERRORS_IN_A_ROW_MAX - 1) == 0) {
                health.succeeded();
            }
            health.failed(new IOException("Input/output error"));
        }
        assertEquals(VolumeState.ONLINE, health.state());
        assertEquals(3 * Volume.ERRORS_IN_A_ROW_MAX, health.errors());
    }
}
