package io.millrace.cli.log;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a stream, of bounded length: what is longer is cut, so that no file is too odd for the heap. A line counts when its end
 * has come; {@link #rest} has what came without. Confined to one thread.
 */
public final class LineSource {
    /** Longer than any line of an access log. */
    static final int LENGTH_MAX = 64 << 10;

    private final byte[] buffer = new byte[64 << 10];
    private byte[] line = new byte[4096];
    private int length;
    private int position;
    private int limit;
    private long bytes;
    private long wholeBytes;

    /** The next whole line without its end; null when the stream has no more for now. */
    public @Nullable String next(InputStream in) throws IOException {
        while (true) {
            while (position < limit) {
                byte octet = buffer[position++];
                if (octet == '\n') {
                    wholeBytes = bytes - (limit - position);
                    return take();
                }
                keep(octet);
            }
            int count = in.read(buffer, 0, buffer.length);
            if (count <= 0) {
                return null;
            }
            bytes += count;
            position = 0;
            limit = count;
        }
    }

    /** A last line that has no end; null for none. */
    public @Nullable String rest() {
        return length == 0 ? null : take();
    }

    /** Bytes read so far. */
    public long bytes() {
        return bytes;
    }

    /** Bytes of the lines that {@link #next} has returned, their ends included. */
    public long wholeBytes() {
        return wholeBytes;
    }

    private void keep(byte octet) {
        if (length == LENGTH_MAX) {
            return;
        }
        if (length == line.length) {
            line = Arrays.copyOf(line, Math.min(LENGTH_MAX, 2 * length));
        }
        line[length++] = octet;
    }

    private String take() {
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        length = 0;
        return new String(line, 0, end, StandardCharsets.UTF_8);
    }
}
