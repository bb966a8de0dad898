package io.millrace.cli.log;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines that were added to a log since the last run, across rotations. First it finds the file that the last
 * run has read, even if the file was renamed since, and reads the remaining lines. Then it reads all newer rotated
 * files and the log itself. The file that was read before the last one is checked too, since a writer may notice a
 * rotation late. Confined to one thread.
 */
final class NewLines {
    /** Number of positions that are stored: one in the last file, and one in the file before it. */
    private static final int POSITIONS_KEPT = 2;

    private final Path log;
    private final Consumer<String> lineConsumer;
    private final Consumer<String> warnings;
    private final List<LogPosition> reached = new ArrayList<>();

    /** A file that may contain new lines: the log, or one of its rotated files. */
    private record Candidate(Path file, long modifiedMillis) {}

    private NewLines(Path log, Consumer<String> lineConsumer, Consumer<String> warnings) {
        this.log = log;
        this.lineConsumer = lineConsumer;
        this.warnings = warnings;
    }

    /**
     * Reads every new line.
     *
     * @param last the positions that the last run has returned, the newest last; empty for the first run, which reads
     *     the whole log but no rotated files
     * @param lineConsumer receives each line
     * @param warnings receives a message for each part that could not be read
     * @return the positions up to which files were read, the newest last
     */
    static List<LogPosition> read(
            Path log, List<LogPosition> last, Consumer<String> lineConsumer, Consumer<String> warnings)
            throws IOException {
        NewLines lines = new NewLines(log, lineConsumer, warnings);
        if (last.isEmpty()) {
            lines.read(new Candidate(log, modifiedMillis(log)), 0);
        } else {
            lines.readSince(last);
        }
        List<LogPosition> reached = lines.reached;
        return List.copyOf(reached.subList(Math.max(0, reached.size() - POSITIONS_KEPT), reached.size()));
    }

    /** Reads the lines after the positions of the last run. */
    private void readSince(List<LogPosition> last) throws IOException {
        List<Candidate> candidates = candidates();
        LogPosition newest = last.get(last.size() - 1);
        for (LogPosition before : last.subList(0, last.size() - 1)) {
            readFrom(find(before, false, candidates), before, candidates);
        }
        Candidate holder = find(newest, true, candidates);
        readFrom(holder, newest, candidates);
        if (holder == null) {
            warnings.accept("the log file of the last run, read up to byte " + newest.bytes() + ", is not found beside "
                    + log + ": lines written to that file since then are not counted");
        } else if (holder.file().equals(log)) {
            return;
        }
        long after = holder == null ? newest.modifiedMillis() : holder.modifiedMillis();
        for (Candidate candidate : candidates) {
            boolean isLog = candidate.file().equals(log);
            if (isLog || candidate.modifiedMillis() > after) {
                read(candidate, 0);
            }
        }
    }

    /** Reads the lines after a position in the file that was found for it; reads nothing if no file was found. */
    private void readFrom(@Nullable Candidate found, LogPosition position, List<Candidate> candidates)
            throws IOException {
        if (found != null) {
            candidates.remove(found);
            read(found, position.bytes());
        }
    }

    /**
     * Returns the file to which a position belongs; null if there is none. Tries the log first, since it was most
     * likely not rotated.
     *
     * @param unchanged true to accept a file that was not modified since the position was stored
     */
    private static @Nullable Candidate find(LogPosition position, boolean unchanged, List<Candidate> candidates)
            throws IOException {
        for (int i = candidates.size() - 1; i >= 0; i--) {
            Candidate candidate = candidates.get(i);
            long sinceMillis = candidate.modifiedMillis() - position.modifiedMillis();
            if ((unchanged ? sinceMillis >= 0 : sinceMillis > 0) && position.isIn(candidate.file())) {
                return candidate;
            }
        }
        return null;
    }

    private void read(Candidate candidate, long from) throws IOException {
        LineSource lines = new LineSource();
        Path file = candidate.file();
        long bytes;
        try (InputStream in = LogPosition.open(file, from)) {
            for (String line = lines.next(in); line != null; line = lines.next(in)) {
                lineConsumer.accept(line);
            }
            bytes = from + lines.wholeBytes();
            // The last line of a rotated file is complete even without a line end.
            String rest = file.equals(log) ? null : lines.rest();
            if (rest != null) {
                lineConsumer.accept(rest);
                bytes = from + lines.bytes();
            }
        } catch (IOException e) {
            throw LogFailure.of(file, e);
        }
        // The next run could not recognize an empty file, so no position is stored for it.
        if (bytes > 0) {
            reached.add(LogPosition.in(file, bytes, candidate.modifiedMillis()));
        }
    }

    /** Returns the rotated files by modification time, the oldest first, and after them the log. */
    private List<Candidate> candidates() throws IOException {
        List<Candidate> found = new ArrayList<>();
        Path name = log.getFileName();
        Path directory = log.toAbsolutePath().getParent();
        if (name == null || directory == null) {
            throw new IOException(log + " is not a file");
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String rotated = String.valueOf(entry.getFileName());
                if (isRotated(rotated, name.toString()) && Files.isRegularFile(entry)) {
                    add(entry, found);
                }
            }
        }
        found.sort(Comparator.comparingLong(Candidate::modifiedMillis)
                .thenComparing(candidate -> candidate.file().toString()));
        if (Files.exists(log)) {
            found.add(new Candidate(log, modifiedMillis(log)));
        }
        return found;
    }

    private static void add(Path entry, List<Candidate> found) throws IOException {
        String name = entry.toString();
        boolean isDuplicate = LogPosition.isCompressed(entry)
                && Files.exists(Path.of(name.substring(0, name.length() - ".gz".length())));
        if (!isDuplicate) {
            found.add(new Candidate(entry, modifiedMillis(entry)));
        }
    }

    /**
     * Returns true if the name is a rotated file of a log: {@code access.log.1}, {@code access.log-20261122},
     * {@code access.log.20261122T110000Z-1}, also compressed.
     */
    private static boolean isRotated(String name, String log) {
        if (!name.startsWith(log) || name.length() < log.length() + 2) {
            return false;
        }
        char between = name.charAt(log.length());
        String rest = name.substring(log.length() + 1);
        String stamp = rest.endsWith(".gz") ? rest.substring(0, rest.length() - 3) : rest;
        boolean isStamp = (between == '.' || between == '-') && !stamp.isEmpty() && Character.isDigit(stamp.charAt(0));
        for (int i = 0; i < stamp.length(); i++) {
            isStamp &= Character.isDigit(stamp.charAt(i)) || "TZ-_.:".indexOf(stamp.charAt(i)) >= 0;
        }
        return isStamp;
    }

    private static long modifiedMillis(Path file) throws IOException {
        return Files.getLastModifiedTime(file).toMillis();
    }
}
