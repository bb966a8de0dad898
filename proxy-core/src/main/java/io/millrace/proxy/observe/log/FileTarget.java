package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.block.SchemaWriter;
import io.millrace.proxy.observe.log.file.RotatedFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A log file that is rotated by size and by time. A worker (proxy process) and its successor may write to the same log:
 * each compares the file of this name with its open file every second, to detect a rotation by another process.
 *
 * <p>A rotated file is renamed to {@code NAME.20261120T110000Z}, with {@code -1} or {@code -2} appended for more
 * rotations in one second. Later rotations do not rename it again. A target that is not a regular file, such as a pipe,
 * is never rotated. Confined to the writer thread; at its end, another thread may call {@link #close}.
 */
public final class FileTarget implements LogTarget {
    /** Interval at which rotations by other processes are detected. The check has no measurable cost. */
    static final long CHECK_INTERVAL_MILLIS = 1000;

    /** Time after a failed rename in which the file is not rotated. */
    static final long ROTATION_RETRY_MILLIS = 60_000;

    private final Path file;
    private final long rotateBytes;
    private final long rotateIntervalMillis;
    private final RotatedFiles rotated;
    private final FaultLog faults;

    /** Writes the schema of a binary log; null for text. */
    private final @Nullable SchemaWriter schemas;

    private @Nullable FileChannel channel;
    private @Nullable Object fileKey;
    private boolean isRegular;
    private long size;
    /** Number of the rotation interval, counted since 1970, to which the content of the open file belongs. */
    private long period;

    private long checkedAtMillis;
    private long rotationFailedAtMillis = Long.MIN_VALUE;

    /**
     * Creates a closed target.
     *
     * @param file the file to append to
     * @param config the rotation
     * @param faults receives failures of rotations
     */
    public FileTarget(Path file, AccessLogConfig config, FaultLog faults) {
        this.file = file.toAbsolutePath();
        this.rotateBytes = config.rotateBytes();
        this.rotateIntervalMillis = config.rotateInterval().toMillis();
        this.rotated = new RotatedFiles(this.file, config.rotateKeep());
        this.faults = faults;
        this.schemas =
                config.format().isBinary() ? new SchemaWriter(config.format().schema()) : null;
    }

    @Override
    public String description() {
        return file.toString();
    }

    @Override
    public void maintain(long nowMillis) throws IOException {
        // The absolute difference also works if the clock was set back.
        if (channel != null && Math.abs(nowMillis - checkedAtMillis) >= CHECK_INTERVAL_MILLIS) {
            followRotation(nowMillis);
        }
        if (channel == null) {
            open(nowMillis);
        }
        if (isTimeToRotate(nowMillis)) {
            rotate(nowMillis);
        }
    }

    private void open(long nowMillis) throws IOException {
        Path directory = file.getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            // The directory may have been deleted while the file was open.
            Files.createDirectories(directory);
        }
        channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        fileKey = attributes.fileKey();
        isRegular = attributes.isRegularFile();
        size = attributes.size();
        period = periodOf(size == 0 ? nowMillis : attributes.lastModifiedTime().toMillis());
        checkedAtMillis = nowMillis;
        if (schemas != null) {
            schemas.opened(size == 0);
        }
    }

    private long periodOf(long epochMillis) {
        return rotateIntervalMillis == 0 ? 0 : Math.floorDiv(epochMillis, rotateIntervalMillis);
    }

    private void followRotation(long nowMillis) throws IOException {
        checkedAtMillis = nowMillis;
        BasicFileAttributes attributes = attributesOfName();
        if (attributes == null || !Objects.equals(attributes.fileKey(), fileKey)) {
            close();
        } else {
            size = attributes.size();
        }
    }

    private @Nullable BasicFileAttributes attributesOfName() throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private boolean isTimeToRotate(long nowMillis) {
        if (!isRegular || size == 0) {
            return false;
        }
        if (rotationFailedAtMillis != Long.MIN_VALUE
                && Math.abs(nowMillis - rotationFailedAtMillis) < ROTATION_RETRY_MILLIS) {
            return false;
        }
        return (rotateBytes > 0 && size >= rotateBytes) || period != periodOf(nowMillis);
    }

    private void rotate(long nowMillis) throws IOException {
        BasicFileAttributes attributes = attributesOfName();
        boolean isOurs = attributes != null && Objects.equals(attributes.fileKey(), fileKey);
        if (isOurs) {
            try {
                rotated.add(nowMillis);
                rotationFailedAtMillis = Long.MIN_VALUE;
            } catch (IOException e) {
                rotationFailedAtMillis = nowMillis;
                faults.report("the access log cannot be rotated", description(), e);
                return;
            }
        }
        close();
        open(nowMillis);
        try {
            rotated.prune();
        } catch (IOException e) {
            faults.report("rotated access logs cannot be deleted", description(), e);
        }
    }

    @Override
    public boolean isAtStart() {
        return isRegular && size == 0;
    }

    @Override
    public void write(ByteBuffer lines) throws IOException {
        FileChannel open = channel;
        if (open == null) {
            throw new IOException("not open: " + file);
        }
        size += schemas == null ? open.write(lines) : schemas.write(open, lines);
    }

    @Override
    public void close() {
        FileChannel open = channel;
        channel = null;
        fileKey = null;
        size = 0;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                faults.report("the access log cannot be closed", description(), e);
            }
        }
    }
}
