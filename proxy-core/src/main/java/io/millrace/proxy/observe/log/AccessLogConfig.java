package io.millrace.proxy.observe.log;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the access log goes and in which form. Immutable.
 *
 * @param file the file to append to, or null for standard output
 * @param format the line format
 * @param rotateBytes the size in bytes at which the file is rotated; 0 never
 * @param rotateInterval the interval at whose multiples (counted from 1970, UTC) the file is rotated; zero never
 * @param rotateKeep how many rotated files are kept; 0 keeps all
 * @param ringBytes the size in bytes of each event loop's ring; rounded up to a power of two
 */
public record AccessLogConfig(
        @Nullable Path file,
        AccessLogFormat format,
        long rotateBytes,
        Duration rotateInterval,
        int rotateKeep,
        int ringBytes) {
    /** Room for some three thousand ordinary records: a tenth of a second of one loop's requests at full speed. */
    public static final int DEFAULT_RING_BYTES = 1 << 20;

    /** Checks the bounds. */
    public AccessLogConfig {
        if (rotateBytes < 0 || rotateInterval.isNegative() || rotateKeep < 0) {
            throw new IllegalArgumentException(
                    "rotation: size=" + rotateBytes + ", interval=" + rotateInterval + ", keep=" + rotateKeep);
        }
        if (ringBytes < AccessLogRing.MIN_BYTES || ringBytes > AccessLogRing.MAX_BYTES) {
            throw new IllegalArgumentException("ring bytes: actual=" + ringBytes + ", limits=" + AccessLogRing.MIN_BYTES
                    + ".." + AccessLogRing.MAX_BYTES);
        }
    }

    /** Appends to a file that is never rotated from inside. */
    public static AccessLogConfig toFile(Path file, AccessLogFormat format) {
        return new AccessLogConfig(file, format, 0, Duration.ZERO, 0, DEFAULT_RING_BYTES);
    }

    /** Writes to standard output. */
    public static AccessLogConfig toStandardOutput(AccessLogFormat format) {
        return new AccessLogConfig(null, format, 0, Duration.ZERO, 0, DEFAULT_RING_BYTES);
    }

    /** The same with rotation. */
    public AccessLogConfig withRotation(long bytes, Duration interval, int keep) {
        return new AccessLogConfig(file, format, bytes, interval, keep, ringBytes);
    }
}
