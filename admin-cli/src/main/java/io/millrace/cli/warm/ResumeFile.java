package io.millrace.cli.warm;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.log.LogFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file of {@code millctl cache warm --resume}, with the progress of a run. It exists while the run is not complete,
 * and is replaced atomically. Confined to one thread. Blocks.
 */
public final class ResumeFile {
    private static final int VERSION = 1;
    private static final long LENGTH_MAX = 1 << 20;

    private final Path file;
    private final String input;
    private long position;
    private SequenceHash hash = SequenceHash.NONE;

    private ResumeFile(Path file, String input) {
        this.file = file;
        this.input = input;
    }

    /**
     * Reads the file, if it exists.
     *
     * @param input kind and name of the input, which must be the same as in the interrupted run
     * @param tally receives the counts of the interrupted run
     * @throws IOException if the file belongs to another run, or is no resume file; the message contains the reason
     */
    public static ResumeFile open(Path file, String input, WarmTally tally) throws IOException {
        ResumeFile resume = new ResumeFile(file, input);
        try {
            if (Files.size(file) > LENGTH_MAX) {
                throw new IOException(file + ": not a file of --resume: it is longer than 1 MiB");
            }
            resume.read(JsonObject.parse(Files.readAllBytes(file)), tally);
        } catch (NoSuchFileException e) {
            Path parent = file.toAbsolutePath().getParent();
            if (parent != null && !Files.isDirectory(parent)) {
                throw new IOException(file + ": there is no directory " + parent, e);
            }
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": not a file of --resume (" + e.getMessage() + "); remove it to start", e);
        }
        return resume;
    }

    private void read(JsonObject json, WarmTally tally) throws IOException {
        if (json.number("version", 0) != VERSION) {
            throw new IllegalArgumentException("its version is not " + VERSION);
        }
        String before = json.text("input", "");
        if (!before.equals(input)) {
            throw new IOException(file + ": belongs to another run (" + before + "); remove it to start again");
        }
        position = json.number("position", 0);
        hash = new SequenceHash(json.text("mark", ""));
        tally.read(json.object("counts"));
    }

    /** Number of requests that the interrupted run has completed; 0 without one. */
    public long position() {
        return position;
    }

    SequenceHash hash() {
        return hash;
    }

    public Path file() {
        return file;
    }

    /** Replaces the file, if the position has changed. */
    void save(long reached, SequenceHash at, WarmTally tally) throws IOException {
        if (reached == position) {
            return;
        }
        byte[] text = JsonTree.object(json -> json.number("version", VERSION)
                .text("input", input)
                .number("position", reached)
                .text("mark", at.hex())
                .nested("counts", tally::write));
        Path beside = created();
        try {
            try (FileChannel fresh = FileChannel.open(beside, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                ByteBuffer bytes = ByteBuffer.wrap(text);
                while (bytes.hasRemaining()) {
                    fresh.write(bytes);
                }
                fresh.force(true);
            }
            Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw LogFailure.of(beside, e);
        } finally {
            Files.deleteIfExists(beside);
        }
        position = reached;
        hash = at;
    }

    /**
     * Creates a new file of mode 0600 with a random name in the same directory. So no other process can have put a file
     * or link in its place.
     */
    private Path created() throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        Path directory = parent == null ? Path.of("/") : parent;
        try {
            return Files.createTempFile(directory, ".millctl-resume", null);
        } catch (IOException e) {
            throw LogFailure.of(file, e);
        }
    }

    /** Removes the file, because the run is complete. */
    void remove() throws IOException {
        Files.deleteIfExists(file);
    }
}
