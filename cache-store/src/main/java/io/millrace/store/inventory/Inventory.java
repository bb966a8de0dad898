package io.millrace.store.inventory;

import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import net.openhft.chronicle.hash.ChronicleHashClosedException;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.MapSegmentContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inventory of one volume: a table of its stored objects for listings and searches. It is a persistent map from key
 * hash to {@link InventoryEntry}: a Chronicle Map in a file of fixed size.
 *
 * <p>The map's locks are in its file, and stay locked when a process is killed. Therefore only one thread of one
 * process uses the map. A map that was not closed cleanly is deleted and rebuilt from the records in the volume's
 * segments (the areas of the volume that hold the stored objects). The map itself consists of map segments.
 *
 * <p>An entry that does not fit is dropped and counted in {@link #dropped}.
 *
 * <p>Confined to one thread, except the methods marked "any thread".
 */
public final class Inventory {
    /** Name of the map's file in the volume's directory. */
    public static final String FILE_NAME = "inventory";

    /** Prefix of the file name of a larger map that is not complete yet. */
    static final String LARGER_PREFIX = "inventory.larger-";

    /** Minimum number of entries of a map. */
    public static final long ENTRIES_MIN = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(Inventory.class);
    private static final int HASH_BYTES = 16;
    /** Expected bytes of an entry: the fixed part, a URL of usual length, and the description of the response. */
    private static final int VALUE_BYTES_EXPECTED = 200;
    /** Approximate entries per map segment; a listing processes one segment at a time. */
    private static final long ENTRIES_PER_SEGMENT = 2048;

    private static final int SEGMENTS_MIN = 16;
    private static final int SEGMENTS_MAX = 8192;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final long ALLOCATED_AT_ONCE_BYTES = 32L << 20;
    /**
     * Number of larger maps created. It makes their paths unique, because Chronicle Map shares one open file for equal
     * paths in a process.
     */
    private static final AtomicLong LARGER_MAPS = new AtomicLong();
    /** The packages of java.base that Chronicle accesses by reflection. */
    private static final List<String> REFLECTED_PACKAGES = List.of("java.lang", "java.lang.reflect", "sun.nio.ch");

    private final FileIo io;
    private final Path directory;
    private final UUID volumeId;
    private final ChronicleMap<byte[], byte[]> map;
    /** The map's file; it gets its final name when it replaces a smaller map. */
    private Path file;

    private final long entriesMax;
    private final long fileBytes;
    /** State of the map when it was opened; null for a new map. */
    private final @Nullable InventoryState stateAtOpen;

    /** Number of bytes of the file, from its start, whose blocks are allocated on the device. */
    private long allocatedTo;
    /** Buffer for the allocation of blocks; null before its first use and after its end. */
    private @Nullable ByteBuffer allocationChunk;

    private volatile long dropped;
    private volatile long entries;

    /** Receives the entries of one map segment. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Called for each entry. {@link Inventory#location}, {@link Inventory#key} and {@link Inventory#decode} read
         * the encoded entry. Its bytes are borrowed.
         *
         * @return true to keep the entry, false to remove it
         */
        boolean entry(long hashHigh, long hashLow, byte[] encoded);
    }

    private Inventory(
            FileIo io,
            Path directory,
            UUID volumeId,
            ChronicleMap<byte[], byte[]> map,
            Path file,
            long entriesMax,
            long fileBytes,
            @Nullable InventoryState stateAtOpen) {
        this.io = io;
        this.directory = directory;
        this.volumeId = volumeId;
        this.map = map;
        this.file = file;
        this.entriesMax = entriesMax;
        this.fileBytes = fileBytes;
        this.stateAtOpen = stateAtOpen;
        entries = map.longSize();
    }

    /** Returns the reason why this JVM cannot use Chronicle Map; null if it can. */
    public static @Nullable String obstacle() {
        Module own = Inventory.class.getModule();
        for (String reflected : REFLECTED_PACKAGES) {
            if (!Object.class.getModule().isOpen(reflected, own)) {
                return "the JVM runs without --add-opens java.base/" + reflected + "=ALL-UNNAMED";
            }
        }
        return null;
    }

    /**
     * Opens the inventory if it was closed cleanly. Otherwise creates an empty one and allocates its space on the
     * device.
     *
     * @param entriesExpected minimum number of entries for which the map must have space
     * @param mayContinue called periodically; returns false to cancel
     * @throws InventoryException if no inventory can be opened or created; a partly created file is deleted
     */
    public static Inventory open(
            FileIo io, Path directory, UUID volumeId, long entriesExpected, BooleanSupplier mayContinue)
            throws InventoryException {
        String obstacle = io.hasRealPaths()
                ? obstacle()
                : "the store's files are not in a file system that the inventory's library can open";
        if (obstacle != null) {
            throw new InventoryException(obstacle);
        }
        // Chronicle must not report usage data, even if its analytics library is on the class path.
        System.setProperty("chronicle.analytics.disable", "true");
        try {
            for (Path unfinished : io.list(directory, LARGER_PREFIX)) {
                io.delete(unfinished);
            }
            InventoryState state = InventoryState.readAndErase(io, directory, volumeId);
            if (state != null && state.entriesMax() >= entriesExpected && isSound(io, directory, state, mayContinue)) {
                Inventory kept = reopen(io, directory, volumeId, state);
                if (kept != null) {
                    return kept;
                }
            }
            delete(io, directory);
            Path file = directory.resolve(FILE_NAME);
            Inventory made = create(io, directory, file, volumeId, Math.max(ENTRIES_MIN, entriesExpected));
            made.allocateAll(mayContinue);
            return made;
        } catch (InventoryException e) {
            throw e;
        } catch (IOException e) {
            throw new InventoryException(directory.resolve(FILE_NAME) + ": " + e.getMessage(), e);
        }
    }

    /**
     * Creates an empty inventory with space for more entries. Both exist until {@link #replaceBy} or until the larger
     * one is abandoned. No entry may be added to the larger one until {@link #allocate} has returned true.
     *
     * @param entriesExpected minimum number of entries for which the map must have space
     * @throws InventoryException if it cannot be created; a partly created file is deleted
     */
    public Inventory createLarger(long entriesExpected) throws InventoryException {
        Path larger = directory.resolve(LARGER_PREFIX + LARGER_MAPS.incrementAndGet());
        try {
            return create(io, directory, larger, volumeId, entriesExpected);
        } catch (IOException e) {
            throw new InventoryException(larger + ": " + e.getMessage(), e);
        }
    }

    /**
     * Allocates further blocks of the file on the device. Overwrites the new file with its own content, so that the
     * file system allocates blocks for its holes. On a full disk this write fails. Otherwise a later access to mapped
     * memory would fail.
     *
     * @param bytes minimum number of bytes to allocate
     * @return true if all blocks are allocated
     * @throws InventoryException if they cannot be allocated
     */
    public boolean allocate(long bytes) throws InventoryException {
        long end = Math.min(fileBytes, allocatedTo + bytes);
        try (StoreFile opened = io.open(file)) {
            ByteBuffer chunk = allocationChunk == null ? ByteBuffer.allocateDirect(CHUNK_BYTES) : allocationChunk;
            allocationChunk = end == fileBytes ? null : chunk;
            while (allocatedTo < end) {
                chunk.clear();
                opened.read(chunk, allocatedTo);
                opened.write(chunk.flip(), allocatedTo);
                allocatedTo += CHUNK_BYTES;
            }
        } catch (IOException e) {
            throw new InventoryException(file + ": " + e.getMessage(), e);
        }
        return end == fileBytes;
    }

    /** Copies the entries of one map segment to a larger inventory, except those that it has already. */
    public void copyTo(Inventory larger, int segment) {
        try (MapSegmentContext<byte[], byte[], ?> context = map.segmentContext(segment)) {
            context.forEachSegmentEntry(
                    entry -> larger.putIfAbsent(entry.key().get(), entry.value().get()));
        }
    }

    /** Closes this inventory, and renames the larger one to its name in the directory. */
    public void replaceBy(Inventory larger) throws IOException {
        map.close();
        Path place = directory.resolve(FILE_NAME);
        io.rename(larger.file, place);
        larger.file = place;
    }

    private static boolean isSound(FileIo io, Path directory, InventoryState state, BooleanSupplier mayContinue)
            throws IOException {
        if (!io.exists(directory.resolve(FILE_NAME))) {
            return false;
        }
        return !state.isForced() || checksum(io, directory, mayContinue) == state.crc();
    }

    private static @Nullable Inventory reopen(FileIo io, Path directory, UUID volumeId, InventoryState state)
            throws IOException {
        try {
            long length = length(io, directory.resolve(FILE_NAME));
            return new Inventory(
                    io,
                    directory,
                    volumeId,
                    map(directory.resolve(FILE_NAME), state.entriesMax()),
                    directory.resolve(FILE_NAME),
                    state.entriesMax(),
                    length,
                    state);
        } catch (InventoryException e) {
            LOG.info("{}: the inventory is rebuilt: {}", directory, e.getMessage());
            return null;
        }
    }

    private static Inventory create(FileIo io, Path directory, Path file, UUID volumeId, long entriesMax)
            throws IOException {
        ChronicleMap<byte[], byte[]> map = null;
        boolean whole = false;
        try {
            map = map(file, entriesMax);
            Inventory made = new Inventory(io, directory, volumeId, map, file, entriesMax, length(io, file), null);
            whole = true;
            return made;
        } finally {
            if (!whole) {
                if (map != null) {
                    map.close();
                }
                io.delete(file);
            }
        }
    }

    private static ChronicleMap<byte[], byte[]> map(Path file, long entriesMax) throws InventoryException {
        try {
            return ChronicleMap.of(byte[].class, byte[].class)
                    .name(file.toString())
                    .constantKeySizeBySample(new byte[HASH_BYTES])
                    .averageValueSize(VALUE_BYTES_EXPECTED)
                    .entries(entriesMax)
                    .actualSegments(segments(entriesMax))
                    .allowSegmentTiering(false)
                    // Without this option, Chronicle Map looks up the file's mount point. There is none in a chroot
                    // whose root directory is no mount point. The file is not sparse: allocate() writes all of it.
                    .sparseFile(true)
                    .createPersistedTo(file.toFile());
        } catch (IOException | RuntimeException | LinkageError | AssertionError | InternalError e) {
            throw new InventoryException("Chronicle Map does not open: " + e, e);
        }
    }

    private static int segments(long entriesMax) {
        long wanted = Long.highestOneBit(Math.max(1, entriesMax / ENTRIES_PER_SEGMENT));
        return (int) Math.max(SEGMENTS_MIN, Math.min(wanted, SEGMENTS_MAX));
    }

    private void allocateAll(BooleanSupplier mayContinue) throws IOException {
        boolean whole = false;
        try {
            while (!whole) {
                checkNotCancelled(mayContinue);
                whole = allocate(ALLOCATED_AT_ONCE_BYTES);
            }
        } finally {
            if (!whole) {
                abandon();
            }
        }
    }

    private static int checksum(FileIo io, Path directory, BooleanSupplier mayContinue) throws IOException {
        CRC32C crc = new CRC32C();
        try (StoreFile file = io.openForReading(directory.resolve(FILE_NAME))) {
            ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
            int length;
            long at = 0;
            do {
                checkNotCancelled(mayContinue);
                chunk.clear();
                length = file.read(chunk, at);
                at += length;
                crc.update(chunk.flip());
            } while (length == CHUNK_BYTES);
        }
        return (int) crc.getValue();
    }

    private static void checkNotCancelled(BooleanSupplier mayContinue) throws InventoryException {
        if (!mayContinue.getAsBoolean()) {
            throw new InventoryException("the store is closing");
        }
    }

    private static long length(FileIo io, Path path) throws IOException {
        try (StoreFile file = io.openForReading(path)) {
            return file.length();
        }
    }

    private static void delete(FileIo io, Path directory) throws IOException {
        io.delete(directory.resolve(FILE_NAME));
        io.delete(directory.resolve(InventoryState.FILE_NAME));
    }

    /**
     * Returns true if the reopened inventory matches the volume: it was complete, and was closed after the volume's
     * record with this sequence number.
     */
    public boolean isUpTo(long sequence) {
        return stateAtOpen != null && stateAtOpen.isWhole() && stateAtOpen.applied() == sequence;
    }

    /** Returns the number of entries for which the map has space. */
    public long entriesMax() {
        return entriesMax;
    }

    /** Returns the number of entries, including those of objects that are no longer stored. Any thread. */
    public long entries() {
        return entries;
    }

    /** Returns the number of entries that did not fit. Any thread. */
    public long dropped() {
        return dropped;
    }

    /** Returns the length of the memory-mapped file in bytes. Any thread. */
    public long fileBytes() {
        return fileBytes;
    }

    /** Returns the number of map segments, which {@link #forEach} visits one at a time. */
    public int segments() {
        return map.segments();
    }

    /** Adds or replaces the entry of an object. Returns false and counts the entry as dropped if it does not fit. */
    public boolean put(long hashHigh, long hashLow, InventoryEntry entry) {
        try {
            if (map.put(hash(hashHigh, hashLow), entry.encode()) == null) {
                // A counter is cheaper than map.longSize(), which sums over all map segments.
                long more = entries + 1;
                entries = more;
            }
            return true;
        } catch (ChronicleHashClosedException e) {
            throw e;
        } catch (IllegalStateException | IllegalArgumentException e) {
            drop(e);
            return false;
        }
    }

    private void putIfAbsent(byte[] hash, byte[] encoded) {
        try {
            if (map.putIfAbsent(hash, encoded) == null) {
                long more = entries + 1;
                entries = more;
            }
        } catch (ChronicleHashClosedException e) {
            throw e;
        } catch (IllegalStateException | IllegalArgumentException e) {
            drop(e);
        }
    }

    private void drop(RuntimeException why) {
        long now = dropped + 1;
        dropped = now;
        LOG.debug("{}: the inventory has no space for another entry", directory, why);
    }

    /** Returns the location in the entry of the hash; 0 if there is no entry. */
    public long location(long hashHigh, long hashLow) {
        byte[] encoded = map.get(hash(hashHigh, hashLow));
        return encoded == null ? 0 : InventoryEntry.location(encoded);
    }

    /** Returns the entry of the hash; null if there is none, or if it is damaged. */
    public @Nullable InventoryEntry entry(long hashHigh, long hashLow) {
        byte[] encoded = map.get(hash(hashHigh, hashLow));
        return encoded == null ? null : InventoryEntry.decode(encoded);
    }

    /** Passes the entries of one map segment to the visitor. */
    public void forEach(int segment, Visitor visitor) {
        try (MapSegmentContext<byte[], byte[], ?> context = map.segmentContext(segment)) {
            context.forEachSegmentEntry(entry -> {
                ByteBuffer hash = ByteBuffer.wrap(entry.key().get());
                long high = hash.getLong(0);
                long low = hash.getLong(8);
                if (!visitor.entry(high, low, entry.value().get())) {
                    entry.doRemove();
                }
            });
        }
        entries = map.longSize();
    }

    /** Returns the location in an encoded entry. */
    public static long location(byte[] encoded) {
        return InventoryEntry.location(encoded);
    }

    /** Returns a copy of the key in an encoded entry; null if it is damaged. */
    public static byte @Nullable [] key(byte[] encoded) {
        return InventoryEntry.key(encoded);
    }

    /** Decodes an entry; null if it is damaged. */
    public static @Nullable InventoryEntry decode(byte[] encoded) {
        return InventoryEntry.decode(encoded);
    }

    private static byte[] hash(long high, long low) {
        return ByteBuffer.allocate(HASH_BYTES)
                .order(ByteOrder.BIG_ENDIAN)
                .putLong(high)
                .putLong(low)
                .array();
    }

    /**
     * Closes the inventory cleanly, so that the next open can use it.
     *
     * @param applied sequence number of the volume's last record
     * @param whole whether every stored object has an entry
     * @param forced whether to force the file to the device, so that it is also valid after a reboot
     */
    public void close(long applied, boolean whole, boolean forced) throws IOException {
        map.close();
        if (forced) {
            try (StoreFile file = io.open(directory.resolve(FILE_NAME))) {
                file.force();
            }
        }
        int crc = forced ? checksum(io, directory, () -> true) : 0;
        new InventoryState(entriesMax, applied, whole, forced, crc).write(io, directory, volumeId);
    }

    /** Closes and deletes the inventory. */
    public void abandon() throws IOException {
        try {
            map.close();
        } finally {
            io.delete(file);
            io.delete(directory.resolve(InventoryState.FILE_NAME));
        }
    }
}
