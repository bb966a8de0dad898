package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file system in memory that fails on demand and can be killed during a write. It records what a power failure would
 * leave: all forced bytes, and some sectors of the rest.
 *
 * <p>Thread-safe: one lock for all.
 */
public final class FaultyFileIo implements FileIo {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, MemoryContent> files = new HashMap<>();
    private final Set<Path> leases = new HashSet<>();
    private final FaultPlan faults = new FaultPlan();
    private final Map<Path, byte[]> held = new HashMap<>();
    private final String bootId;
    private boolean dead;
    private boolean refusesDirect;
    private long directWrites;
    private Map<Path, MemoryContent> image = Map.of();

    /** Creates an empty file system of a machine that has just booted. */
    public FaultyFileIo() {
        this(UUID.randomUUID().toString(), Map.of());
    }

    private FaultyFileIo(String bootId, Map<Path, MemoryContent> content) {
        this.bootId = bootId;
        content.forEach((path, file) -> files.put(path, file.copy()));
    }

    /** After this many further writes the process dies during one of them. All later calls fail. */
    public void killAfterWrites(long writes, Random random) {
        lock.lock();
        try {
            faults.killAfterWrites(writes, random);
        } finally {
            lock.unlock();
        }
    }

    /** Kills the process now. */
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

    /** Returns true if the process has died. */
    public boolean isDead() {
        lock.lock();
        try {
            return dead;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the files for the next process: the page cache outlives the dead process. */
    public FaultyFileIo afterKill() {
        kill();
        return next(bootId);
    }

    private FaultyFileIo next(String boot) {
        FaultyFileIo next = new FaultyFileIo(boot, image);
        next.directWrites = directWrites;
        return next;
    }

    /** Returns the files that another process would find if this one died now; this one continues. */
    public FaultyFileIo copy() {
        lock.lock();
        try {
            return new FaultyFileIo(bootId, files);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the files after the machine lost power at the moment when the process died. */
    public FaultyFileIo afterPowerLoss(Random random) {
        kill();
        FaultyFileIo next = next(UUID.randomUUID().toString());
        next.files.values().forEach(file -> file.losePower(random));
        return next;
    }

    /** Returns all files, as after a clean reboot. */
    public FaultyFileIo afterReboot() {
        kill();
        return next(UUID.randomUUID().toString());
    }

    /** From now on, writes under the path fail as on a full disk. */
    public void failWrites(boolean fail, Path under) {
        lock.lock();
        try {
            faults.failWrites(fail, under);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes the following writes with these numbers fail; the next write has number 1. A part of each failed write is
     * written.
     *
     * @param under only writes under this path are counted
     */
    public void failWritesNumbered(Path under, Random random, Integer... numbers) {
        lock.lock();
        try {
            faults.failWritesNumbered(under, random, Set.of(numbers));
        } finally {
            lock.unlock();
        }
    }

    /** Runs an action before the next write under the path, on the writing thread. */
    public void beforeNextWrite(Path under, Runnable action) {
        lock.lock();
        try {
            faults.beforeNextWrite(under, action);
        } finally {
            lock.unlock();
        }
    }

    /** Runs an action before every read under the path, on the reading thread. */
    public void beforeReads(Path under, Runnable action) {
        lock.lock();
        try {
            faults.beforeReads(under, action);
        } finally {
            lock.unlock();
        }
    }

    /** Runs the action before the read, without the lock. */
    void runBeforeRead(Path path) {
        Runnable action;
        lock.lock();
        try {
            action = faults.beforeRead(path);
        } finally {
            lock.unlock();
        }
        if (action != null) {
            action.run();
        }
    }

    /** Runs the action before the write, without the lock. */
    void runBeforeWrite(Path path) {
        Runnable action;
        lock.lock();
        try {
            action = faults.takeBeforeWrite(path);
        } finally {
            lock.unlock();
        }
        if (action != null) {
            action.run();
        }
    }

    /** Returns the number of writes since {@link #failWritesNumbered}. */
    public long writesCounted() {
        lock.lock();
        try {
            return faults.writesCounted();
        } finally {
            lock.unlock();
        }
    }

    /** From now on, reads under the path fail. */
    public void failReads(boolean fail, Path under) {
        lock.lock();
        try {
            faults.failReads(fail, under);
        } finally {
            lock.unlock();
        }
    }

    /** From now on, reads of a part of a file fail, as for bad sectors; for an empty part no reads fail. */
    public void failReads(Path path, long from, long to) {
        lock.lock();
        try {
            faults.failReads(path, from, to);
        } finally {
            lock.unlock();
        }
    }

    /** From now on, writes under the path fail, as on a file system that was remounted read-only. */
    public void readOnly(boolean on, Path under) {
        lock.lock();
        try {
            faults.readOnly(on, under);
        } finally {
            lock.unlock();
        }
    }

    /** From now on, files are opened without direct writes, as on a file system that refuses O_DIRECT. */
    public void refuseDirect() {
        lock.lock();
        try {
            refusesDirect = true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of direct writes so far, of all files, including those before a kill. */
    public long directWrites() {
        lock.lock();
        try {
            return directWrites;
        } finally {
            lock.unlock();
        }
    }

    /** Checks that direct writes are possible. The caller holds the lock. */
    void checkDirect(Path path) throws IOException {
        checkAlive();
        if (refusesDirect) {
            throw new IOException(path + ": the file system memory refuses O_DIRECT (Invalid argument)");
        }
    }

    /** Counts a direct write. The caller holds the lock. */
    void countDirect() {
        directWrites++;
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

    /** Returns the first position of the bytes in a file; -1 if there is none. */
    public long find(Path path, byte[] wanted) {
        return find(path, wanted, 0);
    }

    /** Returns the first position of the bytes in a file at or after a position; -1 if there is none. */
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

    /** Creates a block device with this content. */
    public void device(Path path, byte[] bytes) {
        put(path, bytes, true);
    }

    /** Puts a file at the path, in place of any existing one. */
    public void replace(Path path, byte[] bytes) {
        put(path, bytes, false);
    }

    private void put(Path path, byte[] bytes, boolean fixed) {
        lock.lock();
        try {
            files.put(path, MemoryContent.of(bytes, fixed));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the content of a file. */
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

    /** Truncates a file. */
    public void truncate(Path path, long length) {
        lock.lock();
        try {
            files.get(path).resize((int) length);
        } finally {
            lock.unlock();
        }
    }

    /** From now on, every access to mappings of the file fails, as after a truncation. */
    public void unmap(Path path) {
        lock.lock();
        try {
            files.get(path).unmap();
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
            checkWrite(file);
            return new MemoryFile(this, faults, lock, file, files.computeIfAbsent(file, path -> new MemoryContent()));
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
        // Directories exist implicitly, where their files are.
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        lock.lock();
        try {
            checkWrite(from);
            files.put(to, files.remove(from));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void delete(Path file) throws IOException {
        lock.lock();
        try {
            checkWrite(file);
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
            checkRead(directory);
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
            checkWrite(file);
            if (files.putIfAbsent(file, new MemoryContent()) != null) {
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
            checkRead(file);
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
                checkWrite(path);
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

    /** Throws an exception if the process is dead. */
    void checkAlive() throws IOException {
        if (dead) {
            throw new IOException("the process is dead");
        }
    }

    private void checkWrite(Path path) throws IOException {
        checkAlive();
        faults.checkWrite(path);
    }

    private void checkRead(Path path) throws IOException {
        checkAlive();
        faults.checkRead(path);
    }
}
