package io.millrace.store.io;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A second channel to a file, opened on demand with O_DIRECT. Its writes bypass the page cache. The kernel drops cached
 * pages of the written range, so reads through the page cache find the new bytes.
 *
 * <p>Thread-safe.
 */
final class DirectChannel implements Closeable {
    /** Minimum bytes of a block. Devices report 512 or 4,096; 4,096 is valid for both. */
    private static final int BLOCK_BYTES_MIN = 4096;
    /** Maximum bytes of a block. Network file systems report up to 1 MiB; batches of records are shorter. */
    private static final int BLOCK_BYTES_MAX = 64 * 1024;

    private final Path path;
    private final ReentrantLock opening = new ReentrantLock();
    /** The open channel and its block size; null while closed. */
    private volatile @Nullable Opened opened;

    private record Opened(FileChannel channel, int blockBytes) {}

    /** Creates a closed channel to the file. */
    DirectChannel(Path path) {
        this.path = path;
    }

    /** Opens the channel, if it is not open; returns the bytes of a block. */
    int open() throws IOException {
        opening.lock();
        try {
            Opened present = opened;
            if (present == null) {
                present = openNow();
                opened = present;
            }
            return present.blockBytes;
        } finally {
            opening.unlock();
        }
    }

    private Opened openNow() throws IOException {
        long blockBytes = Math.max(BLOCK_BYTES_MIN, Files.getFileStore(path).getBlockSize());
        if (blockBytes > BLOCK_BYTES_MAX || Long.bitCount(blockBytes) != 1) {
            throw new IOException(path + ": the block size of the file system " + type()
                    + " is not usable for direct writes: actual=" + blockBytes + " bytes, limit=" + BLOCK_BYTES_MAX);
        }
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE, ExtendedOpenOption.DIRECT);
            return new Opened(channel, (int) blockBytes);
        } catch (IOException | UnsupportedOperationException e) {
            throw new IOException(
                    path + ": the file system " + type() + " refuses O_DIRECT (" + e.getMessage() + ")", e);
        }
    }

    private String type() throws IOException {
        return Files.getFileStore(path).type();
    }

    /** Writes all of {@code source}; see {@link StoreFile#writeDirect}. */
    void write(ByteBuffer source, long position) throws IOException {
        Opened present = opened;
        if (present == null) {
            throw new IOException(path + ": no direct channel");
        }
        long at = position;
        while (source.hasRemaining()) {
            at += present.channel.write(source, at);
        }
    }

    @Override
    public void close() throws IOException {
        opening.lock();
        try {
            Opened present = opened;
            opened = null;
            if (present != null) {
                present.channel.close();
            }
        } finally {
            opening.unlock();
        }
    }
}
