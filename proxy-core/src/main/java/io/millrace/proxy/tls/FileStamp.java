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
 * What tells one version of a file from another, symbolic links followed. Immutable.
 *
 * @param id device and inode, or what the file system has instead; null for neither
 * @param changedNanos time of the last change; with a POSIX file system that of the inode, which no writer can set
 */
public record FileStamp(@Nullable Object id, long size, long changedNanos) {
    static final FileStamp MISSING = new FileStamp(null, -1, 0);
    private static final boolean POSIX =
            Path.of("").getFileSystem().supportedFileAttributeViews().contains("unix");

    /** Reads the stamp; {@link #MISSING} where there is no file or it cannot be looked at. */
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

    /** How long ago the file changed, by the wall clock; negative where clocks disagree. */
    long ageMillis(long nowMillis) {
        return nowMillis - changedNanos / 1_000_000;
    }
}
