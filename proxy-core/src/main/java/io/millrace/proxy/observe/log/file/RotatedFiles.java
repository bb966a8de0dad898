package io.millrace.proxy.observe.log.file;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The rotated files of a log, in the directory of the log. Names contain the time of rotation. If there are more files
 * than configured, the oldest are deleted. Compressed files ({@code .gz}, {@code .zst}, {@code .xz}, {@code .bz2})
 * count too; files with any other name are not touched. Confined to one thread.
 */
public final class RotatedFiles {
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final int STAMP_LENGTH = "20261120T110000Z".length();
    /** The endings of rotated files. The empty ending is that of a file that is not compressed. */
    private static final List<String> ENDINGS = List.of("", ".gz", ".zst", ".xz", ".bz2");

    /** Limit of rotations within one second. No reasonable rotation size reaches it. */
    private static final int MAX_IN_ONE_SECOND = 1000;

    private final Path file;
    private final Path directory;
    private final String prefix;
    /** Number of rotated files to keep; 0 keeps all. */
    private final int keepCount;

    /** A rotated file with its sort keys: the time, then the number within that second. */
    private record Rotated(String stamp, int number, Path path) implements Comparable<Rotated> {
        @Override
        public int compareTo(Rotated other) {
            int byTime = stamp.compareTo(other.stamp);
            return byTime != 0 ? byTime : Integer.compare(number, other.number);
        }
    }

    /**
     * Creates the view of the rotated files of a log.
     *
     * @param keepCount number of files to keep; 0 keeps all
     */
    public RotatedFiles(Path file, int keepCount) {
        Path parent = file.getParent();
        Path name = file.getFileName();
        if (parent == null || name == null) {
            throw new IllegalArgumentException("not the path of a file: " + file);
        }
        this.file = file;
        this.directory = parent;
        this.prefix = name + ".";
        this.keepCount = keepCount;
    }

    /** Renames the log file to an unused name, which sorts after the names of earlier files. */
    public void add(long nowMillis) throws IOException {
        String stamp = STAMP.format(Instant.ofEpochMilli(nowMillis));
        String stamped = prefix + stamp;
        // Begins after the highest number of this second. Lower numbers may be unused, because their files were
        // deleted.
        for (int number = nextNumber(stamp); number < MAX_IN_ONE_SECOND; number++) {
            Path target = directory.resolve(number == 0 ? stamped : stamped + "-" + number);
            if (!Files.exists(target)) {
                Files.move(file, target);
                return;
            }
        }
        throw new FileAlreadyExistsException(stamped);
    }

    private int nextNumber(String stamp) throws IOException {
        int next = 0;
        for (Rotated one : rotated()) {
            next = one.stamp().equals(stamp) ? one.number() + 1 : next;
        }
        return next;
    }

    /** Deletes the oldest files if there are more than configured. */
    public void prune() throws IOException {
        if (keepCount == 0) {
            return;
        }
        List<Path> found = files();
        for (int i = 0; i < found.size() - keepCount; i++) {
            Files.deleteIfExists(found.get(i));
        }
    }

    /** Returns the rotated files, oldest first. */
    public List<Path> files() throws IOException {
        return rotated().stream().map(Rotated::path).toList();
    }

    /** Returns true if the name of a rotated file has the ending of a compressed file. */
    public static boolean isCompressed(Path file) {
        String name = String.valueOf(file.getFileName());
        return ENDINGS.stream().anyMatch(ending -> !ending.isEmpty() && name.endsWith(ending));
    }

    private List<Rotated> rotated() throws IOException {
        List<Rotated> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                Rotated one = parse(entry);
                if (one != null) {
                    found.add(one);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        Collections.sort(found);
        return found;
    }

    private @Nullable Rotated parse(Path entry) {
        String name = String.valueOf(entry.getFileName());
        if (!name.startsWith(prefix) || name.length() < prefix.length() + STAMP_LENGTH) {
            return null;
        }
        int end = prefix.length() + STAMP_LENGTH;
        String stamp = name.substring(prefix.length(), end);
        if (!isStamp(stamp)) {
            return null;
        }
        int number = 0;
        if (end < name.length() && name.charAt(end) == '-') {
            int digit = end + 1;
            while (digit < name.length() && isDigit(name.charAt(digit)) && number < MAX_IN_ONE_SECOND) {
                number = number * 10 + name.charAt(digit++) - '0';
            }
            if (digit == end + 1) {
                return null;
            }
            end = digit;
        }
        return ENDINGS.contains(name.substring(end)) ? new Rotated(stamp, number, entry) : null;
    }

    private static boolean isStamp(String stamp) {
        for (int i = 0; i < stamp.length(); i++) {
            char c = stamp.charAt(i);
            boolean fits =
                    switch (i) {
                        case 8 -> c == 'T';
                        case 15 -> c == 'Z';
                        default -> isDigit(c);
                    };
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
