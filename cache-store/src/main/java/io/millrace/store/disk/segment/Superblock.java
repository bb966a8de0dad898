package io.millrace.store.disk.segment;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The superblock of a volume: its identity and layout. Two copies at the start of the volume file are written
 * alternately; the newer valid copy is used.
 *
 * <pre>
 *    0  8  magic "MRVOLUM\0"
 *    8  4  format version of everything in the volume
 *   12  4  bytes of a segment
 *   16  4  number of segments
 *   20  4  number of members
 *   24 16  volume id
 *   40 16  store id: the same in all volumes of a store, and the seed of its key hash
 *   56  8  generation: rises when a member is lost; identifies a returning volume that missed removals
 *   64  8  open count: rises with each open of the store; the upper part of object ids
 *   72  8  write count: the copy with the higher one is used
 *   80     ids of the store's volumes, 16 bytes each
 * 4092  4  CRC32C of bytes 0 to 4091
 * </pre>
 *
 * <p>The copies are at 0 and 4096; segments start at {@value #SEGMENTS_AT}.
 *
 * <p>Immutable.
 *
 * @param volumeId id of this volume
 * @param storeId id of the store
 * @param segmentBytes bytes of a segment
 * @param segmentCount number of segments
 * @param generation number that rises when a member is lost
 * @param openCount number of times the store was opened
 * @param writeCount number of times a superblock was written
 * @param members ids of the store's volumes
 */
public record Superblock(
        UUID volumeId,
        UUID storeId,
        int segmentBytes,
        int segmentCount,
        long generation,
        long openCount,
        long writeCount,
        List<UUID> members) {
    /** The format version that this code writes and reads. */
    public static final int FORMAT_VERSION = 2;
    /** Offset of the first segment in the file. */
    public static final long SEGMENTS_AT = 64 * 1024;
    /** Limit of volumes per store. */
    public static final int MEMBERS_MAX = 64;

    private static final Logger LOG = LoggerFactory.getLogger(Superblock.class);
    private static final long MAGIC = 0x004d_554c_4f56_524dL;
    private static final int BYTES = 4096;
    private static final int MEMBERS_AT = 80;

    /** Returns a copy with another store id, generation, open count and list of members. */
    public Superblock with(UUID newStoreId, long newGeneration, long newOpenCount, List<UUID> newMembers) {
        return new Superblock(
                volumeId,
                newStoreId,
                segmentBytes,
                segmentCount,
                newGeneration,
                newOpenCount,
                writeCount,
                List.copyOf(newMembers));
    }

    /** Returns a copy with another number of segments. */
    public Superblock withSegments(int count) {
        return new Superblock(volumeId, storeId, segmentBytes, count, generation, openCount, writeCount, members);
    }

    /** Returns the bytes of the volume's file. */
    public long fileBytes() {
        return SEGMENTS_AT + (long) segmentBytes * segmentCount;
    }

    /** Returns the offset of a segment in the file. */
    public long segmentPosition(int segment) {
        return SEGMENTS_AT + (long) segmentBytes * segment;
    }

    /** Writes the older of the two copies on disk, forces the file, and returns the superblock written. */
    public Superblock write(StoreFile file) throws IOException {
        Superblock next = new Superblock(
                volumeId, storeId, segmentBytes, segmentCount, generation, openCount, writeCount + 1, members);
        file.write(next.encode(), next.writeCount % 2 * BYTES);
        file.force();
        return next;
    }

    /**
     * Writes the start of an empty volume: both superblocks with magic and version but no valid checksum. If formatting
     * a device is interrupted, the next start recognizes the device as a volume and rebuilds it.
     */
    public static void writeUnfinished(StoreFile file) throws IOException {
        ByteBuffer out = ByteBuffer.allocate((int) SEGMENTS_AT).order(ByteOrder.LITTLE_ENDIAN);
        for (int copy = 0; copy < 2; copy++) {
            out.putLong(copy * BYTES, MAGIC);
            out.putInt(copy * BYTES + 8, FORMAT_VERSION);
        }
        file.write(out, 0);
        file.force();
    }

    /**
     * Returns true if this store wrote the bytes before the segments: each copy has the magic or is zero, at least one
     * has the magic, and all other bytes are zero. So a file that another program has written over is not a volume,
     * even if part of a superblock remains.
     *
     * @param start the file's first {@link #SEGMENTS_AT} bytes
     */
    public static boolean isVolume(ByteBuffer start) {
        ByteBuffer in = start.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        boolean any = false;
        for (int copy = 0; copy < 2; copy++) {
            boolean magic = in.getLong(copy * BYTES) == MAGIC;
            any |= magic;
            // Bytes after the last possible member are zero, even in a partly written copy.
            int used = magic ? MEMBERS_AT + 16 * MEMBERS_MAX : 0;
            if (!isZero(in, copy * BYTES + used, (magic ? BYTES - 4 : BYTES) - used)) {
                return false;
            }
        }
        return any && isZero(in, 2 * BYTES, in.limit() - 2 * BYTES);
    }

    private static boolean isZero(ByteBuffer in, int from, int length) {
        for (int i = from; i < from + length; i++) {
            if (in.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private ByteBuffer encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(0, MAGIC);
        out.putInt(8, FORMAT_VERSION);
        out.putInt(12, segmentBytes);
        out.putInt(16, segmentCount);
        out.putInt(20, members.size());
        putId(out, 24, volumeId);
        putId(out, 40, storeId);
        out.putLong(56, generation);
        out.putLong(64, openCount);
        out.putLong(72, writeCount);
        for (int i = 0; i < members.size(); i++) {
            putId(out, MEMBERS_AT + 16 * i, members.get(i));
        }
        out.putInt(BYTES - 4, Checksums.crc32c(out, 0, BYTES - 4));
        return out;
    }

    /**
     * Returns the newer valid copy in the file, null if there is none.
     *
     * @throws IOException also if the format version is newer than this release reads
     */
    public static @Nullable Superblock read(StoreFile file) throws IOException {
        Superblock newest = null;
        boolean damaged = false;
        for (int copy = 0; copy < 2; copy++) {
            ByteBuffer in = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (file.read(in, (long) copy * BYTES) < BYTES) {
                continue;
            }
            Superblock found = decode(file, in);
            damaged |= found == null && !isZero(in);
            if (found != null && (newest == null || found.writeCount > newest.writeCount)) {
                newest = found;
            }
        }
        // The damaged copy may have been the newer one: its open count must not be used again.
        return newest == null || !damaged
                ? newest
                : newest.with(newest.storeId, newest.generation, newest.openCount + 1, newest.members);
    }

    private static boolean isZero(ByteBuffer in) {
        return in.flip().mismatch(ByteBuffer.allocate(BYTES)) < 0;
    }

    /** Explains why {@link #read} found no superblock in a file. */
    public static String whyUnusable(StoreFile file) throws IOException {
        int oldest = Integer.MAX_VALUE;
        for (int copy = 0; copy < 2; copy++) {
            ByteBuffer in = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (file.read(in, (long) copy * BYTES) == BYTES && in.getLong(0) == MAGIC) {
                oldest = Math.min(oldest, in.getInt(8));
            }
        }
        if (oldest < FORMAT_VERSION) {
            return "format version " + oldest + ", this release reads " + FORMAT_VERSION + " only";
        }
        return oldest == FORMAT_VERSION ? "both superblocks are damaged" : "no superblock";
    }

    private static @Nullable Superblock decode(StoreFile file, ByteBuffer in) throws IOException {
        if (in.getLong(0) != MAGIC || in.getInt(BYTES - 4) != Checksums.crc32c(in, 0, BYTES - 4)) {
            return null;
        }
        int version = in.getInt(8);
        if (version > FORMAT_VERSION) {
            throw new IOException(
                    file + ": format version " + version + " is newer than this release reads (" + FORMAT_VERSION
                            + "); start the release that wrote the volume, or delete the volume to start empty");
        }
        if (version < FORMAT_VERSION) {
            LOG.warn(
                    "{}: the content has format version {}, this release reads version {} only: the volume starts empty",
                    file,
                    version,
                    FORMAT_VERSION);
            return null;
        }
        int members = in.getInt(20);
        if (members < 0 || members > MEMBERS_MAX) {
            return null;
        }
        List<UUID> ids = new ArrayList<>(members);
        for (int i = 0; i < members; i++) {
            ids.add(id(in, MEMBERS_AT + 16 * i));
        }
        return new Superblock(
                id(in, 24),
                id(in, 40),
                in.getInt(12),
                in.getInt(16),
                in.getLong(56),
                in.getLong(64),
                in.getLong(72),
                List.copyOf(ids));
    }

    private static void putId(ByteBuffer out, int at, UUID id) {
        out.putLong(at, id.getMostSignificantBits());
        out.putLong(at + 8, id.getLeastSignificantBits());
    }

    private static UUID id(ByteBuffer in, int at) {
        return new UUID(in.getLong(at), in.getLong(at + 8));
    }
}
