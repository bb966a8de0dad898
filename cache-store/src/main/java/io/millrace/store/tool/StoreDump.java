package io.millrace.store.tool;

import io.millrace.store.disk.DamagedRecordException;
import io.millrace.store.disk.DiskRecord;
import io.millrace.store.disk.RecordHeader;
import io.millrace.store.disk.RecordReader;
import io.millrace.store.disk.RecordType;
import io.millrace.store.disk.SegmentFile;
import io.millrace.store.disk.SegmentHeader;
import io.millrace.store.disk.Superblock;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Writes what is in a volume that no store has open: the superblock, each segment, each record with its key.
 *
 * <pre>
 * volume 6d1f… store 09ab… generation 0 segments 64 of 4194304 bytes
 * segment 3 sequence 17 tag 5c01…
 *   64 COMPLETE sequence=1100000000 object=10000000001 content=512 body=512 head=120 key=31 http://example.com/
 * </pre>
 *
 * <p>Confined to one thread.
 */
public final class StoreDump {
    private final VolumeView view;
    private final Appendable out;

    private StoreDump(VolumeView view, Appendable out) {
        this.view = view;
        this.out = out;
    }

    /**
     * Dumps the volume in the directory.
     *
     * @throws IOException when there is none, a store has it open, or {@code out} fails
     */
    public static void dump(Path directory, Appendable out) throws IOException {
        dump(new SystemFileIo(), directory, out);
    }

    /** As {@link #dump(Path, Appendable)}, over another file system. */
    public static void dump(FileIo io, Path directory, Appendable out) throws IOException {
        try (VolumeView view = VolumeView.open(io, directory)) {
            new StoreDump(view, out).run();
        }
    }

    private void run() throws IOException {
        Superblock superblock = view.superblock();
        line("volume " + superblock.volumeId() + " store " + superblock.storeId() + " generation "
                + superblock.generation() + " segments " + superblock.segmentCount() + " of "
                + superblock.segmentBytes() + " bytes");
        SegmentFile segments = view.segments();
        for (int segment = 0; segment < superblock.segmentCount(); segment++) {
            SegmentHeader header = segments.header(segment);
            if (header != null) {
                line("segment " + segment + " sequence " + header.sequence() + " tag "
                        + Long.toHexString(header.tag()));
                segments.walk(
                        segment,
                        header.tag(),
                        SegmentHeader.BYTES,
                        segments.segmentBytes(),
                        true,
                        (record, offset) -> line("  " + offset + " " + record + " " + key(header, record, offset)));
            }
        }
    }

    private String key(SegmentHeader segment, RecordHeader header, long offset) {
        if (header.keyLength() == 0) {
            return "";
        }
        RecordReader reader = view.reader();
        try {
            DiskRecord record = reader.readHead(segment.segment(), offset, segment.tag());
            try {
                return printable(record.key()) + part(record);
            } finally {
                record.release();
            }
        } catch (IOException e) {
            return "(damaged: " + e.getMessage() + ")";
        }
    }

    /** What a head that is not whole says of its blocks. */
    private static String part(DiskRecord record) throws DamagedRecordException {
        BitSet stored =
                record.header().type() == RecordType.HEAD ? record.place().stored() : null;
        return stored == null ? "" : " partial blocks=" + stored.cardinality();
    }

    private static String printable(byte[] key) {
        StringBuilder text = new StringBuilder(key.length);
        for (char c : new String(key, StandardCharsets.ISO_8859_1).toCharArray()) {
            text.append(c > ' ' && c < 0x7F ? c : '.');
        }
        return text.toString();
    }

    private void line(String text) throws IOException {
        out.append(text).append('\n');
    }
}
