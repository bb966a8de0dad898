package io.millrace.cli.command.support;

import io.millrace.cli.bundle.BundleContent;
import io.millrace.cli.bundle.Redaction;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the files of a support bundle from this machine, without the admin API. Confined to one thread. Blocks. */
final class LocalParts {
    private static final Path PROC = Path.of("/proc");
    private static final int FILE_BYTES_MAX = 256 << 10;
    private static final int LIST_MAX = 500;
    private static final int LIST_DEPTH = 2;
    private static final long COMMAND_SECONDS = 10;
    private static final int CRASH_REPORTS_MAX = 2;

    /** Files of the system that are copied: name in the bundle, then path. */
    private static final List<List<String>> SYSTEM = List.of(
            List.of("os/kernel.txt", "/proc/version"),
            List.of("os/release.txt", "/etc/os-release"),
            List.of("os/memory.txt", "/proc/meminfo"),
            List.of("os/load.txt", "/proc/loadavg"),
            List.of("os/sockets.txt", "/proc/net/sockstat"));

    /** Files with limits and load of the kernel and the container. */
    private static final List<String> LIMITS = List.of(
            "/proc/sys/fs/file-max",
            "/proc/sys/fs/nr_open",
            "/proc/sys/net/core/somaxconn",
            "/proc/sys/net/ipv4/tcp_mem",
            "/proc/sys/net/ipv4/ip_local_port_range",
            "/proc/sys/net/ipv4/ip_unprivileged_port_start",
            "/proc/sys/vm/max_map_count",
            "/proc/sys/vm/overcommit_memory",
            "/proc/sys/vm/swappiness",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/cpu.max",
            "/proc/pressure/memory",
            "/proc/pressure/io",
            "/proc/pressure/cpu");

    private final BundleContent content;
    private final Redaction redaction;

    LocalParts(BundleContent content, Redaction redaction) {
        this.content = content;
        this.redaction = redaction;
    }

    /**
     * Adds versions, memory, load and limits of the system, and the free disk space.
     *
     * @param places the directories whose file systems are examined
     */
    void system(List<Path> places) {
        for (List<String> file : SYSTEM) {
            copy(file.get(0), Path.of(file.get(1)));
        }
        StringBuilder limits = new StringBuilder();
        for (String file : LIMITS) {
            String text = contentOf(Path.of(file));
            limits.append(file)
                    .append(": ")
                    .append(text == null ? "unknown" : text.strip().replace('\n', ' '))
                    .append('\n');
        }
        limits.append("processors: ")
                .append(Runtime.getRuntime().availableProcessors())
                .append('\n');
        content.add("os/limits.txt", limits.toString());
        StringBuilder space = new StringBuilder();
        for (Path place : places) {
            space.append(place).append(": ").append(spaceOf(place)).append('\n');
        }
        content.add("os/space.txt", space.toString());
    }

    private static String spaceOf(Path place) {
        try {
            FileStore store = Files.getFileStore(place);
            return store.type() + ", " + store.getUsableSpace() + " of " + store.getTotalSpace() + " bytes free"
                    + (store.isReadOnly() ? ", read-only" : "");
        } catch (IOException e) {
            return reason(e);
        }
    }

    /** Adds data about a JVM process: command line, limits, memory, stacks, JVM flags and heap. */
    void process(long pid) {
        Path process = PROC.resolve(Long.toString(pid));
        String folder = "process/" + pid + "/";
        String line = contentOf(process.resolve("cmdline"));
        if (line == null) {
            content.addMissing(folder, Files.exists(process) ? "permission denied" : "the process does not run");
            return;
        }
        content.add(folder + "command.txt", redaction.text(String.join("\n", line.split("\0", -1)) + "\n"));
        copy(folder + "limits.txt", process.resolve("limits"));
        copy(folder + "status.txt", process.resolve("status"));
        Path jcmd = Path.of(System.getProperty("java.home", "/"), "bin", "jcmd");
        if (!Files.isExecutable(jcmd)) {
            content.addMissing(folder + "stacks.txt", "this Java has no jcmd");
            return;
        }
        command(folder + "stacks.txt", List.of(jcmd.toString(), Long.toString(pid), "Thread.print", "-l"));
        command(folder + "flags.txt", List.of(jcmd.toString(), Long.toString(pid), "VM.flags"));
        command(folder + "heap.txt", List.of(jcmd.toString(), Long.toString(pid), "GC.heap_info"));
    }

    /** Adds the output of a command. If the command fails or takes longer than 10 seconds, records the reason. */
    void command(String name, List<String> line) {
        Path output = null;
        try {
            output = Files.createTempFile("millrace-support-", ".txt");
            Process process = new ProcessBuilder(line)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                content.addMissing(name, line.get(0) + " took longer than " + COMMAND_SECONDS + " s");
            } else if (process.exitValue() != 0) {
                content.addMissing(name, line.get(0) + " ended with exit code " + process.exitValue());
            } else {
                content.add(name, redaction.log(tail(output, Integer.MAX_VALUE, BundleContent.PART_BYTES_MAX)));
            }
        } catch (IOException e) {
            content.addMissing(name, reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            content.addMissing(name, "interrupted");
        } finally {
            delete(output);
        }
    }

    private static void delete(@Nullable Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                // The file may stay in the temporary directory, since only its owner can read it.
            }
        }
    }

    /** Adds the last lines of the systemd service's journal. */
    void journal(int lines) {
        if (Files.isDirectory(Path.of("/run/systemd/system"))) {
            command(
                    "log/journal.txt",
                    List.of(
                            "journalctl",
                            "-u",
                            "millrace",
                            "-n",
                            Integer.toString(lines),
                            "--no-pager",
                            "-o",
                            "short-iso"));
        } else {
            content.addMissing("log/journal.txt", "no systemd; add the launcher's log with --log FILE");
        }
    }

    /** Adds the last lines of a log file. */
    void log(String name, Path file, int lines) {
        try {
            content.add(name, redaction.log(tail(file, lines, BundleContent.PART_BYTES_MAX)));
        } catch (IOException e) {
            content.addMissing(name, file + ": " + reason(e));
        }
    }

    /** Adds the newest crash reports of the JVM in a log directory. */
    void crashes(Path directory) {
        List<Path> reports = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "hs_err_pid*.log")) {
            found.forEach(reports::add);
        } catch (IOException e) {
            // The log directory may be elsewhere.
            return;
        }
        reports.sort((one, other) -> Long.compare(modified(other), modified(one)));
        for (Path report : reports.subList(0, Math.min(CRASH_REPORTS_MAX, reports.size()))) {
            String text = contentOf(report);
            if (text == null) {
                content.addMissing("log/" + report.getFileName(), "cannot be read");
            } else {
                content.add("log/" + report.getFileName(), redaction.log(text));
            }
        }
    }

    private static long modified(Path file) {
        try {
            return Files.getLastModifiedTime(file).toMillis();
        } catch (IOException e) {
            return 0;
        }
    }

    /** Adds a configuration file or a file of JVM options, and removes secrets from it. */
    void config(String name, Path file) {
        String text = contentOf(file);
        if (text == null) {
            content.addMissing(name, file + ": " + (Files.exists(file) ? "permission denied" : "no such file"));
        } else {
            content.add(name, redaction.text(text));
        }
    }

    /** Adds the files of JVM options, both of the product and of the operator. */
    void options(ProcessEnvironment environment) {
        Path product = environment.productHome();
        List<Path> folders = new ArrayList<>(List.of(Path.of("/etc/millrace/jvm.options.d")));
        if (product != null) {
            folders.add(product.resolve("conf"));
            folders.add(product.resolve("conf/jvm.options.d"));
        }
        for (Path folder : folders) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.options")) {
                for (Path file : files) {
                    config("jvm/" + file.getFileName(), file);
                }
            } catch (IOException e) {
                // The directory is optional. If a file in it cannot be read, config() records the reason.
            }
        }
    }

    /** Adds a list of the files in a state directory, with size, time and mode, but without content. */
    void listing(Path directory) {
        List<String> lines = new ArrayList<>();
        list(directory, LIST_DEPTH, lines);
        Collections.sort(lines);
        content.add("state/files.txt", String.join("\n", lines) + "\n");
    }

    private static void list(Path directory, int depth, List<String> lines) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (lines.size() >= LIST_MAX) {
                    return;
                }
                BasicFileAttributes attributes =
                        Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                lines.add(entry + (attributes.isDirectory() ? "/" : "") + "  " + attributes.size() + "  "
                        + attributes.lastModifiedTime() + "  " + mode(entry));
                if (attributes.isDirectory() && depth > 1) {
                    list(entry, depth - 1, lines);
                }
            }
        } catch (IOException e) {
            lines.add(directory + ": " + reason(e));
        }
    }

    private static String mode(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS)) + " "
                    + Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).getName();
        } catch (IOException | UnsupportedOperationException e) {
            return "?";
        }
    }

    private void copy(String name, Path file) {
        String text = contentOf(file);
        if (text == null) {
            content.addMissing(name, file + " cannot be read");
        } else {
            content.add(name, text);
        }
    }

    /** Returns the beginning of a file, at most 256 KiB; null if it cannot be read. */
    static @Nullable String contentOf(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(FILE_BYTES_MAX), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Returns the last lines of a file.
     *
     * @param bytesMax limit of bytes at the end of the file that are read
     */
    static String tail(Path file, int lines, int bytesMax) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            long length = in.length();
            byte[] end = new byte[(int) Math.min(length, bytesMax)];
            in.seek(length - end.length);
            in.readFully(end);
            int start = end.length;
            int left = lines;
            // The search begins before the final line end, which belongs to the last line.
            for (int at = end.length - 2; at >= 0 && left > 0; at--) {
                if (end[at] == '\n') {
                    left--;
                }
                start = left == 0 ? at + 1 : at;
            }
            return new String(
                    end, end.length < 2 ? 0 : start, end.length - (end.length < 2 ? 0 : start), StandardCharsets.UTF_8);
        }
    }

    private static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "no such file";
        }
        return e instanceof AccessDeniedException ? "permission denied" : String.valueOf(e.getMessage());
    }
}
