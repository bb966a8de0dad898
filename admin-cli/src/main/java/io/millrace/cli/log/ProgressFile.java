package io.millrace.cli.log;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A file with the position up to which each log was read. The next run reads only new lines. One run at a time holds
 * the lock of the file. New positions are lost unless {@link #save} stores them. Confined to one thread.
 */
public final class ProgressFile implements AutoCloseable {
    private static final int VERSION = 1;
    private static final int OPEN_TRIES_MAX = 16;
    private static final long LENGTH_MAX = 16L << 20;

    private final Path file;
    private final FileChannel channel;
    private final Map<String, List<LogPosition>> logs;

    private ProgressFile(Path file, FileChannel channel, Map<String, List<LogPosition>> logs) {
        this.file = file;
        this.channel = channel;
        this.logs = logs;
    }

    /**
     * Opens and locks the file; creates it if it does not exist.
     *
     * @throws IOException if another run holds the lock, or if the content is not a progress file; the message contains
     *     the reason
     */
    public static ProgressFile open(Path file) throws IOException {
        for (int i = 0; i < OPEN_TRIES_MAX; i++) {
            Object before = fileKey(file);
            FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            try {
                lock(file, channel);
                // If the file keys differ, this call has created the file, or another run has replaced it before the
                // lock was acquired. Try again.
                if (before.equals(fileKey(file))) {
                    return new ProgressFile(file, channel, parse(file, channel));
                }
                channel.close();
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        }
        throw new IOException(file + " is replaced each time it is opened");
    }

    private static void lock(Path file, FileChannel channel) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new IOException(file + " is in use by another run");
        }
    }

    private static Object fileKey(Path file) throws IOException {
        try {
            return String.valueOf(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private static Map<String, List<LogPosition>> parse(Path file, FileChannel channel) throws IOException {
        Map<String, List<LogPosition>> logs = new LinkedHashMap<>();
        if (channel.size() == 0) {
            return logs;
        }
        if (channel.size() > LENGTH_MAX) {
            throw new IOException(file + " is not a progress file: it is longer than 16 MiB");
        }
        try {
            JsonObject json = JsonObject.parse(Channels.newInputStream(channel).readNBytes((int) channel.size()));
            if (json.number("version", 0) != VERSION) {
                throw new IllegalArgumentException("its version is not " + VERSION);
            }
            JsonObject read = json.object("logs");
            for (String log : read.names()) {
                List<LogPosition> positions = new ArrayList<>();
                for (JsonObject position : read.objects(log)) {
                    positions.add(new LogPosition(
                            Math.max(0, position.number("bytes", 0)),
                            position.text("mark", ""),
                            position.number("modified_millis", 0)));
                }
                logs.put(log, List.copyOf(positions));
            }
            return logs;
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    file + " is not a progress file (" + e.getMessage() + "); remove it to start again", e);
        }
    }

    /**
     * Reads the lines that were added to a log since the last saved run.
     *
     * @param lines receives each new line
     * @param warnings receives a message for each part that could not be read
     */
    public void read(Path log, Consumer<String> lines, Consumer<String> warnings) throws IOException {
        String name = log.toAbsolutePath().normalize().toString();
        List<LogPosition> last = logs.getOrDefault(name, List.of());
        List<LogPosition> reached = NewLines.read(log, last, lines, warnings);
        logs.put(name, reached.isEmpty() ? last : reached);
    }

    /** Stores the positions of all logs. The file is replaced atomically. */
    public void save() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes(JsonTree.object(json -> json.number("version", VERSION)
                .nested(
                        "logs",
                        all -> logs.forEach((log, positions) ->
                                all.array(log, positions, (one, position) -> one.number("bytes", position.bytes())
                                        .text("mark", position.tailHash())
                                        .number("modified_millis", position.modifiedMillis()))))));
        text.write('\n');
        Path replacement = file.resolveSibling(file.getFileName() + ".new");
        try (FileChannel fresh = FileChannel.open(
                replacement,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.toByteArray());
            while (bytes.hasRemaining()) {
                fresh.write(bytes);
            }
            fresh.force(true);
        } catch (IOException e) {
            throw LogFailure.of(replacement, e);
        }
        Files.move(replacement, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
