package io.millrace.launcher;

import static org.awaitility.Awaitility.await;

import io.millrace.launcher.process.ArchiveRecorder;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArchiveRecorderTest {
    @Test
    void endsWithTheJvmThatWritesForIt() throws IOException {
        Process recording = new ProcessBuilder("sh", "-c", "sleep 600; true").start();
        await().until(() -> recording.descendants().count() == 1);
        ProcessHandle writing = recording.descendants().findAny().orElseThrow();
        ArchiveRecorder.end(recording);

        await().until(() -> !recording.isAlive());
        await().until(() -> Optional.of(writing).filter(ProcessHandle::isAlive).isEmpty());
    }
}
