package io.millrace.proxy.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The Host field that was read last: most requests name the same host as the one before them, and need not have it read again.
 *
 * <p>Confined to one thread.
 */
public final class RecentHost {
    private static final int LENGTH_MAX = 64;

    private final boolean secure;
    private final byte[] text = new byte[LENGTH_MAX];
    private int length;
    private @Nullable Authority authority;

    /**
     * @param secure whether the requests come through a secured connection, which makes their scheme and so the port that need not be written
     */
    public RecentHost(boolean secure) {
        this.secure = secure;
    }

    boolean isSecure() {
        return secure;
    }

    /** What the Host field at the line says, if that is what the last one said, byte for byte; else, and where the line is -1, null. */
    @Nullable
    Authority ofField(FieldSection fields, int line) {
        boolean same = line >= 0
                && Arrays.equals(text, 0, length, fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        return same ? authority : null;
    }

    /** Keeps what was read of the Host field at the line, if there is one. */
    void keep(FieldSection fields, int line, Authority read) {
        if (line < 0) {
            return;
        }
        int start = fields.valueStart(line);
        int end = fields.valueEnd(line);
        if (end - start <= LENGTH_MAX) {
            System.arraycopy(fields.bytes(), start, text, 0, end - start);
            length = end - start;
            authority = read;
        }
    }
}
