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
 * Reads a log that grows, across its rotation: when the name is another file's, the new one is read from its beginning, and the old
 * one for a while longer, since who writes it may notice later; when the file has become shorter, it is read again. Confined to one
 * thread.
 */
public final class LogFollower implements AutoCloseable {
    /** Bytes looked at from the end for the last lines. */
    private static final long TAIL_BYTES_MAX = 16L << 20;

    /** Polls for which a renamed file is still read; a worker looks every second whose file its log's name is. */
    static final int OLD_POLLS_MAX = 240;

    /** A rotation each time is no rotation. */
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

    /** A file with how far it is read. Confined to one thread. */
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

        /** From the beginning, where less is left of it than was read. */
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

    /** @param file need not be there yet */
    public LogFollower(Path file) {
        this(file, path -> FileChannel.open(path, StandardOpenOption.READ));
    }

    LogFollower(Path file, Opener opener) {
        this.file = file;
        this.opener = opener;
    }

    /**
     * The last lines that are wanted, out of the last 16 MiB; what follows is left to {@link #poll}.
     *
     * @param count at most this many
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
            opened.lines.next(opened.in); // most likely the end of a line
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

    /** Hands on what was written since the last call. */
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

    /** Whether the name is another file's by now; while it is nobody's the old file may still grow. */
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

    /** Null while there is no such file. */
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
            // What was opened is what the name meant before and means now, or a rotation fell between.
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
