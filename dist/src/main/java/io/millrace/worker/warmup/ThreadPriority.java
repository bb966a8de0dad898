package io.millrace.worker.warmup;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lowers the scheduling priority of threads of this process with renice(1). A new thread has the priority of the thread
 * that created it.
 *
 * <p>A process without privileges cannot raise a priority again. So this class is only for threads that end soon, or
 * that always may have a lower priority. Failures are logged at debug level only, because the priority is an
 * optimization. Stateless.
 */
public final class ThreadPriority {
    /**
     * The nice value of the threads of a warm-up and of compilers. On a busy core a thread of an event loop then has
     * three times the CPU time of such a thread.
     */
    private static final int LOW_NICE = 5;

    /** The lowest priority, for the compilers of a worker that accepts no further request. */
    private static final int LOWEST_NICE = 19;

    private static final Logger LOG = LoggerFactory.getLogger(ThreadPriority.class);
    private static final long WAIT_MILLIS = 2_000;
    private static final Path TASKS = Path.of("/proc/self/task");

    /** Matches the names of C2 compiler threads, of which the kernel keeps 15 characters. */
    private static final Pattern C2 = Pattern.compile("C2 Compiler.*");

    /** Matches the names of compiler threads and of the thread that removes unused compiled code (up to Java 19). */
    static final Pattern COMPILERS_AND_SWEEPER = Pattern.compile("C[12] Compiler.*|Sweeper thread");

    private ThreadPriority() {}

    /** Lowers the priority of the calling thread. Blocks for some milliseconds. */
    static void lowerOwn() {
        try {
            // The target of the link has the format PID/task/TID.
            Path ownTask = Files.readSymbolicLink(Path.of("/proc/thread-self"));
            lower(List.of(String.valueOf(ownTask.getFileName())), LOW_NICE);
        } catch (IOException | UnsupportedOperationException e) {
            LOG.debug("the priority of a thread cannot be lowered: {}", e.toString());
        }
    }

    /**
     * Lowers the priority of the C2 compiler. Otherwise it would get as much CPU time as an event loop while it
     * compiles. C1 keeps its priority, because the interpreter is slower than any compiled code. Blocks for some
     * milliseconds.
     */
    public static void lowerC2() {
        lower(named(TASKS, C2), LOW_NICE);
    }

    /**
     * Lowers the priority of both compilers and of the thread that removes unused compiled code, after a warm-up. By
     * then, the JVM interprets little of the code that serves requests. Blocks for some milliseconds.
     */
    public static void lowerCompilers() {
        lower(named(TASKS, COMPILERS_AND_SWEEPER), LOW_NICE);
    }

    /**
     * Gives the compilers of a worker that accepts no further request the lowest priority: its successor needs the CPU
     * time, and compiled code is of little use to a process that ends soon. Blocks for some milliseconds.
     */
    public static void lowerCompilersForDrain() {
        lower(named(TASKS, COMPILERS_AND_SWEEPER), LOWEST_NICE);
    }

    /** Returns the ids of the threads with a matching name. */
    static List<String> named(Path tasks, Pattern name) {
        List<String> ids = new ArrayList<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                if (name.matcher(nameOf(thread)).matches()) {
                    ids.add(String.valueOf(thread.getFileName()));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("the threads of this process cannot be listed: {}", e.toString());
        }
        return ids;
    }

    /** Returns the name of a thread; empty if the thread has ended. */
    private static String nameOf(Path thread) {
        try {
            return Files.readString(thread.resolve("comm"), StandardCharsets.ISO_8859_1)
                    .strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static void lower(List<String> ids, int nice) {
        if (ids.isEmpty()) {
            return;
        }
        List<String> line = new ArrayList<>(List.of("renice", "-n", Integer.toString(nice), "-p"));
        line.addAll(ids);
        try {
            Process renice = new ProcessBuilder(line)
                    .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            if (!renice.waitFor(WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
                renice.destroyForcibly();
            }
        } catch (IOException e) {
            LOG.debug("the priority of threads cannot be lowered: {}", e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
