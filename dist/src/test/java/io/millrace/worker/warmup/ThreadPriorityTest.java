package io.millrace.worker.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Threads of a warm-up and the C2 compiler have a lower priority; other threads keep theirs. */
class ThreadPriorityTest {
    private static final Path TASKS = Path.of("/proc/self/task");

    /** Index of the nice value among the fields after the name in {@code stat}; the first one is the state. */
    private static final int NICE = 16;

    @Test
    void threadsOfALowThreadAreLowToo() throws Exception {
        CompletableFuture<Integer> own = new CompletableFuture<>();
        CompletableFuture<Integer> child = new CompletableFuture<>();
        int before = nice(ownId());
        Thread thread = new Thread(() -> {
            ThreadPriority.lowerOwn();
            own.complete(nice(ownId()));
            new Thread(() -> child.complete(nice(ownId())), "priority-child").start();
        });
        thread.start();
        assertEquals(Math.max(before, 5), own.get());
        assertEquals(own.get(), child.get());
        assertEquals(before, nice(ownId()), "the caller's own thread");
    }

    @Test
    void theC2CompilerIsLowAndC1KeepsItsPriority() throws IOException {
        List<String> c2 = ThreadPriority.named(TASKS, Pattern.compile("C2 Compiler.*"));
        List<String> c1 = ThreadPriority.named(TASKS, Pattern.compile("C1 Compiler.*"));
        int before = nice(c1.get(0));
        ThreadPriority.lowerCompiler();
        for (String id : c2) {
            assertEquals(Math.max(before, 5), nice(id));
        }
        assertEquals(before, nice(c1.get(0)));
        assertFalse(c1.isEmpty());
    }

    private static String ownId() {
        try {
            return String.valueOf(
                    Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int nice(String id) {
        try {
            String stat = Files.readString(TASKS.resolve(id).resolve("stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[NICE]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
