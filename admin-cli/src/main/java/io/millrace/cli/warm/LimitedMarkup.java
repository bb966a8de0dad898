package io.millrace.cli.warm;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Limits the length of an XML document, and of each of its tags and texts, so that a parser has bounded memory. */
final class LimitedMarkup extends FilterInputStream {
    /** Limit of successive bytes without an angle bracket: the length of one tag or text. */
    static final int PART_BYTES_MAX = 64 << 10;

    private final String name;
    private final long bytesMax;
    private long bytes;
    private int part;

    /** @param name for messages */
    LimitedMarkup(String name, InputStream in, long bytesMax) {
        super(in);
        this.name = name;
        this.bytesMax = bytesMax;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int count = in.read(into, offset, length);
        for (int i = offset; i < offset + count; i++) {
            part = into[i] == '<' || into[i] == '>' ? 0 : part + 1;
            if (part > PART_BYTES_MAX) {
                throw new IOException(name + ": a tag or text is longer than " + PART_BYTES_MAX + " bytes");
            }
        }
        bytes += Math.max(0, count);
        if (bytes > bytesMax) {
            throw new IOException(name + ": longer than " + (bytesMax >> 20) + " MiB, the limit of a sitemap");
        }
        return count;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public boolean markSupported() {
        return false;
    }
}
