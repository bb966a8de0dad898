package io.millrace.launcher.init;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Proposes the size of the cache on disk for a new configuration. Stateless. */
final class CacheSizeProposal {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long SIZE_MAX = 10 * GIB;
    private static final long SIZE_MIN = 64 * MIB;

    private CacheSizeProposal() {}

    /** Returns 10GiB, or half of the free space if that is less. The result is at least 64MiB. */
    static String defaultSize(Path directory) {
        return size(free(directory));
    }

    /**
     * Returns the proposed size.
     *
     * @param freeBytes free space; a negative number if it is unknown
     */
    static String size(long freeBytes) {
        long size = freeBytes < 0 ? SIZE_MAX : Math.max(SIZE_MIN, Math.min(SIZE_MAX, freeBytes / 2));
        return size >= GIB ? size / GIB + "GiB" : size / MIB + "MiB";
    }

    private static long free(Path directory) {
        @Nullable Path at = directory.toAbsolutePath();
        while (at != null && !Files.exists(at)) {
            at = at.getParent();
        }
        try {
            return at == null ? -1 : Files.getFileStore(at).getUsableSpace();
        } catch (IOException e) {
            return -1;
        }
    }
}
