package io.millrace.proxy.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Identifies one version of a file, to detect changes. Follows symbolic links. Immutable.
 *
 * @param id the inode on POSIX systems, otherwise the file key; null if there is none
 * @param changedNanos time of the last change, in epoch nanoseconds; on POSIX the inode change time, which a writer
 *     cannot set
 */
public record FileStamp(@Nullable Object id, long size, long changedNanos) {
    static final FileStamp MISSING = new FileStamp(null, -1, 0);
    private static final boolean POSIX =
            Path.of("").getFileSystem().supportedFileAttributeViews().contains("unix");

    /** Reads the stamp of a file; {@link #MISSING} if there is no file or its attributes cannot be read. */
    public static FileStamp of(Path file) {
        try {
            if (POSIX) {
                Map<String, Object> attributes = Files.readAttributes(file, "unix:ino,size,ctime");
                Object size = Objects.requireNonNull(attributes.get("size"));
                FileTime time = (FileTime) Objects.requireNonNull(attributes.get("ctime"));
                return new FileStamp(attributes.get("ino"), (Long) size, nanos(time));
            }
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new FileStamp(attributes.fileKey(), attributes.size(), nanos(attributes.lastModifiedTime()));
        } catch (IOException | SecurityException e) {
            return MISSING;
        }
    }

    private static long nanos(FileTime time) {
        return time.to(TimeUnit.NANOSECONDS);
    }

    /** Returns the milliseconds since the file changed. Negative if the clock of the file system is ahead. */
    long ageMillis(long nowMillis) {
        return nowMillis - changedNanos / 1_000_000;
    }
}
