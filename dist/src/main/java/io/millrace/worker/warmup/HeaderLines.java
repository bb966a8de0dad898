package io.millrace.worker.warmup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads lines of HTTP headers from a stream. Stateless. */
final class HeaderLines {
    private static final int LENGTH_MAX = 8192;

    private HeaderLines() {}

    /** Returns the next line without its line end; null at the end of the stream. */
    static @Nullable String read(InputStream in) throws IOException {
        byte[] line = new byte[128];
        int length = 0;
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                return null;
            }
            if (length == LENGTH_MAX) {
                throw new IOException("a header line of a response is too long: limit=" + LENGTH_MAX + " bytes");
            }
            if (length == line.length) {
                line = Arrays.copyOf(line, 2 * length);
            }
            line[length++] = (byte) next;
        }
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        return new String(line, 0, end, StandardCharsets.ISO_8859_1);
    }
}
