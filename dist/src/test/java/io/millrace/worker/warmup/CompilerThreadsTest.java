package io.millrace.worker.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompilerThreadsTest {
    @TempDir
    Path tasks;

    private void thread(String id, String name, long user, long system) throws IOException {
        Path directory = Files.createDirectories(tasks.resolve(id));
        Files.writeString(
                directory.resolve("stat"),
                id + " (" + name + ") S 1 1 1 0 -1 4194368 7 0 0 0 " + user + " " + system + " 0 0 20 0 9 0 77\n");
    }

    @Test
    void addsTheTimeOfBothCompilersAlsoOfThoseThatHaveEnded() throws IOException {
        CompilerThreads threads = new CompilerThreads(tasks);
        thread("10", "C2 CompilerThre", 5, 1);
        thread("11", "C1 CompilerThre", 2, 0);
        thread("12", "millrace-loop-1", 900, 100);
        assertEquals(80, threads.cpuMillis());
        Files.delete(tasks.resolve("10/stat"));
        thread("13", "C2 CompilerThre", 1, 0);
        assertEquals(90, threads.cpuMillis());
    }

    @Test
    void isNotKnownWhereTheKernelDoesNotTell() {
        assertEquals(-1, new CompilerThreads(tasks).cpuMillis());
        assertEquals(-1, new CompilerThreads(tasks.resolve("none")).cpuMillis());
    }

    @Test
    void isKnownOnLinux() {
        assertTrue(CompilerThreads.ofThisProcess().cpuMillis() >= 0);
    }
}
