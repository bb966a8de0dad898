package io.millrace.store.tool;

import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * A printer of the content of a volume that no store has open. Prints the superblock, each segment, and each record
 * with its key.
 *
 * <pre>
 * volume 6d1f… store 09ab… generation 0 segments 64 of 4194304 bytes
 * segment 3 sequence 17 tag 5c01…
 *   64 COMPLETE sequence=1100000000 object=10000000001 content=512 body=512 head=120 key=19 http://example.com/
 * </pre>
 *
 * <p>Confined to one thread.
 */
public final class StoreDump {
    private final VolumeView view;
    private final Options options;
    private final Appendable out;

    /**
     * The selection and the format of a dump. Immutable.
     *
     * @param keysOnly true to print only keys, one per line
     * @param json true to print one JSON object per line
     * @param prefix print only records whose key has this prefix; empty for all records, also those without a key
     * @param segment print only this segment; negative for all
     */
    public record Options(boolean keysOnly, boolean json, String prefix, int segment) {
        /** Options for all records, as text. */
        public static final Options ALL = new Options(false, false, "", -1);
    }

    private StoreDump(VolumeView view, Options options, Appendable out) {
        this.view = view;
        this.options = options;
        this.out = out;
    }

    /**
     * Dumps the volume in the directory.
     *
     * @throws IOException if there is no volume, if a store has it open, or if {@code out} fails
     */
    public static void dump(Path directory, Options options, Appendable out) throws IOException {
        dump(new SystemFileIo(), directory, options, out);
    }

    /** Dumps the volume in the directory, with another file system. */
    public static void dump(FileIo io, Path directory, Options options, Appendable out) throws IOException {
        try (VolumeView view = VolumeView.open(io, directory)) {
            new StoreDump(view, options, out).run();
        }
    }

    private void run() throws IOException {
        Superblock superblock = view.superblock();
        boolean machineReadable = options.keysOnly() || options.json();
        if (!machineReadable) {
            printLine("volume " + superblock.volumeId() + " store " + superblock.storeId() + " generation "
                    + superblock.generation() + " segments " + superblock.segmentCount() + " of "
                    + superblock.segmentBytes() + " bytes");
        }
        SegmentFile segments = view.segments();
        for (int segment = 0; segment < superblock.segmentCount(); segment++) {
            boolean isSelected = options.segment() < 0 || options.segment() == segment;
            SegmentHeader header = isSelected ? segments.header(segment) : null;
            if (header != null) {
                if (!machineReadable) {
                    printLine("segment " + segment + " sequence " + header.sequence() + " tag "
                            + Long.toHexString(header.tag()));
                }
                segments.walk(
                        segment,
                        header.tag(),
                        SegmentHeader.BYTES,
                        segments.segmentBytes(),
                        true,
                        (record, offset) -> printRecord(header, record, offset));
            }
        }
    }

    private void printRecord(SegmentHeader segment, RecordHeader record, long offset) throws IOException {
        boolean hasKey = record.keyLength() > 0;
        if ((options.keysOnly() || !options.prefix().isEmpty()) && !hasKey) {
            return;
        }
        String key = key(segment, record, offset);
        if (!key.startsWith(options.prefix())) {
            return;
        }
        if (options.json()) {
            JsonText json = new JsonText();
            if (!options.keysOnly()) {
                json.member("segment", segment.segment())
                        .member("offset", offset)
                        .member("type", record.type().toString())
                        .member("sequence", record.sequence())
                        .member("object", Long.toHexString(record.objectId()))
                        .member("content", record.contentLength())
                        .member("body", record.bodyLength())
                        .member("head", record.headLength())
                        .member("expiry", Integer.toUnsignedLong(record.expiry()))
                        .member("pinned_until", record.pinnedUntil());
            }
            printLine(json.member("key", hasKey ? key : null).toString());
        } else {
            printLine(options.keysOnly() ? key : "  " + offset + " " + record + " " + key);
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
                boolean machineReadable = options.keysOnly() || options.json();
                return printable(record.key()) + (machineReadable ? "" : partialText(record));
            } finally {
                record.release();
            }
        } catch (IOException e) {
            return "(damaged: " + e.getMessage() + ")";
        }
    }

    /** Returns a text with the number of stored blocks of a partial object; empty for other records. */
    private static String partialText(DiskRecord record) throws DamagedRecordException {
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

    private void printLine(String text) throws IOException {
        out.append(text).append('\n');
    }
}
