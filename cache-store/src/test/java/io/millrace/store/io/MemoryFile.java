package io.millrace.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** An open file of a {@link FaultyFileIo}. Thread-safe under its lock. */
final class MemoryFile implements StoreFile {
    /** Bytes of a block of direct writes: small, so that short records are written directly too. */
    static final int DIRECT_BLOCK_BYTES = 512;

    private final FaultyFileIo io;
    private final FaultPlan faults;
    private final ReentrantLock lock;
    private final Path path;
    private final MemoryContent content;
    private boolean closed;
    private boolean direct;

    MemoryFile(FaultyFileIo io, FaultPlan faults, ReentrantLock lock, Path path, MemoryContent content) {
        this.io = io;
        this.faults = faults;
        this.lock = lock;
        this.path = path;
        this.content = content;
    }

    private void check() throws IOException {
        io.checkAlive();
        if (closed) {
            throw new IOException(path + ": closed");
        }
    }

    private void checkWrite() throws IOException {
        check();
        faults.checkWrite(path);
    }

    @Override
    public boolean isFixed() {
        return content.fixed;
    }

    @Override
    public long length() throws IOException {
        lock.lock();
        try {
            check();
            return content.bytes.length;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void resize(long length) throws IOException {
        lock.lock();
        try {
            checkWrite();
            if (!content.fixed) {
                content.resize((int) length);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        io.runBeforeRead(path);
        lock.lock();
        try {
            check();
            faults.checkRead(path);
            faults.checkSectors(path, position, target.remaining());
            int count = (int) Math.max(0, Math.min(target.remaining(), content.bytes.length - position));
            content.pull();
            target.put(content.bytes, (int) Math.min(position, content.bytes.length), count);
            return count;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
        io.runBeforeWrite(path);
        lock.lock();
        try {
            checkWrite();
            if (faults.isToFail(path)) {
                put(faults.torn(source), position);
                throw new IOException(path + ": Input/output error");
            }
            if (faults.isToKill()) {
                // A part of the bytes is in the page cache.
                put(faults.torn(source), position);
                io.kill();
                throw new IOException("killed while writing");
            }
            put(source, position);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int openDirect() throws IOException {
        lock.lock();
        try {
            check();
            io.checkDirect(path);
            direct = true;
            return DIRECT_BLOCK_BYTES;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int directBlockBytes() {
        lock.lock();
        try {
            return direct ? DIRECT_BLOCK_BYTES : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Writes like {@link #write}; a write that O_DIRECT would refuse is an error of the caller, not of the disk. */
    @Override
    public void writeDirect(ByteBuffer source, long position) throws IOException {
        boolean aligned = source.isDirect()
                && position % DIRECT_BLOCK_BYTES == 0
                && source.remaining() % DIRECT_BLOCK_BYTES == 0
                && source.hasRemaining()
                && source.alignmentOffset(source.position(), DIRECT_BLOCK_BYTES) == 0;
        if (!direct || !aligned) {
            throw new IllegalArgumentException(path + ": not aligned, position=" + position);
        }
        lock.lock();
        try {
            io.countDirect();
            io.checkDirect(path);
        } finally {
            lock.unlock();
        }
        write(source, position);
    }

    private void put(ByteBuffer source, long position) throws IOException {
        try {
            content.put(source, position);
        } catch (IOException e) {
            throw new IOException(path + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void force() throws IOException {
        lock.lock();
        try {
            checkWrite();
            content.force();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public MappedRegion map(long position, long length) throws IOException {
        lock.lock();
        try {
            check();
            return new MemoryRegion(content.map(position, length));
        } finally {
            lock.unlock();
        }
    }

    private final class MemoryRegion implements MappedRegion {
        private final MemoryContent.Mapped region;

        MemoryRegion(MemoryContent.Mapped region) {
            this.region = region;
        }

        @Override
        public ByteBuffer buffer() {
            return region.buffer;
        }

        @Override
        public void force() throws IOException {
            lock.lock();
            try {
                io.checkAlive();
                faults.checkWrite(path);
                content.force(region);
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }
}
