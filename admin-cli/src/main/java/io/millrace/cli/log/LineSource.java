package io.millrace.cli.log;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits a stream into lines. Longer lines than 64 KiB are cut, so that memory is bounded. {@link #next} returns only
 * lines with a line end; {@link #rest} returns the text after the last line end. Confined to one thread.
 */
public final class LineSource {
    /** Limit of a line in bytes, longer than any line of an access log. */
    static final int LENGTH_MAX = 64 << 10;

    private final byte[] buffer = new byte[64 << 10];
    private byte[] line = new byte[4096];
    private int length;
    private int position;
    private int limit;
    private long bytes;
    private long wholeBytes;

    /** Returns the next complete line without its end; null if the stream has no more data for now. */
    public @Nullable String next(InputStream in) throws IOException {
        while (true) {
            while (position < limit) {
                byte octet = buffer[position++];
                if (octet == '\n') {
                    wholeBytes = bytes - (limit - position);
                    return takeLine();
                }
                append(octet);
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

    /** Returns the text after the last line end; null if there is none. */
    public @Nullable String rest() {
        return length == 0 ? null : takeLine();
    }

    /** The number of bytes read so far. */
    public long bytes() {
        return bytes;
    }

    /** The number of bytes in the lines that {@link #next} has returned, including line ends. */
    public long wholeBytes() {
        return wholeBytes;
    }

    private void append(byte octet) {
        if (length == LENGTH_MAX) {
            return;
        }
        if (length == line.length) {
            line = Arrays.copyOf(line, Math.min(LENGTH_MAX, 2 * length));
        }
        line[length++] = octet;
    }

    private String takeLine() {
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        length = 0;
        return new String(line, 0, end, StandardCharsets.UTF_8);
    }
}
