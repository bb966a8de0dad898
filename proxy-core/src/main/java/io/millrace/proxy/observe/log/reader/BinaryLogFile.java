package io.millrace.proxy.observe.log.reader;

import io.millrace.proxy.observe.log.block.BlockReader;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a binary log file, also while it grows and across rotations. After a rotation the new file is read from its
 * beginning. The renamed file is read for some more polls, because a writer notices the rotation late. Confined to one
 * thread.
 */
public final class BinaryLogFile implements AutoCloseable {
    /** Number of polls for which a renamed file is read. */
    static final int RENAMED_POLLS = 40;

    private final Path file;
    private final BlockReader.Visitor visitor;
    private final Opener opener;
    private @Nullable OpenFile current;
    private @Nullable OpenFile renamed;
    private int renamedPolls;

    /** Opens the file for reading. */
    interface Opener {
        FileChannel open(Path file) throws IOException;
    }

    /** An open file with its reader. */
    private static final class OpenFile implements AutoCloseable {
        final FileChannel channel;
        final InputStream in;
        final @Nullable Object key;
        final BlockReader reader;

        OpenFile(FileChannel channel, @Nullable Object key, BlockReader.Visitor visitor) {
            this.channel = channel;
            this.key = key;
            in = Channels.newInputStream(channel);
            reader = new BlockReader(visitor);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** @param visitor receives the rows */
    public BinaryLogFile(Path file, BlockReader.Visitor visitor) {
        this(file, visitor, named -> FileChannel.open(named, StandardOpenOption.READ));
    }

    BinaryLogFile(Path file, BlockReader.Visitor visitor, Opener opener) {
        this.file = file;
        this.visitor = visitor;
        this.opener = opener;
    }

    /**
     * Reads a stream of blocks to its end.
     *
     * @return false if the visitor has ended the reading
     */
    public static boolean read(InputStream in, BlockReader.Visitor visitor) throws IOException {
        BlockReader reader = new BlockReader(visitor);
        boolean isReadToEnd = reader.read(in);
        if (isReadToEnd) {
            reader.finish();
        }
        return isReadToEnd;
    }

    /** Opens a file for {@link #read}; a name that ends in {@code .gz} is decompressed. */
    public static InputStream open(Path file) throws IOException {
        InputStream in = new BufferedInputStream(Files.newInputStream(file));
        if (!file.toString().endsWith(".gz")) {
            return in;
        }
        try {
            return new GZIPInputStream(in);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /**
     * Reads the blocks that were written since the last call; the first call reads the whole file. A file that does not
     * exist yet has no blocks.
     *
     * @return false if the visitor has ended the reading
     */
    public boolean poll() throws IOException {
        if (!readRenamed()) {
            return false;
        }
        OpenFile followed = current;
        if (followed != null) {
            // The comparison comes first, so that the last blocks of a renamed file are read before the next file.
            boolean isReplaced = isReplaced(followed);
            if (!isReplaced && followed.channel.size() < followed.channel.position()) {
                finishEmptied(followed);
            } else {
                if (!followed.reader.read(followed.in)) {
                    return false;
                }
                if (!isReplaced) {
                    return true;
                }
                finishRenamed();
                renamed = followed;
                renamedPolls = 0;
            }
        }
        current = openChannel();
        return current == null || current.reader.read(current.in);
    }

    /** Reports an incomplete block at the end as damaged. Call after the last {@link #poll}. */
    public void finish() throws IOException {
        finishRenamed();
        if (current != null) {
            current.reader.finish();
        }
    }

    /** Returns true if the last block of the file is not complete, because it is being written or was cut. */
    public boolean isIncomplete() {
        return current != null && current.reader.pendingBytes() > 0;
    }

    private boolean readRenamed() throws IOException {
        OpenFile old = renamed;
        if (old == null) {
            return true;
        }
        if (!old.reader.read(old.in)) {
            return false;
        }
        renamedPolls++;
        if (renamedPolls == RENAMED_POLLS) {
            finishRenamed();
        }
        return true;
    }

    private void finishRenamed() throws IOException {
        OpenFile old = renamed;
        renamed = null;
        if (old != null) {
            try (old) {
                old.reader.read(old.in);
                old.reader.finish();
            }
        }
    }

    /**
     * Ends the reading of a file that was copied and then emptied. Another reader then begins at the start of the file.
     */
    private void finishEmptied(OpenFile emptied) throws IOException {
        current = null;
        try (emptied) {
            emptied.reader.finish();
        }
    }

    private boolean isReplaced(OpenFile followed) throws IOException {
        try {
            return !Objects.equals(keyOfName(), followed.key);
        } catch (NoSuchFileException e) {
            return false; // renamed, and the next file does not exist yet
        }
    }

    /**
     * Returns true, and closes the opened file, if another file has the name now. If the check fails with an error,
     * closes the opened file too.
     */
    private boolean closeIfReplaced(OpenFile opened) throws IOException {
        boolean isReplaced = true;
        try {
            isReplaced = isReplaced(opened);
            return isReplaced;
        } finally {
            if (isReplaced) {
                opened.close();
            }
        }
    }

    private @Nullable Object keyOfName() throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private @Nullable OpenFile openChannel() throws IOException {
        try {
            while (true) {
                Object key = keyOfName();
                OpenFile opened = new OpenFile(opener.open(file), key, visitor);
                // If the file was replaced between the two calls, the key may belong to the earlier file.
                if (!closeIfReplaced(opened)) {
                    return opened;
                }
            }
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        OpenFile old = renamed;
        OpenFile followed = current;
        renamed = null;
        current = null;
        try (old;
                followed) {
            // Both are closed, also if one fails.
            return;
        }
    }
}
