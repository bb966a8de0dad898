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
 * Reads a growing log across rotations.
 *
 * <p>After a rotation the new file is read from its beginning. The renamed file is polled some more times, since the
 * writer may notice the rotation late and still append to it. A file that has become shorter was truncated, so it is
 * read again from its beginning. Confined to one thread.
 */
public final class LogFollower implements AutoCloseable {
    /** Limit of bytes at the end of the file in which {@link #last} searches for lines. */
    private static final long TAIL_BYTES_MAX = 16L << 20;

    /**
     * Number of polls during which a renamed file is still read: a minute at four polls per second. Meanwhile every
     * worker notices the rotation, since it checks each second whether it must reopen the log.
     */
    static final int OLD_POLLS_MAX = 240;

    /** Limit of attempts to open a log that is rotated between two file system calls. */
    private static final int OPENINGS_MAX = 16;

    private final Path file;
    private final Opener opener;
    private @Nullable OpenLog current;
    private @Nullable OpenLog renamedLog;
    private int renamedPolls;

    /** Opens a file for reading. */
    @FunctionalInterface
    interface Opener {
        FileChannel open(Path file) throws IOException;
    }

    /** An open log file that is read step by step. Confined to one thread. */
    private static final class OpenLog implements AutoCloseable {
        private final FileChannel channel;
        private final InputStream in;
        /** The file key of {@link java.nio.file.attribute.BasicFileAttributes}, such as device and inode. */
        private final @Nullable Object fileKey;

        private LineSource lines = new LineSource();

        OpenLog(FileChannel channel, @Nullable Object fileKey) {
            this.channel = channel;
            this.fileKey = fileKey;
            in = Channels.newInputStream(channel);
        }

        void read(Consumer<String> taker) throws IOException {
            for (String line = lines.next(in); line != null; line = lines.next(in)) {
                taker.accept(line);
            }
        }

        /** Continues at the beginning if the file is shorter than the bytes read, since it was truncated. */
        void rewindIfTruncated() throws IOException {
            if (channel.size() < channel.position()) {
                channel.position(0);
                lines = new LineSource();
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** @param file the log, which may be missing at first */
    public LogFollower(Path file) {
        this(file, path -> FileChannel.open(path, StandardOpenOption.READ));
    }

    LogFollower(Path file, Opener opener) {
        this.file = file;
        this.opener = opener;
    }

    /**
     * Opens the log and returns the last matching lines of its last 16 MiB. {@link #poll} returns the lines after
     * these.
     *
     * @param count limit of lines
     */
    public List<String> last(int count, Predicate<String> wanted) throws IOException {
        ArrayDeque<String> last = new ArrayDeque<>();
        OpenLog opened = open();
        current = opened;
        if (opened == null) {
            return List.of();
        }
        long size = opened.channel.size();
        if (size > TAIL_BYTES_MAX) {
            opened.channel.position(size - TAIL_BYTES_MAX);
            opened.lines.next(opened.in); // skips a line whose beginning is most likely cut off
        }
        opened.read(line -> {
            if (count > 0 && wanted.test(line)) {
                if (last.size() == count) {
                    last.removeFirst();
                }
                last.addLast(line);
            }
        });
        return new ArrayList<>(last);
    }

    /** Passes to {@code taker} each line that was written since the last call. */
    public void poll(Consumer<String> taker) throws IOException {
        readRenamed(taker);
        OpenLog followed = current;
        if (followed != null) {
            followed.rewindIfTruncated();
            boolean replaced = isReplaced(followed);
            followed.read(taker);
            if (!replaced) {
                return;
            }
            finishRenamed(taker);
            renamedLog = followed;
            renamedPolls = 0;
        }
        current = open();
        if (current != null) {
            current.read(taker);
        }
    }

    private void readRenamed(Consumer<String> taker) throws IOException {
        if (renamedLog != null) {
            renamedLog.read(taker);
            renamedPolls++;
            if (renamedPolls == OLD_POLLS_MAX) {
                finishRenamed(taker);
            }
        }
    }

    private void finishRenamed(Consumer<String> taker) throws IOException {
        if (renamedLog != null) {
            renamedLog.read(taker);
            String rest = renamedLog.lines.rest();
            if (rest != null) {
                taker.accept(rest);
            }
            renamedLog.close();
            renamedLog = null;
        }
    }

    /**
     * Returns true if the log's name now denotes another file. False if no file has the name, since the open file may
     * grow.
     */
    private boolean isReplaced(OpenLog followed) throws IOException {
        try {
            return !Objects.equals(fileKey(), followed.fileKey);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private @Nullable Object fileKey() throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /** Opens the log; returns null if it does not exist. */
    private @Nullable OpenLog open() throws IOException {
        for (int i = 0; i < OPENINGS_MAX; i++) {
            Object before;
            FileChannel opened;
            try {
                before = fileKey();
                opened = opener.open(file);
            } catch (NoSuchFileException e) {
                return null;
            }
            OpenLog followed = new OpenLog(opened, before);
            // The file key belongs to the opened file only if the name denotes the same file before and after opening.
            if (!isReplaced(followed)) {
                return followed;
            }
            followed.close();
        }
        throw new IOException(file + " is replaced each time it is opened");
    }

    @Override
    public void close() throws IOException {
        OpenLog renamed = renamedLog;
        OpenLog followed = current;
        renamedLog = null;
        current = null;
        try {
            if (renamed != null) {
                renamed.close();
            }
        } finally {
            if (followed != null) {
                followed.close();
            }
        }
    }
}
