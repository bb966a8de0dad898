package io.millrace.proxy.config.value;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Checks the path of a Unix domain socket. Thread-safe: no state. */
public final class SocketPath {
    /** Bytes of {@code sun_path} in Linux, without the zero at its end (unix(7)). */
    private static final int BYTES_MAX = 107;

    private SocketPath() {}

    /** Returns the reason why no socket can have this path; null if it is valid. */
    public static @Nullable String problem(@Nullable Path path) {
        int bytes = path == null ? 0 : path.toString().getBytes(StandardCharsets.UTF_8).length;
        return bytes <= BYTES_MAX
                ? null
                : "'" + path + "' has " + bytes + " bytes; the system's limit for a Unix domain socket is " + BYTES_MAX;
    }
}
