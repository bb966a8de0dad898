package io.millrace.cli.log;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads a log that grows, across its rotation: when the name is another file's, the old one is read to its end and the new one from
 * its beginning; when the file has become shorter, it is read anew. Confined to one thread.
 */
public final class LogFollower implements AutoCloseable {
    /** Bytes looked at from the end for the last lines. */
    private static final long TAIL_BYTES_MAX = 16L << 20;

    private final Path file;
    private LineSource lines = new LineSource();
    private @Nullable FileChannel channel;
    private @Nullable InputStream in;
    private @Nullable Object key;

    /** @param file need not be there yet */
    public LogFollower(Path file) {
        this.file = file;
    }

    /**
     * The last lines that are wanted, out of the last 16 MiB; what follows is left to {@link #poll}.
     *
     * @param count at most so many
     */
    public List<String> last(int count, Predicate<String> wanted) throws IOException {
        ArrayDeque<String> last = new ArrayDeque<>();
        if (!open()) {
            return List.of();
        }
        FileChannel opened = Objects.requireNonNull(channel, "channel");
        long size = opened.size();
        if (size > TAIL_BYTES_MAX) {
            opened.position(size - TAIL_BYTES_MAX);
            lines.next(Objects.requireNonNull(in, "in")); // most likely the end of a line
        }
        read(line -> {
            if (count > 0 && wanted.test(line)) {
                if (last.size() == count) {
                    last.removeFirst();
                }
                last.addLast(line);
            }
        });
        return new ArrayList<>(last);
    }

    /** Hands on what was written since the last call. */
    public void poll(Consumer<String> taker) throws IOException {
        if (channel == null && !open()) {
            return;
        }
        FileChannel opened = Objects.requireNonNull(channel, "channel");
        if (opened.size() < opened.position()) {
            opened.position(0);
            lines = new LineSource();
        }
        boolean another = isAnother();
        read(taker);
        if (another) {
            String rest = lines.rest();
            if (rest != null) {
                taker.accept(rest);
            }
            close();
            if (open()) {
                read(taker);
            }
        }
    }

    private void read(Consumer<String> taker) throws IOException {
        InputStream opened = Objects.requireNonNull(in, "in");
        for (String line = lines.next(opened); line != null; line = lines.next(opened)) {
            taker.accept(line);
        }
    }

    /** Whether the name is another file's by now; while it is nobody's the old file may still grow. */
    private boolean isAnother() throws IOException {
        try {
            Object now = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            return !Objects.equals(now, key);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** False while there is no such file. */
    private boolean open() throws IOException {
        try {
            FileChannel opened = FileChannel.open(file, StandardOpenOption.READ);
            channel = opened;
            in = Channels.newInputStream(opened);
            key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            lines = new LineSource();
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
            in = null;
        }
    }
}
