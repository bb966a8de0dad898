package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerIdentityTest {
    @TempDir
    Path directory;

    private Path file;
    private WorkerIdentity identity;

    @BeforeEach
    void names() {
        file = directory.resolve("worker.pid");
        identity = new WorkerIdentity(file);
    }

    @Test
    void findsTheProcessThatWasWritten() {
        identity.write(ProcessHandle.current(), 7);

        WorkerIdentity.Survivor survivor = identity.find().orElseThrow();
        assertEquals(ProcessHandle.current().pid(), survivor.process().pid());
        assertEquals(7, survivor.generation());
    }

    @Test
    void takesNoOtherProcessOfTheSameIdForIt() throws IOException {
        Files.writeString(file, ProcessHandle.current().pid() + " 7 " + Instant.EPOCH);

        assertTrue(identity.find().isEmpty());
    }

    @Test
    void findsNothingInAFileThatIsDamagedOrMissing() throws IOException {
        assertTrue(identity.find().isEmpty());
        Files.writeString(file, "seventeen 7");
        assertTrue(identity.find().isEmpty());
    }

    @Test
    void forgets() {
        identity.write(ProcessHandle.current(), 7);
        identity.clear();

        assertFalse(Files.exists(file));
    }
}
