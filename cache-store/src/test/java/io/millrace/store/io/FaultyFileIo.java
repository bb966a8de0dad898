package io.millrace.store.io;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file system in memory that fails on demand, can be killed in the middle of a write, and knows what a power failure
 * would leave: what was forced, and of the rest some sectors.
 *
 * <p>Thread-safe: one lock for all.
 */
public final class FaultyFileIo implements FileIo {
    private static final int SECTOR = 512;
    private static final String FULL = "No space left on device";

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, Content> files = new HashMap<>();
    private final Set<Path> leases = new HashSet<>();
    private final Map<Path, byte[]> held = new HashMap<>();
    private final String bootId;
    private long writesUntilKill = -1;
    private Random tearing = new Random(0);
    private boolean dead;
    private Map<Path, Content> image = Map.of();
    private boolean failWrites;
    private boolean failReads;
    private Path onlyUnder = Path.of("/");
    private String fault = FULL;
    private Path badFile = Path.of("/");
    private long badFrom;
    private long badTo;

    /** An empty file system of a machine just booted. */
    public FaultyFileIo() {
        this(UUID.randomUUID().toString(), Map.of());
    }

    private FaultyFileIo(String bootId, Map<Path, Content> content) {
        this.bootId = bootId;
        content.forEach((path, file) -> files.put(path, file.copy()));
    }

    private static final class Content {
        private byte[] bytes = {};
        private byte[] durable = {};
        private boolean fixed;
        private final BitSet unforced = new BitSet();
        private final List<Mapped> mapped = new ArrayList<>();

        /** What was stored into mappings is what reading finds. */
        void pull() {
            // The header, mapped last, first: what it says is then true of the rest.
            for (int i = mapped.size() - 1; i >= 0; i--) {
                Mapped region = mapped.get(i);
                if (region.buffer.limit() == 0) {
                    continue;
                }
                region.buffer.get(0, bytes, (int) region.position, region.buffer.capacity());
                unforced.set((int) region.position / SECTOR, (bytes.length + SECTOR - 1) / SECTOR);
            }
        }

        Content copy() {
            pull();
            Content copy = new Content();
            copy.bytes = bytes.clone();
            copy.durable = durable.clone();
            copy.fixed = fixed;
            copy.unforced.or(unforced);
            return copy;
        }

        void resize(int length) {
            bytes = Arrays.copyOf(bytes, length);
            // A file's length is metadata; a journaling file system keeps it.
            durable = Arrays.copyOf(durable, length);
        }

        /** What a power failure leaves. */
        void losePower(Random random) {
            byte[] left = durable.clone();
            for (int sector = unforced.nextSetBit(0); sector >= 0; sector = unforced.nextSetBit(sector + 1)) {
                int from = sector * SECTOR;
                if (from < bytes.length && random.nextInt(3) > 0) {
                    System.arraycopy(bytes, from, left, from, Math.min(SECTOR, bytes.length - from));
                }
            }
            bytes = left;
            durable = left.clone();
            unforced.clear();
        }
    }

    private static final class Mapped {
        final long position;
        final ByteBuffer buffer;

        Mapped(long position, ByteBuffer buffer) {
            this.position = position;
            this.buffer = buffer;
        }
    }

    private Path heldUnder;
    private Runnable beforeWrite;
    private Path countedUnder;
    private int writesCounted;
    private Set<Integer> writesToFail = Set.of();

    /** After so many more writes the process dies in the middle of one: nothing works from then on. */
    public void killAfterWrites(long writes, Random random) {
        lock.lock();
        try {
            writesUntilKill = writes;
            tearing = random;
        } finally {
            lock.unlock();
        }
    }

    /** The process dies now. */
    public void kill() {
        lock.lock();
        try {
            die();
        } finally {
            lock.unlock();
        }
    }

    private void die() {
        if (!dead) {
            dead = true;
            image = new HashMap<>();
            files.forEach((path, file) -> image.put(path, file.copy()));
        }
    }

    /** Whether the process died. */
    public boolean isDead() {
        lock.lock();
        try {
            return dead;
        } finally {
            lock.unlock();
        }
    }

    /** What the next process finds: the page cache outlived the one that died. */
    public FaultyFileIo afterKill() {
        kill();
        return new FaultyFileIo(bootId, image);
    }

    /** What another process would find if this one died now; it goes on. */
    public FaultyFileIo copy() {
        lock.lock();
        try {
            return new FaultyFileIo(bootId, files);
        } finally {
            lock.unlock();
        }
    }

    /** What is found after the machine lost power at the moment when the process died. */
    public FaultyFileIo afterPowerLoss(Random random) {
        kill();
        FaultyFileIo next = new FaultyFileIo(UUID.randomUUID().toString(), image);
        next.files.values().forEach(file -> file.losePower(random));
        return next;
    }

    /** What is found after a clean reboot: everything. */
    public FaultyFileIo afterReboot() {
        kill();
        return new FaultyFileIo(UUID.randomUUID().toString(), image);
    }

    /** From now on writes under the path fail as on a full disk. */
    public void failWrites(boolean fail, Path under) {
        lock.lock();
        try {
            failWrites = fail;
            onlyUnder = under;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Of the writes to come those with these numbers fail, the next one being 1; of each a part is written.
     *
     * @param under only writes there are counted
     */
    public void failWritesNumbered(Path under, Random random, Integer... numbers) {
        lock.lock();
        try {
            countedUnder = under;
            writesCounted = 0;
            writesToFail = Set.of(numbers);
            tearing = random;
        } finally {
            lock.unlock();
        }
    }

    /** Has the next write under the path wait for that to run first, on the thread that writes. */
    public void beforeNextWrite(Path under, Runnable action) {
        lock.lock();
        try {
            heldUnder = under;
            beforeWrite = action;
        } finally {
            lock.unlock();
        }
    }

    private void runBeforeWrite(Path path) {
        Runnable action = null;
        lock.lock();
        try {
            if (heldUnder != null && path.startsWith(heldUnder)) {
                action = beforeWrite;
                heldUnder = null;
            }
        } finally {
            lock.unlock();
        }
        if (action != null) {
            action.run();
        }
    }

    /** Writes since {@link #failWritesNumbered}. */
    public long writesCounted() {
        lock.lock();
        try {
            return writesCounted;
        } finally {
            lock.unlock();
        }
    }

    private boolean isToFail(Path path) {
        if (countedUnder == null || !path.startsWith(countedUnder)) {
            return false;
        }
        writesCounted++;
        return writesToFail.contains(writesCounted);
    }

    /** From now on reads under the path fail. */
    public void failReads(boolean fail, Path under) {
        lock.lock();
        try {
            failReads = fail;
            onlyUnder = under;
        } finally {
            lock.unlock();
        }
    }

    /** From now on reads of a part of a file fail, as of bad sectors; of an empty part, none. */
    public void failReads(Path path, long from, long to) {
        lock.lock();
        try {
            badFile = path;
            badFrom = from;
            badTo = to;
        } finally {
            lock.unlock();
        }
    }

    /** From now on nothing under the path can be written, as on a file system that was remounted. */
    public void readOnly(boolean on, Path under) {
        lock.lock();
        try {
            failWrites = on;
            onlyUnder = under;
            fault = on ? "Read-only file system" : FULL;
        } finally {
            lock.unlock();
        }
    }

    /** Flips one bit of a file. */
    public void flipBit(Path path, long bit) {
        lock.lock();
        try {
            files.get(path).bytes[(int) (bit / 8)] ^= (byte) (1 << bit % 8);
        } finally {
            lock.unlock();
        }
    }

    /** Where in a file the bytes first lie, -1 when they do not. */
    public long find(Path path, byte[] wanted) {
        return find(path, wanted, 0);
    }

    /** Where in a file the bytes first lie from a place on, -1 when they do not. */
    public long find(Path path, byte[] wanted, long from) {
        lock.lock();
        try {
            byte[] bytes = files.get(path).bytes;
            for (int at = (int) from; at + wanted.length <= bytes.length; at++) {
                if (Arrays.mismatch(bytes, at, at + wanted.length, wanted, 0, wanted.length) < 0) {
                    return at;
                }
            }
            return -1;
        } finally {
            lock.unlock();
        }
    }

    /** A block device of this content. */
    public void device(Path path, byte[] bytes) {
        put(path, bytes, true);
    }

    /** Puts a file there, in place of whatever is. */
    public void replace(Path path, byte[] bytes) {
        put(path, bytes, false);
    }

    private void put(Path path, byte[] bytes, boolean fixed) {
        lock.lock();
        try {
            Content content = new Content();
            content.bytes = bytes.clone();
            content.durable = bytes.clone();
            content.fixed = fixed;
            files.put(path, content);
        } finally {
            lock.unlock();
        }
    }

    /** What a file holds. */
    public byte[] content(Path path) {
        lock.lock();
        try {
            return files.get(path).bytes.clone();
        } finally {
            lock.unlock();
        }
    }

    /** A part of a file. */
    public byte[] bytes(Path path, long from, int length) {
        lock.lock();
        try {
            return Arrays.copyOfRange(files.get(path).bytes, (int) from, (int) from + length);
        } finally {
            lock.unlock();
        }
    }

    /** Cuts a file off. */
    public void truncate(Path path, long length) {
        lock.lock();
        try {
            files.get(path).resize((int) length);
        } finally {
            lock.unlock();
        }
    }

    /** From now on every access to what is mapped of the file fails, as after it was cut off. */
    public void unmap(Path path) {
        lock.lock();
        try {
            Content content = files.get(path);
            content.pull();
            content.mapped.forEach(region -> region.buffer.limit(0));
        } finally {
            lock.unlock();
        }
    }

    /** Length of a file. */
    public long length(Path path) {
        lock.lock();
        try {
            return files.get(path).bytes.length;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public StoreFile open(Path file) throws IOException {
        lock.lock();
        try {
            check(failWrites, file);
            return new MemoryFile(file, files.computeIfAbsent(file, path -> new Content()));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public StoreFile openForReading(Path file) throws IOException {
        if (!exists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        return open(file);
    }

    @Override
    public boolean exists(Path path) {
        lock.lock();
        try {
            return files.containsKey(path);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void createDirectories(Path directory) {
        // Directories are where files are.
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        lock.lock();
        try {
            check(failWrites, from);
            files.put(to, files.remove(from));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void delete(Path file) throws IOException {
        lock.lock();
        try {
            check(failWrites, file);
            files.remove(file);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Closeable lease(Path directory) throws IOException {
        lock.lock();
        try {
            if (!leases.add(directory)) {
                throw new LeaseHeldException(directory + ": in use");
            }
            return () -> {
                lock.lock();
                try {
                    leases.remove(directory);
                } finally {
                    lock.unlock();
                }
            };
        } finally {
            lock.unlock();
        }
    }

    @Override
    public LeasedFile openLeased(Path file) throws IOException {
        return new LeasedFile(open(file), lease(file));
    }

    @Override
    public List<Path> list(Path directory, String prefix) throws IOException {
        lock.lock();
        try {
            check(failReads, directory);
            List<Path> found = new ArrayList<>();
            for (Path file : files.keySet()) {
                if (directory.equals(file.getParent())
                        && file.getFileName().toString().startsWith(prefix)) {
                    found.add(file);
                }
            }
            return found;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public HeldFile hold(Path file, byte[] content) throws IOException {
        lock.lock();
        try {
            check(failWrites, file);
            if (files.putIfAbsent(file, new Content()) != null) {
                throw new FileAlreadyExistsException(file.toString());
            }
            held.put(file, content.clone());
            return new MemoryHeldFile(file);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public byte[] contentIfHeld(Path file) throws IOException {
        lock.lock();
        try {
            check(failReads, file);
            byte[] content = held.get(file);
            if (content == null) {
                files.remove(file);
            }
            return content;
        } finally {
            lock.unlock();
        }
    }

    private final class MemoryHeldFile implements HeldFile {
        private final Path path;

        MemoryHeldFile(Path path) {
            this.path = path;
        }

        @Override
        public void content(byte[] bytes) throws IOException {
            lock.lock();
            try {
                check(failWrites, path);
                held.put(path, bytes.clone());
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                files.remove(path);
                held.remove(path);
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public String bootId() {
        return bootId;
    }

    private void check(boolean fail, Path path) throws IOException {
        if (dead) {
            throw new IOException("the process is dead");
        }
        if (fail && path.startsWith(onlyUnder)) {
            throw new IOException(path + ": " + fault);
        }
    }

    private final class MemoryFile implements StoreFile {
        private final Path path;
        private final Content content;
        private boolean closed;

        MemoryFile(Path path, Content content) {
            this.path = path;
            this.content = content;
        }

        private void check(boolean fail) throws IOException {
            FaultyFileIo.this.check(fail, path);
            if (closed) {
                throw new IOException(path + ": closed");
            }
        }

        @Override
        public boolean isFixed() {
            return content.fixed;
        }

        @Override
        public long length() throws IOException {
            lock.lock();
            try {
                check(false);
                return content.bytes.length;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void resize(long length) throws IOException {
            lock.lock();
            try {
                check(failWrites);
                if (!content.fixed) {
                    content.resize((int) length);
                }
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            lock.lock();
            try {
                check(failReads);
                if (path.equals(badFile) && position < badTo && position + target.remaining() > badFrom) {
                    throw new IOException(path + ": Input/output error");
                }
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
            runBeforeWrite(path);
            lock.lock();
            try {
                check(failWrites);
                if (isToFail(path)) {
                    put(source.limit(source.position() + tearing.nextInt(source.remaining() + 1)), position);
                    throw new IOException(path + ": Input/output error");
                }
                if (writesUntilKill == 0) {
                    // Torn: a part of it made it into the page cache.
                    put(source.limit(source.position() + tearing.nextInt(source.remaining() + 1)), position);
                    die();
                    throw new IOException("killed while writing");
                }
                writesUntilKill -= writesUntilKill > 0 ? 1 : 0;
                put(source, position);
            } finally {
                lock.unlock();
            }
        }

        private void put(ByteBuffer source, long position) throws IOException {
            int count = source.remaining();
            if (content.fixed && position + count > content.bytes.length) {
                throw new IOException(path + ": No space left on device");
            }
            if (position + count > content.bytes.length) {
                content.resize((int) position + count);
            }
            source.get(content.bytes, (int) position, count);
            content.unforced.set((int) position / SECTOR, (int) (position + count + SECTOR - 1) / SECTOR);
        }

        @Override
        public void force() throws IOException {
            lock.lock();
            try {
                check(failWrites);
                content.unforced.stream().forEach(sector -> {
                    int from = sector * SECTOR;
                    int length = Math.min(SECTOR, content.bytes.length - from);
                    if (length > 0) {
                        System.arraycopy(content.bytes, from, content.durable, from, length);
                    }
                });
                content.unforced.clear();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public MappedRegion map(long position, long length) throws IOException {
            lock.lock();
            try {
                check(false);
                if (position + length > content.bytes.length) {
                    throw new EOFException(path + ": mapped past the end");
                }
                for (Mapped known : content.mapped) {
                    if (known.position == position && known.buffer.limit() == length) {
                        return new MemoryRegion(known);
                    }
                }
                Mapped region = new Mapped(
                        position, ByteBuffer.allocateDirect((int) length).order(ByteOrder.LITTLE_ENDIAN));
                region.buffer.put(0, content.bytes, (int) position, (int) length);
                content.mapped.add(region);
                return new MemoryRegion(region);
            } finally {
                lock.unlock();
            }
        }

        private final class MemoryRegion implements MappedRegion {
            private final Mapped region;

            MemoryRegion(Mapped region) {
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
                    FaultyFileIo.this.check(failWrites, path);
                    if (region.buffer.limit() == 0) {
                        throw new IOException(path + ": cut off");
                    }
                    region.buffer.get(0, content.durable, (int) region.position, region.buffer.capacity());
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
}
