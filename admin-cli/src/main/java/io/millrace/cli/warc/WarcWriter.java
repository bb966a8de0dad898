package io.millrace.cli.warc;

import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the records of a WARC 1.1 file (ISO 28500 sections 5 and 6). In a compressed file each record is a separate
 * gzip member. Confined to one thread.
 */
public final class WarcWriter implements Closeable {
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final int BUFFER_BYTES = 64 << 10;

    private final OutputStream out;
    private final boolean compressed;

    /**
     * Creates a writer.
     *
     * @param out the file, which this writer closes
     * @param compressed whether each record is compressed with gzip
     */
    public WarcWriter(OutputStream out, boolean compressed) {
        this.out = out;
        this.compressed = compressed;
    }

    /** Returns a new random identifier for a record. */
    public static String newId() {
        return "<urn:uuid:" + UUID.randomUUID() + ">";
    }

    /** Returns a time in the format of the field {@code WARC-Date}, with milliseconds. */
    public static String date(long epochMillis) {
        return Instant.ofEpochMilli(epochMillis).truncatedTo(ChronoUnit.MILLIS).toString();
    }

    /** Writes the {@code warcinfo} record, which must be the first record of a file. */
    public void info(String software, long nowMillis) throws IOException {
        byte[] block = ("software: " + software + "\r\nformat: WARC File Format 1.1\r\n"
                        + "conformsTo: http://iipc.github.io/warc-specifications/"
                        + "specifications/warc-format/warc-1.1/\r\n")
                .getBytes(StandardCharsets.UTF_8);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("WARC-Type", "warcinfo");
        fields.put("WARC-Record-ID", newId());
        fields.put("WARC-Date", date(nowMillis));
        fields.put("Content-Type", "application/warc-fields");
        record(fields, block, null);
    }

    /**
     * Writes a record. Adds the fields for digest and length of its block.
     *
     * @param fields the other fields of the head, in their order
     * @param begin the beginning of the block
     * @param rest the rest of the block; null for none
     */
    public void record(Map<String, String> fields, byte[] begin, @Nullable Spool rest) throws IOException {
        WarcDigest digest = WarcDigest.sha256();
        digest.update(begin, 0, begin.length);
        if (rest != null) {
            rest.writeTo(new DigestStream(digest));
        }
        StringBuilder head = new StringBuilder("WARC/1.1\r\n");
        fields.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        head.append("WARC-Block-Digest: ").append(digest.text()).append("\r\nContent-Length: ");
        head.append(begin.length + (rest == null ? 0 : rest.length())).append("\r\n\r\n");
        if (!compressed) {
            write(out, head.toString(), begin, rest);
            return;
        }
        GZIPOutputStream member = new GZIPOutputStream(new Unclosed(out), BUFFER_BYTES);
        write(member, head.toString(), begin, rest);
        member.close();
    }

    private static void write(OutputStream to, String head, byte[] begin, @Nullable Spool rest) throws IOException {
        to.write(head.getBytes(StandardCharsets.UTF_8));
        to.write(begin);
        if (rest != null) {
            rest.writeTo(to);
        }
        to.write(LINE_END);
        to.write(LINE_END);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** Passes on bytes, but does not close the file when a gzip member ends. */
    private static final class Unclosed extends FilterOutputStream {
        Unclosed(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            flush();
        }
    }

    /** Adds all written bytes to a digest. */
    private static final class DigestStream extends OutputStream {
        private final WarcDigest digest;

        DigestStream(WarcDigest digest) {
            this.digest = digest;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            digest.update(bytes, offset, length);
        }

        @Override
        public void write(int octet) {
            digest.update(new byte[] {(byte) octet}, 0, 1);
        }
    }
}
