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
 * <p>After a rotation the new file is read from its beginning. The old file is read for a while longer, since the
 * writer may not notice the rotation at once. A file that has become shorter is read again from its beginning. Confined
 * to one thread.
 */
public final class LogFollower implements AutoCloseable {
    /** Limit of bytes at the end of the file that are searched for the last lines. */
    private static final long TAIL_BYTES_MAX = 16L << 20;

    /** Number of polls for which a renamed file is still read. A worker checks the name of its log every second. */
    static final int OLD_POLLS_MAX = 240;

    /** Limit of attempts to open the file; a log that is rotated at each attempt is not usable. */
    private static final int OPENINGS_MAX = 16;

    private final Path file;
    private final Opener opener;
    private @Nullable Followed current;
    private @Nullable Followed old;
    private int oldPolls;

    /** Opens a file for reading. */
    @FunctionalInterface
    interface Opener {
        FileChannel open(Path file) throws IOException;
    }

    /** An open file with the position reached. Confined to one thread. */
    private static final class Followed implements AutoCloseable {
        private final FileChannel channel;
        private final InputStream in;
        private final @Nullable Object key;
        private LineSource lines = new LineSource();

        Followed(FileChannel channel, @Nullable Object key) {
            this.channel = channel;
            this.key = key;
            in = Channels.newInputStream(channel);
        }

        void read(Consumer<String> taker) throws IOException {
            for (String line = lines.next(in); line != null; line = lines.next(in)) {
                taker.accept(line);
            }
        }

        /** Restarts at the beginning if the file is shorter than the position reached. */
        void rewindIfCut() throws IOException {
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
     * Returns the last matching lines in the last 16 MiB; later lines are left for {@link #poll}.
     *
     * @param count limit of lines
     */
    public List<String> last(int count, Predicate<String> wanted) throws IOException {
        ArrayDeque<String> last = new ArrayDeque<>();
        Followed opened = open();
        current = opened;
        if (opened == null) {
            return List.of();
        }
        long size = opened.channel.size();
        if (size > TAIL_BYTES_MAX) {
            opened.channel.position(size - TAIL_BYTES_MAX);
            opened.lines.next(opened.in); // skips a line that is most likely incomplete
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

    /** Passes on the lines that were written since the last call. */
    public void poll(Consumer<String> taker) throws IOException {
        readOld(taker);
        Followed followed = current;
        if (followed != null) {
            followed.rewindIfCut();
            boolean another = isAnother(followed);
            followed.read(taker);
            if (!another) {
                return;
            }
            endOld(taker);
            old = followed;
            oldPolls = 0;
        }
        current = open();
        if (current != null) {
            current.read(taker);
        }
    }

    private void readOld(Consumer<String> taker) throws IOException {
        if (old != null) {
            old.read(taker);
            oldPolls++;
            if (oldPolls == OLD_POLLS_MAX) {
                endOld(taker);
            }
        }
    }

    private void endOld(Consumer<String> taker) throws IOException {
        if (old != null) {
            old.read(taker);
            String rest = old.lines.rest();
            if (rest != null) {
                taker.accept(rest);
            }
            old.close();
            old = null;
        }
    }

    /** Returns true if the name denotes another file now; false if no file has the name, since the old one may grow. */
    private boolean isAnother(Followed followed) throws IOException {
        try {
            return !Objects.equals(key(), followed.key);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private @Nullable Object key() throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /** Opens the log; returns null while it is missing. */
    private @Nullable Followed open() throws IOException {
        for (int i = 0; i < OPENINGS_MAX; i++) {
            Object before;
            FileChannel opened;
            try {
                before = key();
                opened = opener.open(file);
            } catch (NoSuchFileException e) {
                return null;
            }
            Followed followed = new Followed(opened, before);
            // The name denotes the same file before and after opening; otherwise the log was rotated in between.
            if (!isAnother(followed)) {
                return followed;
            }
            followed.close();
        }
        throw new IOException(file + " is replaced each time it is opened");
    }

    @Override
    public void close() throws IOException {
        Followed renamed = old;
        Followed followed = current;
        old = null;
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
