package io.millrace.cli.command.shell;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * The history of the shell, stored in a file that only its owner can read. If the file cannot be used, the shell works
 * without a stored history. Confined to one thread.
 */
final class ShellHistory {
    /** Limit of lines in the history; the oldest are dropped. */
    static final int LINES_MAX = 1000;

    private static final int LINE_LENGTH_MAX = 4096;

    private final Path file;
    private final List<String> lines;

    private ShellHistory(Path file, List<String> lines) {
        this.file = file;
        this.lines = lines;
    }

    /** Reads the file; empty if it does not exist or cannot be read. */
    static ShellHistory read(Path file) {
        List<String> lines = new ArrayList<>();
        try {
            lines.addAll(Files.readAllLines(file, StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            // This is the first shell of the user.
            return new ShellHistory(file, lines);
        } catch (IOException e) {
            // The file is not UTF-8, or cannot be read: the shell starts with an empty history.
            return new ShellHistory(file, lines);
        }
        return new ShellHistory(file, last(lines));
    }

    private static List<String> last(List<String> lines) {
        return new ArrayList<>(lines.subList(Math.max(0, lines.size() - LINES_MAX), lines.size()));
    }

    /** Returns the lines, oldest first. */
    List<String> lines() {
        return lines;
    }

    /** Adds a line, unless it is blank, equals the last line, begins with a space or is too long. */
    void add(String line) {
        boolean repeated = !lines.isEmpty() && lines.get(lines.size() - 1).equals(line);
        if (!line.isBlank() && !line.startsWith(" ") && !repeated && line.length() <= LINE_LENGTH_MAX) {
            lines.add(line);
            if (lines.size() > LINES_MAX) {
                lines.remove(0);
            }
        }
    }

    /** Writes the lines and atomically replaces the file. Returns false if the file could not be written. */
    boolean save() {
        Path replacement = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.deleteIfExists(replacement);
            if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        replacement,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
            Files.write(replacement, lines, StandardCharsets.UTF_8);
            Files.move(replacement, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
