package io.millrace.worker.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
        ThreadPriority.lowerC2();
        for (String id : c2) {
            assertEquals(Math.max(before, 5), nice(id));
        }
        assertEquals(before, nice(c1.get(0)));
        assertFalse(c1.isEmpty());
    }

    /** The lower priorities of C1 are not tried here: they would slow down the following tests of this JVM. */
    @Test
    void theCompilersAndTheSweeperAreFoundByName() throws IOException {
        List<String> found = namesOf(ThreadPriority.named(TASKS, ThreadPriority.COMPILERS_AND_SWEEPER));
        assertTrue(found.contains("C1"), found::toString);
        // The JVM of a test may have no C2, and later JVMs have no sweeper.
        assertTrue(List.of("C1", "C2", "Sw").containsAll(found), found::toString);
        assertTrue(
                ThreadPriority.COMPILERS_AND_SWEEPER.matcher("Sweeper thread").matches());
        assertFalse(
                ThreadPriority.COMPILERS_AND_SWEEPER.matcher("millrace-loop-1").matches());
    }

    /** Returns the first two characters of the names of threads. */
    private static List<String> namesOf(List<String> ids) throws IOException {
        Set<String> names = new TreeSet<>();
        for (String id : ids) {
            names.add(Files.readString(TASKS.resolve(id).resolve("comm")).substring(0, 2));
        }
        return List.copyOf(names);
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
