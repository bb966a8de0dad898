package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The class archive of the workers of an unpacked product. */
final class WorkerArchive {
    private static final Duration BEGUN_WITHIN = Duration.ofMinutes(1);
    private static final Duration RECORDED_WITHIN = Duration.ofMinutes(10);

    private static final Pattern RECORDED = Pattern.compile("-XX:(?:ArchiveClassesAtExit|AOTCacheOutput)=(.*)");

    private WorkerArchive() {}

    /**
     * Returns the archive of the first start in {@code home}. It is recorded as by the launcher, but not at the lowest
     * priority, at which it would take hours beside other work.
     */
    static Path recordedBy(MillraceProcess proxy, Path home) {
        AtomicReference<ProcessHandle> begun = new AtomicReference<>();
        await("a recording begins, or is done").atMost(BEGUN_WITHIN).until(() -> {
            training(proxy).ifPresent(begun::set);
            return begun.get() != null || !in(home).isEmpty();
        });
        try {
            ProcessHandle slow = begun.get();
            if (slow != null) {
                List<String> line = new ArrayList<>(commandLine(slow));
                slow.destroyForcibly();
                slow.onExit().get();
                if (in(home).isEmpty()) {
                    finish(line, home);
                }
            }
            return in(home).get(0);
        } catch (IOException | InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs the command of a recording again in a separate directory, and renames its result. */
    private static void finish(List<String> line, Path home) throws IOException {
        Path directory = Files.createTempDirectory("mr-");
        line.set(line.size() - 1, directory.toString());
        Command.run(home, RECORDED_WITHIN, line).succeeds();
        // The recorded warm-up removes it by itself.
        if (Files.exists(directory)) {
            PackedProduct.delete(directory);
        }
        Path written = Path.of(line.stream()
                .map(RECORDED::matcher)
                .filter(Matcher::matches)
                .map(option -> option.group(1))
                .findAny()
                .orElseThrow());
        String name = written.getFileName().toString();
        Files.move(written, written.resolveSibling(name.substring(1, name.lastIndexOf('.'))));
    }

    private static Optional<ProcessHandle> training(MillraceProcess proxy) {
        return ProcessHandle.of(proxy.pid())
                .orElseThrow()
                .descendants()
                .filter(process -> commandLine(process).contains("io.millrace.worker.TrainingRun"))
                .findAny();
    }

    /** Returns an empty list for a process that has ended. */
    private static List<String> commandLine(ProcessHandle process) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
            List<String> words = List.of(line.split("\0", -1));
            // Before it is the JVM it is nice(1).
            return words.get(0).endsWith("java") ? words.subList(0, words.size() - 1) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns the archives of an unpacked product. */
    static List<Path> in(Path home) throws IOException {
        List<Path> archives = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(home.resolve("lib"), "worker-*.archive")) {
            files.forEach(archives::add);
        }
        return archives;
    }
}
