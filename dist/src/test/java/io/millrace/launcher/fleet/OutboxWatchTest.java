package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests the watch of the outbox with a real directory. */
class OutboxWatchTest {
    @TempDir
    Path directory;

    private final Semaphore wakeUps = new Semaphore(0);

    @Test
    @EnabledOnOs(OS.LINUX)
    void eachWriteWakesTheThreadOfTheFleet() throws Exception {
        Path fleet = directory.resolve("fleet");
        try (OutboxWatch watch = OutboxWatch.begin(fleet, wakeUps::release)) {
            assertTrue(watch.isActive());
            FleetOutboxFile outbox = new FleetOutboxFile(fleet);
            for (int i = 0; i < 3; i++) {
                wakeUps.drainPermits();
                outbox.append(List.of("line\n".getBytes(StandardCharsets.US_ASCII)));
                wakeUps.acquire();
            }
            outbox.removeBefore(outbox.size());
            wakeUps.drainPermits();
            outbox.append(List.of("line\n".getBytes(StandardCharsets.US_ASCII)));
            wakeUps.acquire();
        }
    }

    /** The poll of the outbox still finds purges where a directory cannot be watched. */
    @Test
    void aDirectoryThatCannotBeWatchedIsNoFailure() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        try (OutboxWatch watch = OutboxWatch.begin(file.resolve("fleet"), wakeUps::release)) {
            assertTrue(!watch.isActive());
        }
    }
}
