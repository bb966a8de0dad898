package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** The file system of the machine, with one file for which there is no space. */
public final class FullDiskIo implements FileIo {
    private final SystemFileIo io = new SystemFileIo();
    private final String fileName;
    private volatile boolean full = true;

    /** @param fileName name of the file that finds no space */
    public FullDiskIo(String fileName) {
        this.fileName = fileName;
    }

    /** From now on the file finds space. */
    public void freeSpace() {
        full = false;
    }

    @Override
    public StoreFile open(Path file) throws IOException {
        StoreFile opened = io.open(file);
        return full && file.endsWith(fileName) ? new Full(opened) : opened;
    }

    @Override
    public StoreFile openForReading(Path file) throws IOException {
        return io.openForReading(file);
    }

    @Override
    public boolean exists(Path path) {
        return io.exists(path);
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        io.createDirectories(directory);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        io.rename(from, to);
    }

    @Override
    public void delete(Path file) throws IOException {
        io.delete(file);
    }

    @Override
    public Closeable lease(Path directory) throws IOException {
        return io.lease(directory);
    }

    @Override
    public LeasedFile openLeased(Path file) throws IOException {
        return io.openLeased(file);
    }

    @Override
    public List<Path> list(Path directory, String prefix) throws IOException {
        return io.list(directory, prefix);
    }

    @Override
    public HeldFile hold(Path file, byte[] content) throws IOException {
        return io.hold(file, content);
    }

    @Override
    public byte[] contentIfHeld(Path file) throws IOException {
        return io.contentIfHeld(file);
    }

    @Override
    public String bootId() {
        return io.bootId();
    }

    private record Full(StoreFile file) implements StoreFile {
        @Override
        public long length() throws IOException {
            return file.length();
        }

        @Override
        public void resize(long length) throws IOException {
            file.resize(length);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            throw new IOException("No space left on device");
        }

        @Override
        public void force() throws IOException {
            file.force();
        }

        @Override
        public MappedRegion map(long position, long length) throws IOException {
            return file.map(position, length);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
