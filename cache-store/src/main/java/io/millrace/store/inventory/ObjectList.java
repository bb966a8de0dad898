package io.millrace.store.inventory;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The list of the objects of one segment: a file with an {@link InventoryEntry} for each object whose record was
 * written to the segment. Entries are appended in blocks and never changed. The file consists of blocks without gaps.
 * Little-endian:
 *
 * <pre>
 *    0  4  magic "MRLB"
 *    4  2  format version
 *    6  2  kind: 1 entries, 2 coverage
 *    8  8  tag of the segment
 *   16  4  length of the payload in bytes
 *   20  4  number of entries in this block; kind 2: number of entries in the file
 *   24  4  CRC32C of the payload
 *   28  4  CRC32C of bytes 0 to 27
 *   32     payload: entries; kind 2: 8 bytes, the sequence number of a record
 * </pre>
 *
 * <p>A coverage block at the end of the file states that the list has an entry for each object record of the segment up
 * to that sequence number. The file is not forced to the device. After a power failure, damaged blocks are recognized
 * by their checksums; then the list is deleted and written again from the records of the segment.
 *
 * <p>Confined to one thread, except {@link #entries} and {@link #bytes}.
 */
public final class ObjectList {
    /**
     * Value of {@link #coveredTo} if the list covers all records of a sealed segment (a segment that gets no more
     * records).
     */
    public static final long ALL = Long.MAX_VALUE;
    /**
     * Value of {@link #coveredTo} if the list has an entry for each record of a sealed segment that the index had as the
     * newest of its key.
     */
    public static final long INDEXED = Long.MAX_VALUE - 1;
    /** Value of {@link #coveredTo} without a coverage block at the end. */
    public static final long NOTHING = -1;

    /** Name of the directory of the lists in the volume's directory. */
    static final String DIRECTORY = "object-lists";

    private static final String SUFFIX = ".list";
    private static final int RADIX = 16;
    private static final int HEADER_BYTES = 32;
    private static final int COVERAGE_BYTES = HEADER_BYTES + Long.BYTES;
    /** Maximum payload of a block, so that a damaged length is recognized. */
    static final int PAYLOAD_BYTES_MAX = 1 << 20;

    private static final int MAGIC = 0x424c_524d;
    private static final short FORMAT_VERSION = 1;
    private static final short KIND_ENTRIES = 1;
    private static final short KIND_COVERAGE = 2;

    private final FileIo io;
    private final Path file;
    private final long tag;
    private long coveredTo = NOTHING;
    private volatile long end;
    private volatile long entries;

    /**
     * The content of a block with entries. Mutable until it is returned, then constant.
     *
     * @param entries the entries in their order; little-endian, position 0
     * @param count number of entries
     * @param next position of the next block in the file
     */
    public record Block(ByteBuffer entries, int count, long next) {}

    private ObjectList(FileIo io, Path file, long tag) {
        this.io = io;
        this.file = file;
        this.tag = tag;
    }

    /** Returns the directory of a volume's lists. */
    public static Path directory(Path volumeDirectory) {
        return volumeDirectory.resolve(DIRECTORY);
    }

    /**
     * Returns the sequence numbers of the segments that have a list in the directory. Other files are ignored.
     *
     * @param directory the directory of the lists
     */
    public static List<Long> segments(FileIo io, Path directory) throws IOException {
        List<Long> found = new ArrayList<>();
        for (Path file : io.list(directory, "")) {
            String name = file.getFileName().toString();
            if (name.endsWith(SUFFIX)) {
                try {
                    found.add(Long.parseLong(name.substring(0, name.length() - SUFFIX.length()), RADIX));
                } catch (NumberFormatException e) {
                    // Not a file of the inventory.
                }
            }
        }
        return found;
    }

    /** Deletes the list of a segment if it exists. */
    public static void delete(FileIo io, Path directory, long sequence) throws IOException {
        io.delete(path(directory, sequence));
    }

    private static Path path(Path directory, long sequence) {
        return directory.resolve(Long.toString(sequence, RADIX) + SUFFIX);
    }

    /**
     * Opens the list of a segment; it is empty if there is no file. A damaged block and all blocks after it are cut
     * off.
     *
     * @param directory the directory of the lists
     * @param sequence sequence number of the segment
     * @param tag tag of the segment
     */
    public static ObjectList open(FileIo io, Path directory, long sequence, long tag) throws IOException {
        ObjectList list = new ObjectList(io, path(directory, sequence), tag);
        if (!io.exists(list.file)) {
            return list;
        }
        long length;
        try (StoreFile opened = io.openForReading(list.file)) {
            length = opened.length();
            if (list.readCoverage(opened, length)) {
                return list;
            }
            list.findEnd(opened);
        }
        if (list.end < length) {
            list.cutOff();
        }
        return list;
    }

    /** Reads the coverage block at the end of the file; false if there is none. */
    private boolean readCoverage(StoreFile opened, long length) throws IOException {
        ByteBuffer in = littleEndian(COVERAGE_BYTES);
        if (length < COVERAGE_BYTES || opened.read(in, length - COVERAGE_BYTES) < COVERAGE_BYTES) {
            return false;
        }
        if (!isHeader(in) || in.getShort(6) != KIND_COVERAGE || !isPayloadIntact(in, in)) {
            return false;
        }
        coveredTo = in.getLong(HEADER_BYTES);
        entries = in.getInt(20);
        end = length;
        return true;
    }

    private void findEnd(StoreFile opened) throws IOException {
        long at = 0;
        long found = 0;
        for (Block block = read(opened, 0); block != null; block = read(opened, at)) {
            at = block.next();
            found += block.count();
        }
        end = at;
        entries = found;
    }

    private void cutOff() throws IOException {
        try (StoreFile opened = io.open(file)) {
            opened.resize(end);
        }
    }

    /** Returns the number of entries, including those of objects that are no longer stored. Any thread. */
    public long entries() {
        return entries;
    }

    /** Returns the bytes of the file. Any thread. */
    public long bytes() {
        return end;
    }

    /** Returns the tag of the segment. */
    public long tag() {
        return tag;
    }

    /**
     * Returns the sequence number of the record up to which every object record has an entry, according to the coverage
     * block at the end of the file; {@link #ALL}, {@link #INDEXED} or {@link #NOTHING}.
     */
    public long coveredTo() {
        return coveredTo;
    }

    /**
     * Appends a block of entries. After a failure the list is unchanged.
     *
     * @param source contains the encoded entries
     * @param from index of the first entry in {@code source}
     * @param length bytes of the entries, at most {@link #PAYLOAD_BYTES_MAX}
     * @param count number of entries
     */
    public void append(byte[] source, int from, int length, int count) throws IOException {
        if (length > PAYLOAD_BYTES_MAX) {
            throw new IllegalArgumentException("block too long: actual=" + length + ", limit=" + PAYLOAD_BYTES_MAX);
        }
        ByteBuffer out = littleEndian(HEADER_BYTES + length);
        out.put(HEADER_BYTES, source, from, length);
        write(out, KIND_ENTRIES, count);
        coveredTo = NOTHING;
        long total = entries + count;
        entries = total;
    }

    /** Appends a coverage block: from now on {@link #coveredTo} has this value until the next {@link #append}. */
    public void cover(long recordSequence) throws IOException {
        ByteBuffer out = littleEndian(COVERAGE_BYTES);
        out.putLong(HEADER_BYTES, recordSequence);
        write(out, KIND_COVERAGE, (int) Math.min(Integer.MAX_VALUE, entries));
        coveredTo = recordSequence;
    }

    private void write(ByteBuffer out, short kind, int count) throws IOException {
        int length = out.limit() - HEADER_BYTES;
        out.putInt(0, MAGIC);
        out.putShort(4, FORMAT_VERSION);
        out.putShort(6, kind);
        out.putLong(8, tag);
        out.putInt(16, length);
        out.putInt(20, count);
        out.putInt(24, Checksums.crc32c(out, HEADER_BYTES, length));
        out.putInt(28, Checksums.crc32c(out, 0, 28));
        try (StoreFile opened = io.open(file)) {
            opened.write(out, end);
        }
        long written = end + out.limit();
        end = written;
    }

    /**
     * Reads the next block with entries at or after a position, which is 0 or {@link Block#next} of an earlier block.
     *
     * @return null at the end of the list
     * @throws InventoryException if there is no intact block at the position
     */
    public @Nullable Block read(long position) throws IOException {
        if (position == end) {
            return null;
        }
        try (StoreFile opened = io.openForReading(file)) {
            Block block = read(opened, position);
            while (block != null && block.count() == 0 && block.next() < end) {
                block = read(opened, block.next());
            }
            if (block == null) {
                throw new InventoryException(file + ": damaged block at or after offset " + position);
            }
            return block.count() == 0 ? null : block;
        }
    }

    /** Reads one block; a coverage block has no entries. Null if there is no intact block at the position. */
    private @Nullable Block read(StoreFile opened, long position) throws IOException {
        ByteBuffer header = littleEndian(HEADER_BYTES);
        if (opened.read(header, position) < HEADER_BYTES || !isHeader(header)) {
            return null;
        }
        ByteBuffer payload = littleEndian(header.getInt(16));
        if (opened.read(payload, position + HEADER_BYTES) < payload.capacity()
                || header.getInt(24) != Checksums.crc32c(payload, 0, payload.capacity())) {
            return null;
        }
        int count = header.getShort(6) == KIND_ENTRIES ? header.getInt(20) : 0;
        return new Block(payload.clear(), count, position + HEADER_BYTES + payload.capacity());
    }

    private boolean isHeader(ByteBuffer in) {
        return in.getInt(0) == MAGIC
                && in.getShort(4) == FORMAT_VERSION
                && in.getLong(8) == tag
                && in.getInt(16) > 0
                && in.getInt(16) <= PAYLOAD_BYTES_MAX
                && in.getInt(28) == Checksums.crc32c(in, 0, 28);
    }

    private static boolean isPayloadIntact(ByteBuffer header, ByteBuffer whole) {
        return header.getInt(16) == Long.BYTES
                && header.getInt(24) == Checksums.crc32c(whole, HEADER_BYTES, Long.BYTES);
    }

    /** Deletes the file; the list is empty afterwards. */
    public void clear() throws IOException {
        io.delete(file);
        end = 0;
        entries = 0;
        coveredTo = NOTHING;
    }

    private static ByteBuffer littleEndian(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
}
