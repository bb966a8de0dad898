package io.millrace.store.io;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A file that is read and written with a {@link FileChannel}. A full disk or a bad sector raises an
 * {@link IOException}; access by mapped memory would raise a signal.
 *
 * <p>Thread-safe. An interrupt of a thread during I/O closes the channel for all threads. Therefore the store never
 * interrupts its threads; a thread ends when it receives a message to stop.
 */
final class ChannelFile implements StoreFile {
    private final Path path;
    private final FileChannel channel;
    private final DirectChannel direct;
    private final boolean fixed;
    private final Closeable closing;
    /** Bytes of a block of direct writes; 0 until this instance has opened the direct channel. */
    private volatile int directBlockBytes;

    ChannelFile(Path path, FileChannel channel) {
        this(path, channel, new DirectChannel(path));
    }

    private ChannelFile(Path path, FileChannel channel, DirectChannel direct) {
        this(path, channel, direct, false, both(channel, direct));
    }

    /**
     * Creates a file whose channels may be shared.
     *
     * @param fixed true if the length of the file cannot change, as for a block device
     * @param closing runs when the file is closed
     */
    ChannelFile(Path path, FileChannel channel, DirectChannel direct, boolean fixed, Closeable closing) {
        this.path = path;
        this.channel = channel;
        this.direct = direct;
        this.fixed = fixed;
        this.closing = closing;
    }

    private static Closeable both(FileChannel channel, DirectChannel direct) {
        return () -> {
            try (direct) {
                channel.close();
            }
        };
    }

    @Override
    public boolean isFixed() {
        return fixed;
    }

    @Override
    public long length() throws IOException {
        return channel.size();
    }

    @Override
    public void resize(long length) throws IOException {
        if (fixed) {
            return;
        }
        if (length < channel.size()) {
            channel.truncate(length);
        } else if (length > channel.size()) {
            channel.write(ByteBuffer.allocate(1), length - 1);
        }
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        int total = 0;
        while (target.hasRemaining()) {
            int count = channel.read(target, position + total);
            if (count < 0) {
                break;
            }
            total += count;
        }
        return total;
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
        long at = position;
        while (source.hasRemaining()) {
            at += channel.write(source, at);
        }
    }

    @Override
    public int openDirect() throws IOException {
        directBlockBytes = direct.open();
        return directBlockBytes;
    }

    @Override
    public int directBlockBytes() {
        return directBlockBytes;
    }

    @Override
    public void writeDirect(ByteBuffer source, long position) throws IOException {
        direct.write(source, position);
    }

    @Override
    public void force() throws IOException {
        channel.force(false);
    }

    @Override
    public MappedRegion map(long position, long length) throws IOException {
        if (position + length > channel.size()) {
            // A mapping beyond the end would extend the file, or raise a fault at the first access.
            throw new EOFException(
                    path + ": mapping ends at byte " + (position + length) + ", file ends at byte " + channel.size());
        }
        return new Region(channel.map(FileChannel.MapMode.READ_WRITE, position, length));
    }

    @Override
    public void close() throws IOException {
        closing.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }

    private record Region(MappedByteBuffer buffer) implements MappedRegion {
        @Override
        public void force() throws IOException {
            try {
                buffer.force();
            } catch (java.io.UncheckedIOException e) {
                throw e.getCause();
            }
        }
    }
}
