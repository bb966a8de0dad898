package io.millrace.proxy.purge.record;

import io.millrace.proxy.observe.log.file.RotatedFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A log in files of a directory that several workers (proxy processes) share. New lines are appended to
 * {@code purges.jsonl}. When this file has reached the limit of lines, it is renamed as {@link RotatedFiles} describes.
 * {@value #ROTATED_KEPT} renamed files are kept. Compressed files are ignored. A file lock admits one writer or reader
 * at a time. The kernel releases the lock when the process that holds it ends.
 *
 * <p>Thread-safe. All methods block.
 */
final class PurgeLogFile implements PurgeLog {
    private static final String FILE = "purges.jsonl";
    private static final String LOCK = "lock";
    /**
     * Number of renamed files that are kept. Each contains at least as many lines as purges are kept, and a purge has
     * at most three lines: the purge, its undo and its count.
     */
    private static final int ROTATED_KEPT = 3;

    /**
     * Minimum of lines before a file is renamed. Limits the number of renames per second, which need different names.
     */
    private static final int ROTATED_LINES_MIN = 100;

    /** Excludes other threads of this process, because a file lock excludes only other processes. */
    private static final ReentrantLock IN_PROCESS = new ReentrantLock();

    private final Path directory;
    private final Path file;
    private final IntSupplier linesMax;
    private final LongSupplier clockMillis;
    private final RotatedFiles rotated;

    /** Identity of the file when this process last accessed it. This field and the next two are guarded by the lock. */
    private @Nullable Object fileKey;

    /** Size of the file in bytes, up to the end of the counted lines. */
    private long size;
    /** Number of lines in the file. */
    private long lines;

    PurgeLogFile(Path directory, IntSupplier linesMax, LongSupplier clockMillis) {
        this.directory = directory;
        this.file = directory.resolve(FILE);
        this.linesMax = linesMax;
        this.clockMillis = clockMillis;
        this.rotated = new RotatedFiles(file, ROTATED_KEPT);
    }

    private interface Work<T> {
        T run() throws IOException;
    }

    private <T> T locked(Work<T> work) throws IOException {
        IN_PROCESS.lock();
        try {
            Files.createDirectories(directory);
            try (FileChannel channel = FileChannel.open(
                            directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock held = channel.lock()) {
                if (!held.isValid()) {
                    throw new IOException(directory + ": the file lock was lost");
                }
                return work.run();
            }
        } finally {
            IN_PROCESS.unlock();
        }
    }

    @Override
    public void append(List<byte[]> added) throws IOException {
        locked(() -> {
            update();
            if (lines >= Math.max(ROTATED_LINES_MIN, linesMax.getAsInt())) {
                rotated.add(clockMillis.getAsLong());
                rotated.prune();
                update();
            }
            write(added);
            return true;
        });
    }

    /** Counts the lines that other processes have appended. */
    private void update() throws IOException {
        BasicFileAttributes attributes = attributes();
        Object key = attributes == null ? null : attributes.fileKey();
        if (attributes == null || !Objects.equals(key, fileKey) || attributes.size() < size) {
            size = 0;
            lines = 0;
        }
        fileKey = key;
        if (attributes == null || attributes.size() == size) {
            return;
        }
        ByteBuffer in = ByteBuffer.allocate(1 << 16);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.position(size);
            while (channel.read(in) > 0) {
                in.flip();
                size += in.remaining();
                while (in.hasRemaining()) {
                    lines += in.get() == '\n' ? 1 : 0;
                }
                in.clear();
            }
        }
    }

    private @Nullable BasicFileAttributes attributes() throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void write(List<byte[]> added) throws IOException {
        boolean isNew = fileKey == null;
        // One byte more than the lines, for a line feed after a line that was not written completely.
        int length = 1;
        for (byte[] line : added) {
            length += line.length;
        }
        ByteBuffer out = ByteBuffer.allocate(length);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            if (!isNew && hasTornEnd()) {
                out.put((byte) '\n');
            }
            for (byte[] line : added) {
                out.put(line);
            }
            out.flip();
            while (out.hasRemaining()) {
                channel.write(out);
            }
            channel.force(false);
        }
        if (isNew) {
            force(directory);
        }
    }

    /** Returns true if the file ends within a line, which a power failure may cause. */
    private boolean hasTornEnd() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return channel.size() > 0 && channel.read(last, channel.size() - 1) == 1 && last.get(0) != '\n';
        }
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public void visit(Consumer<String> visitor) throws IOException {
        locked(() -> {
            for (Path one : rotated.files()) {
                if (!RotatedFiles.isCompressed(one)) {
                    read(one, visitor);
                }
            }
            if (Files.exists(file)) {
                read(file, visitor);
            }
            return true;
        });
    }

    @Override
    public String toString() {
        return file.toString();
    }

    private static void read(Path one, Consumer<String> visitor) throws IOException {
        // InputStreamReader replaces malformed bytes: a file that was cut by a power failure may end within a
        // character.
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(Files.newInputStream(one), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                visitor.accept(line);
            }
        }
    }
}
