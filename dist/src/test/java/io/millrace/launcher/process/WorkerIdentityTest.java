package io.millrace.launcher.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
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
        identity.write(ProcessHandle.current(), 7, 2_000_000_000);

        WorkerIdentity.Survivor survivor = identity.find().orElseThrow();
        assertEquals(ProcessHandle.current().pid(), survivor.process().pid());
        assertEquals(7, survivor.generation());
        assertEquals(2_000_000_000, survivor.heartbeatTimeoutNanos());
    }

    /** The JDK computes the start time from the boot time, which moves with the clock. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void findsTheProcessAlsoWhenTheClockWasSetMeanwhile() {
        identity.write(startedAt(Instant.now().minus(Duration.ofDays(1))), 7, 1);

        assertEquals(
                ProcessHandle.current().pid(),
                identity.find().orElseThrow().process().pid());
    }

    private static ProcessHandle startedAt(Instant start) {
        ProcessHandle own = ProcessHandle.current();
        ProcessHandle.Info info = (ProcessHandle.Info) Proxy.newProxyInstance(
                ProcessHandle.Info.class.getClassLoader(),
                new Class<?>[] {ProcessHandle.Info.class},
                (proxy, method, arguments) -> Optional.of(start));
        return (ProcessHandle) Proxy.newProxyInstance(
                ProcessHandle.class.getClassLoader(),
                new Class<?>[] {ProcessHandle.class},
                (proxy, method, arguments) -> method.getName().equals("info") ? info : method.invoke(own, arguments));
    }

    @Test
    void readsTheFileOfAnEarlierLauncher() throws IOException {
        ProcessHandle own = ProcessHandle.current();
        Files.writeString(file, own.pid() + " 7 " + own.info().startInstant().orElseThrow() + "\n");

        assertEquals(7, identity.find().orElseThrow().generation());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void takesNoProcessOfAnotherBootForIt() throws IOException {
        identity.write(ProcessHandle.current(), 7, 1);
        String words = Files.readString(file);
        Files.writeString(file, words.replaceFirst("@[0-9a-f]", "@x"));

        assertTrue(identity.find().isEmpty());
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
        identity.write(ProcessHandle.current(), 7, 2_000_000_000);
        identity.clear();

        assertFalse(Files.exists(file));
    }
}
