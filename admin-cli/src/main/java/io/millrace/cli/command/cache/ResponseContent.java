package io.millrace.cli.command.cache;

import io.millrace.cli.warc.Spool;
import io.millrace.cli.warc.WarcReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The content of a response: the rest of a record, or a copy that was checked before. Confined to one thread. Its close
 * leaves a record open.
 */
final class ResponseContent implements Closeable {
    private final WarcReader warc;
    private final WarcReader.Head head;
    private final @Nullable InputStream copy;
    private long copyLeft;

    private ResponseContent(WarcReader warc, WarcReader.Head head, @Nullable InputStream copy, long copyLeft) {
        this.warc = warc;
        this.head = head;
        this.copy = copy;
        this.copyLeft = copyLeft;
    }

    /** The rest of the present record. */
    static ResponseContent ofRecord(WarcReader warc, WarcReader.Head head) {
        return new ResponseContent(warc, head, null, 0);
    }

    /** A copy of a record whose digest was right. */
    static ResponseContent ofCopy(WarcReader warc, WarcReader.Head head, Spool copy) throws IOException {
        return new ResponseContent(warc, head, copy.open(), copy.length());
    }

    /** Number of bytes that were not read yet. */
    long left() {
        return copy == null ? warc.left() : copyLeft;
    }

    /** Reads all of the rest, or {@code lengthMax} bytes of it. */
    byte[] readFully(int lengthMax) throws IOException {
        InputStream in = copy;
        if (in == null) {
            return warc.readFully(lengthMax);
        }
        byte[] bytes = in.readNBytes((int) Math.min(lengthMax, copyLeft));
        copyLeft -= bytes.length;
        if (bytes.length == 0 && copyLeft > 0) {
            throw new IOException("a temporary file is shorter than what was written to it");
        }
        return bytes;
    }

    /** Reads the rest without using it. */
    void skip() throws IOException {
        if (copy == null) {
            warc.skip();
        }
    }

    /** Whether the digest of the record is right. Call after all was read. */
    boolean isIntact() {
        return copy != null || warc.isIntact(head);
    }

    @Override
    public void close() throws IOException {
        InputStream in = copy;
        if (in != null) {
            in.close();
        }
    }
}
