package io.millrace.proxy.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the last parsed Host field. Most requests have the same Host field as the previous request, which then
 * need not be parsed again.
 *
 * <p>Confined to one thread.
 */
public final class RecentHost {
    /** Limit of the length of a cached Host field in bytes. A longer field is parsed each time. */
    private static final int LENGTH_MAX = 64;

    private final boolean secure;
    private final byte[] text = new byte[LENGTH_MAX];
    private int length;
    private @Nullable Authority authority;

    /**
     * @param secure whether the connection uses TLS, which determines the scheme and so the default port
     */
    public RecentHost(boolean secure) {
        this.secure = secure;
    }

    boolean isSecure() {
        return secure;
    }

    /**
     * Returns the cached authority (host and port) if the field in this line equals the cached Host field byte for
     * byte; else null. Line -1 stands for a missing Host field.
     */
    @Nullable
    Authority ofField(FieldSection fields, int line) {
        boolean same = line >= 0
                && Arrays.equals(text, 0, length, fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        return same ? authority : null;
    }

    /** Caches the authority that was parsed from the Host field in this line; no effect for line -1. */
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
