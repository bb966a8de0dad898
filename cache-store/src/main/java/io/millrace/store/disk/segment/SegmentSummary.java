package io.millrace.store.disk.segment;

import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.index.Location;
import io.millrace.store.io.Checksums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The list of a sealed segment's records, written after the records. A rebuild of the index reads the summaries instead
 * of the records. When a segment is reclaimed, its summary lists the index entries to remove. A pinned record belongs
 * to an object that the volume keeps until a given time.
 *
 * <pre>
 * entry, 40 bytes                               footer, the last 64 bytes of the segment
 *    0  8  hash, upper half                        0  8  magic "MRSUMRY\0"
 *    8  8  hash, lower half                        8  4  format version
 *   16  8  sequence                               12  4  number of entries
 *   24  4  offset of the record in the segment    16  8  tag of the segment
 *   28  4  length of the record                   24  4  offset of the first entry
 *   32  4  expiry                                 28  4  CRC32C of the entries
 *   36  1  type                                   32  8  bytes of pinned records, when it was sealed
 *   37  3  end of its pin                         40  4  end of the last of their pins, seconds
 *                                                 44 16  zero
 *                                                 60  4  CRC32C of bytes 0 to 59
 * </pre>
 *
 * <p>The end of a pin is in units of {@link #PIN_UNIT_SECONDS} since the epoch, rounded up; 0 without a pin. It is also
 * 0 for a BLOCK, and for a HEAD whose body is in another record, because neither is kept on its own. Releases without
 * support for pins wrote 0 in all three pin fields.
 *
 * <p>Entries are in the order of their records, directly before the footer.
 *
 * <p>Confined to one thread.
 */
public final class SegmentSummary implements SegmentFile.RecordVisitor {
    /** Bytes of an entry. */
    public static final int ENTRY_BYTES = 40;
    /** Bytes of the footer after the entries. */
    public static final int FOOTER_BYTES = 64;
    /** Seconds per unit of the end of a pin. */
    static final int PIN_UNIT_SECONDS = 256;

    private static final int PIN_UNITS_MAX = (1 << 24) - 1;

    private static final long MAGIC = 0x0059_524d_5553_524dL;
    private static final int FORMAT_VERSION = 2;

    private ByteBuffer entries;
    private int count;
    private long pinnedBytes;
    private long lastPinEnds;

    /** An empty summary. */
    public SegmentSummary() {
        entries = ByteBuffer.allocate(64 * ENTRY_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private SegmentSummary(ByteBuffer entries, int count, ByteBuffer footer) {
        this.entries = entries;
        this.count = count;
        pinnedBytes = footer.getLong(32);
        lastPinEnds = Integer.toUnsignedLong(footer.getInt(40));
    }

    /**
     * A record of the segment. Immutable.
     *
     * @param pinnedUntil end of its pin in seconds since the epoch, rounded up to {@link
     *     SegmentSummary#PIN_UNIT_SECONDS}; 0 for no pin
     */
    public record Entry(
            RecordType type,
            long hashHigh,
            long hashLow,
            long sequence,
            long offset,
            int length,
            int expiry,
            long pinnedUntil) {
        /**
         * Creates the entry of a damaged record. It counts as a tombstone (the record of a removal), because the
         * damaged record may have hidden older records of its key.
         */
        public static Entry ofDamaged(long hashHigh, long hashLow, long offset) {
            return new Entry(RecordType.TOMBSTONE, hashHigh, hashLow, 0, offset, 2 * Location.UNIT_BYTES, 0, 0);
        }

        /**
         * Returns true if both entries describe the same record. Ignores the pin, because summaries of older releases
         * contain no pins.
         */
        public boolean describesSameRecord(Entry other) {
            return equals(new Entry(
                    other.type,
                    other.hashHigh,
                    other.hashLow,
                    other.sequence,
                    other.offset,
                    other.length,
                    other.expiry,
                    pinnedUntil));
        }
    }

    /** Creates the entry of a record at {@code offset}. */
    public static Entry entry(RecordHeader header, long offset) {
        return new Entry(
                header.type(),
                header.hashHigh(),
                header.hashLow(),
                header.sequence(),
                offset,
                header.recordLength(),
                header.expiry(),
                pinnedUntil(header));
    }

    private static long pinnedUntil(RecordHeader header) {
        boolean keptWithOther = header.type() == RecordType.BLOCK || header.has(RecordHeader.FLAG_BODY_ELSEWHERE);
        long units = (header.pinnedUntil() + PIN_UNIT_SECONDS - 1) / PIN_UNIT_SECONDS;
        return keptWithOther ? 0 : Math.min(units, PIN_UNITS_MAX) * PIN_UNIT_SECONDS;
    }

    /** Returns the number of records. */
    public int size() {
        return count;
    }

    /** Adds a record that was appended at {@code offset}. */
    public void add(RecordHeader header, long offset) {
        add(entry(header, offset));
        if (header.pinnedUntil() > 0) {
            pinnedBytes += header.recordLength();
            lastPinEnds = Math.max(lastPinEnds, header.pinnedUntil());
        }
    }

    /** Returns the bytes of records that were pinned when they were written. */
    public long pinnedBytes() {
        return pinnedBytes;
    }

    /** Returns the end of the last pin, in seconds since the epoch. */
    public long lastPinEnds() {
        return lastPinEnds;
    }

    @Override
    public void record(RecordHeader header, long offset) {
        add(header, offset);
    }

    /** Adds a tombstone, because the damaged record hides older records of its key. */
    @Override
    public void damaged(long hashHigh, long hashLow, long offset) {
        add(Entry.ofDamaged(hashHigh, hashLow, offset));
    }

    private void add(Entry entry) {
        int at = count * ENTRY_BYTES;
        if (at == entries.capacity()) {
            entries = ByteBuffer.allocate(at * 2).order(ByteOrder.LITTLE_ENDIAN).put(0, entries, 0, at);
        }
        entries.putLong(at, entry.hashHigh());
        entries.putLong(at + 8, entry.hashLow());
        entries.putLong(at + 16, entry.sequence());
        entries.putInt(at + 24, (int) entry.offset());
        entries.putInt(at + 28, entry.length());
        entries.putInt(at + 32, entry.expiry());
        // The pin is in the upper three bytes.
        entries.putInt(
                at + 36,
                (int) (entry.pinnedUntil() / PIN_UNIT_SECONDS) << 8
                        | entry.type().code());
        count++;
    }

    /** Returns the {@code n}th record; null if its type is unknown. */
    public @Nullable Entry entry(int n) {
        int at = n * ENTRY_BYTES;
        RecordType type = RecordType.of(entries.get(at + 36));
        return type == null
                ? null
                : new Entry(
                        type,
                        entries.getLong(at),
                        entries.getLong(at + 8),
                        entries.getLong(at + 16),
                        Integer.toUnsignedLong(entries.getInt(at + 24)),
                        entries.getInt(at + 28),
                        entries.getInt(at + 32),
                        (long) (entries.getInt(at + 36) >>> 8) * PIN_UNIT_SECONDS);
    }

    /** Returns the bytes of the summary with {@code more} further entries. */
    public int encodedLength(int more) {
        return (count + more) * ENTRY_BYTES + FOOTER_BYTES;
    }

    /** Encodes entries and footer; the caller writes them at the end of the segment. */
    public ByteBuffer encode(long segmentBytes, long tag) {
        int entryBytes = count * ENTRY_BYTES;
        ByteBuffer out = ByteBuffer.allocateDirect(entryBytes + FOOTER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.put(0, entries, 0, entryBytes);
        out.putLong(entryBytes, MAGIC);
        out.putInt(entryBytes + 8, FORMAT_VERSION);
        out.putInt(entryBytes + 12, count);
        out.putLong(entryBytes + 16, tag);
        out.putInt(entryBytes + 24, (int) (segmentBytes - FOOTER_BYTES - entryBytes));
        out.putInt(entryBytes + 28, Checksums.crc32c(out, 0, entryBytes));
        out.putLong(entryBytes + 32, pinnedBytes);
        out.putInt(entryBytes + 40, (int) lastPinEnds);
        out.putInt(entryBytes + 60, Checksums.crc32c(out, entryBytes, 60));
        return out;
    }

    /** Returns the number of entries according to a footer, -1 if it is not a footer of this segment. */
    static int count(ByteBuffer footer, long tag) {
        boolean good = footer.limit() == FOOTER_BYTES
                && footer.getLong(0) == MAGIC
                && footer.getInt(8) == FORMAT_VERSION
                && footer.getLong(16) == tag
                && footer.getInt(60) == Checksums.crc32c(footer, 0, 60);
        return good ? footer.getInt(12) : -1;
    }

    /** Creates the summary from its footer and entries; null if they are damaged. */
    static @Nullable SegmentSummary decode(ByteBuffer footer, ByteBuffer entries) {
        if (footer.getInt(28) != Checksums.crc32c(entries, 0, entries.limit())) {
            return null;
        }
        return new SegmentSummary(entries, footer.getInt(12), footer);
    }

    /** Creates a summary with the totals of a footer, without entries. */
    static SegmentSummary ofFooter(ByteBuffer footer) {
        return new SegmentSummary(ByteBuffer.allocate(0), 0, footer);
    }
}
