package io.millrace.proxy.purge.fleet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The file of messages that wait to be published. It is in a directory that the workers (proxy processes) and the
 * launcher (their parent process) share. Workers append lines. The launcher reads lines by their offset, and removes
 * published lines from the beginning. A file lock admits the changes of one process at a time; reads of lines
 * do not take it. The kernel releases the lock when the process ends.
 *
 * <p>Thread-safe. All methods block.
 */
public final class FleetOutboxFile {
    private static final String FILE = "outbox.jsonl";
    private static final String LOCK = "lock";
    private static final String INSTANCE = "instance";

    /** Excludes other threads of this process, because a file lock excludes only other processes. */
    private static final ReentrantLock IN_PROCESS = new ReentrantLock();

    private final Path directory;
    private final Path file;

    public FleetOutboxFile(Path directory) {
        this.directory = directory;
        this.file = directory.resolve(FILE);
    }

    /**
     * Lines of the file.
     *
     * @param lines complete lines without line feeds
     * @param end offset after the last of these lines
     */
    public record Lines(List<byte[]> lines, long end) {}

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

    /** Returns the random identifier of the directory, and creates it at the first call. */
    public String instance() throws IOException {
        Path path = directory.resolve(INSTANCE);
        return locked(() -> {
            if (Files.exists(path)) {
                String found = Files.readString(path).strip();
                if (!found.isEmpty()) {
                    return found;
                }
            }
            byte[] random = new byte[8];
            new SecureRandom().nextBytes(random);
            String created = HexFormat.of().formatHex(random);
            replace(path, (created + "\n").getBytes(StandardCharsets.US_ASCII));
            return created;
        });
    }

    /** Returns the path of the file, which may not exist. */
    Path path() {
        return file;
    }

    /** Returns the length of the file in bytes; 0 if there is none. */
    public long size() throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /**
     * Appends lines durably.
     *
     * @param lines each with a line feed
     * @return the length of the file in bytes
     */
    public long append(List<byte[]> lines) throws IOException {
        return locked(() -> {
            boolean isNew = !Files.exists(file);
            // One byte more than the lines, for a line feed after a line that was not written completely.
            int length = 1;
            for (byte[] line : lines) {
                length += line.length;
            }
            ByteBuffer out = ByteBuffer.allocate(length);
            long size;
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
                if (hasTornEnd()) {
                    out.put((byte) '\n');
                }
                lines.forEach(out::put);
                out.flip();
                while (out.hasRemaining()) {
                    channel.write(out);
                }
                channel.force(false);
                size = channel.size();
            }
            if (isNew) {
                force(directory);
            }
            return size;
        });
    }

    /** Returns true if the file ends within a line, which a power failure may cause. */
    private boolean hasTornEnd() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return channel.size() > 0 && channel.read(last, channel.size() - 1) == 1 && last.get(0) != '\n';
        }
    }

    /**
     * Reads complete lines from an offset.
     *
     * @param bytesMax limit of the bytes read; must exceed the length of a line
     */
    public Lines read(long offset, int bytesMax) throws IOException {
        List<byte[]> lines = new ArrayList<>();
        long end = offset;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.position(offset);
            ByteBuffer in = ByteBuffer.allocate(bytesMax);
            while (in.hasRemaining() && channel.read(in) > 0) {
                // Reads until the buffer is full or the file ends.
            }
            in.flip();
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            while (in.hasRemaining()) {
                byte next = in.get();
                if (next == '\n') {
                    lines.add(line.toByteArray());
                    line.reset();
                    end = offset + in.position();
                } else {
                    line.write(next);
                }
            }
        } catch (NoSuchFileException e) {
            return new Lines(List.of(), 0);
        }
        return new Lines(lines, end);
    }

    /** Removes the bytes before an offset, and keeps the lines behind it durably. */
    public void removeBefore(long offset) throws IOException {
        locked(() -> {
            if (!Files.exists(file)) {
                return false;
            }
            byte[] all = Files.readAllBytes(file);
            int from = (int) Math.min(offset, all.length);
            replace(file, Arrays.copyOfRange(all, from, all.length));
            return true;
        });
    }

    private void replace(Path path, byte[] content) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".new");
        try (FileChannel channel = FileChannel.open(
                next,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer out = ByteBuffer.wrap(content);
            while (out.hasRemaining()) {
                channel.write(out);
            }
            channel.force(true);
        }
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        force(directory);
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
