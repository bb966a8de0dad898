package io.millrace.launcher;

import static org.awaitility.Awaitility.await;

import io.millrace.launcher.process.RehearsalRun;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RehearsalRunTest {
    @Test
    void endsWithTheJvmThatWritesForIt() throws IOException {
        Process recording = new ProcessBuilder("sh", "-c", "sleep 600; true").start();
        await().until(() -> recording.descendants().count() == 1);
        ProcessHandle writing = recording.descendants().findAny().orElseThrow();
        RehearsalRun.end(recording);

        await().until(() -> !recording.isAlive());
        await().until(() -> Optional.of(writing).filter(ProcessHandle::isAlive).isEmpty());
    }
}
