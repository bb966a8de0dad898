package io.millrace.store.disk.segment;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.HeldFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lists of segments that previous owner processes of a volume still read. Also writes the list of this process for
 * the next owner.
 *
 * <p>Before a process releases the volume's lease (the lock by which it owns the volume), it writes its list into a
 * file {@value #PREFIX}<i>random</i>. It keeps the file locked until its last reader ends or the process dies. The
 * holder of the lease writes to no segment listed in a locked file. A list contains every segment that its process may
 * still read, so later updates only make it shorter.
 *
 * <pre>
 *    0  8  magic "MRREADR\0"
 *    8  4  format version
 *   12  4  number of entries
 *   16 16  volume id
 *   32     entries, 16 bytes each: number of the segment (4), zero (4), the segment's tag (8: a random number, new for
 *          each use of the segment; 0 if it was reclaimed)
 *  end  4  CRC32C of all preceding bytes
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class ReaderLists {
    /** Prefix of the files' names. */
    public static final String PREFIX = "readers.";

    private static final Logger LOG = LoggerFactory.getLogger(ReaderLists.class);
    private static final long MAGIC = 0x0052_4441_4552_524dL;
    private static final int FORMAT_VERSION = 1;
    private static final int HEADER_BYTES = 32;
    private static final int ENTRY_BYTES = 16;

    private final FileIo io;
    private final Path directory;
    private final UUID volumeId;
    private final int segments;
    private final ReentrantLock lock = new ReentrantLock();
    /** The segments listed in each file of another process. */
    private final Map<Path, BitSet> others = new LinkedHashMap<>();
    /** The union of all lists; replaced, never modified. */
    private volatile BitSet pinned = new BitSet();

    /** The list of this process; null if none is written. */
    private @Nullable HeldFile own;

    /** The segments in the list of this process. */
    private BitSet listed = new BitSet();

    private ReaderLists(FileIo io, Path directory, Superblock superblock) {
        this.io = io;
        this.directory = directory;
        this.volumeId = superblock.volumeId();
        this.segments = superblock.segmentCount();
    }

    /** Reads the lists in the directory. The caller holds the volume's lease. */
    public static ReaderLists open(FileIo io, Path directory, Superblock superblock) throws IOException {
        ReaderLists lists = new ReaderLists(io, directory, superblock);
        for (Path file : io.list(directory, PREFIX)) {
            // An unreadable list counts as listing every segment.
            lists.others.put(file, lists.all());
        }
        lists.recheck();
        return lists;
    }

    private BitSet all() {
        BitSet all = new BitSet(segments);
        all.set(0, segments);
        return all;
    }

    /** Returns true if another process reads the segment, according to the last {@link #recheck}. */
    public boolean isPinned(int segment) {
        return pinned.get(segment);
    }

    /** Returns the number of segments that other processes read. */
    public int pinnedSegments() {
        return pinned.cardinality();
    }

    /** Checks which lists are still locked: several system calls per list, none without a list. */
    public void recheck() {
        lock.lock();
        try {
            if (others.isEmpty()) {
                return;
            }
            others.entrySet().removeIf(this::isReleased);
            BitSet now = new BitSet();
            others.values().forEach(now::or);
            pinned = now;
        } finally {
            lock.unlock();
        }
    }

    private boolean isReleased(Map.Entry<Path, BitSet> list) {
        try {
            byte[] content = io.contentIfHeld(list.getKey());
            if (content == null) {
                return true;
            }
            BitSet read = decode(content);
            if (read != null) {
                list.setValue(read);
            }
        } catch (IOException e) {
            LOG.warn(
                    "{}: the list of segments in use by another process cannot be read: {}",
                    list.getKey(),
                    e.toString());
        }
        return false;
    }

    /** Returns the segments of a list; null if it is damaged or is being rewritten. */
    private @Nullable BitSet decode(byte[] content) {
        ByteBuffer in = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        if (content.length < HEADER_BYTES + Integer.BYTES
                || in.getLong(0) != MAGIC
                || in.getInt(8) != FORMAT_VERSION
                || in.getInt(12) != (content.length - HEADER_BYTES - Integer.BYTES) / ENTRY_BYTES
                || in.getInt(content.length - Integer.BYTES)
                        != Checksums.crc32c(in, 0, content.length - Integer.BYTES)) {
            return null;
        }
        BitSet read = new BitSet();
        if (in.getLong(16) == volumeId.getMostSignificantBits()
                && in.getLong(24) == volumeId.getLeastSignificantBits()) {
            for (int at = HEADER_BYTES; at < content.length - Integer.BYTES; at += ENTRY_BYTES) {
                read.set(in.getInt(at) & Integer.MAX_VALUE);
            }
        }
        return read;
    }

    /** Writes the list of pinned segments for the next owner. The volume pins no further segments after this point. */
    public void publishPinned(SegmentPins pins, SegmentTable table) throws IOException {
        publish(pins.pinned(), table);
    }

    /** Writes a list of all segments with records, and of reclaimed segments that are pinned, for the next owner. */
    public void publishAll(SegmentPins pins, SegmentTable table) throws IOException {
        BitSet used = pins.pinned();
        for (int segment = 0; segment < table.segments(); segment++) {
            if (table.tag(segment) != 0) {
                used.set(segment);
            }
        }
        publish(used, table);
    }

    private void publish(BitSet now, SegmentTable table) throws IOException {
        lock.lock();
        try {
            if (!now.isEmpty()) {
                long name = new SecureRandom().nextLong();
                own = io.hold(directory.resolve(PREFIX + Long.toHexString(name)), encode(now, table));
                listed = now;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Removes segments that are no longer pinned from the list; deletes an empty list. No effect without a list. */
    public void shorten(SegmentPins pins, SegmentTable table) throws IOException {
        lock.lock();
        try {
            HeldFile list = own;
            BitSet now = pins.pinned();
            now.and(listed);
            if (list == null || now.equals(listed)) {
                return;
            }
            if (now.isEmpty()) {
                delete();
            } else {
                list.content(encode(now, table));
                listed = now;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Deletes the list. */
    public void delete() throws IOException {
        lock.lock();
        try {
            HeldFile list = own;
            own = null;
            if (list != null) {
                list.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private byte[] encode(BitSet list, SegmentTable table) {
        int count = list.cardinality();
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + count * ENTRY_BYTES + Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(MAGIC).putInt(FORMAT_VERSION).putInt(count);
        out.putLong(volumeId.getMostSignificantBits()).putLong(volumeId.getLeastSignificantBits());
        for (int segment = list.nextSetBit(0); segment >= 0; segment = list.nextSetBit(segment + 1)) {
            out.putInt(segment).putInt(0).putLong(table.tag(segment));
        }
        out.putInt(Checksums.crc32c(out, 0, out.position()));
        return out.array();
    }
}
