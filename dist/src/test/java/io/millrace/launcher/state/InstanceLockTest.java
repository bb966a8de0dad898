package io.millrace.launcher.state;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.LaunchException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class InstanceLockTest {
    @TempDir
    Path directory;

    @Test
    void namesTheHolder() throws Exception {
        Path file = directory.resolve("lock");
        String own = Long.toString(ProcessHandle.current().pid());
        try (InstanceLock lock = InstanceLock.acquire(file)) {
            assertEquals(own, Files.readString(file).strip(), lock::toString);
            LaunchException refused = assertThrows(LaunchException.class, () -> InstanceLock.acquire(file));
            assertTrue(refused.getMessage().contains("(pid " + own + ")"), refused::getMessage);
        }
        assertDoesNotThrow(() -> InstanceLock.acquire(file).close());
    }

    @Test
    void locksAFileAnewThatWasDeleted() throws Exception {
        Path file = directory.resolve("lock");
        try (InstanceLock lock = InstanceLock.acquire(file)) {
            assertFalse(lock.restore());
            Files.delete(file);
            assertTrue(lock.restore());
            assertFalse(lock.restore());
            LaunchException refused = assertThrows(LaunchException.class, () -> InstanceLock.acquire(file));
            assertTrue(refused.getMessage().contains("another millrace"), refused::getMessage);
        }
    }

    /** The lock is held in the kernel; only its owner cannot be read on a full disk. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void locksOnAFullDiskToo() {
        assertDoesNotThrow(() -> InstanceLock.acquire(Path.of("/dev/full")).close());
    }
}
