package io.millrace.cli.command.cache;

import io.millrace.cli.warc.Spool;
import io.millrace.cli.warc.WarcReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The content of a response in a WARC file: the unread bytes of its record, or a temporary copy whose digest was
 * verified. Closing it closes a copy, but not the WARC file. Confined to one thread.
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

    /** Returns the unread bytes of the current record. */
    static ResponseContent ofRecord(WarcReader warc, WarcReader.Head head) {
        return new ResponseContent(warc, head, null, 0);
    }

    /** Returns the bytes of a temporary copy, whose digest was verified. */
    static ResponseContent ofCopy(WarcReader warc, WarcReader.Head head, Spool copy) throws IOException {
        return new ResponseContent(warc, head, copy.open(), copy.length());
    }

    /** Number of bytes that were not read yet. */
    long left() {
        return copy == null ? warc.left() : copyLeft;
    }

    /** Reads the unread bytes, at most {@code lengthMax}. */
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

    /** Skips the unread bytes of the record. Does nothing for a temporary copy, because only this object reads it. */
    void skip() throws IOException {
        if (copy == null) {
            warc.skip();
        }
    }

    /** Returns true if the digest of the record is right. Call it after all bytes were read. */
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
