package io.millrace.proxy.observe.log;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The destination and format of the access log. Immutable.
 *
 * @param file the file to append to, or null for standard output
 * @param format the line format
 * @param rotateBytes the file size in bytes that causes a rotation; 0 for never
 * @param rotateInterval interval between rotations; a rotation happens at each multiple of the interval since 1970 in
 *     UTC; zero for never
 * @param rotateKeep number of rotated files to keep; 0 keeps all
 * @param ringBytes size in bytes of each event loop's ring; rounded up to a power of two
 */
public record AccessLogConfig(
        @Nullable Path file,
        AccessLogFormat format,
        long rotateBytes,
        Duration rotateInterval,
        int rotateKeep,
        int ringBytes) {
    /** Default ring size. Holds about 3,000 ordinary records, the requests of one loop in 0.1 s at full speed. */
    public static final int DEFAULT_RING_BYTES = 1 << 20;

    /** Checks the limits of rotation and ring size, and that a binary log has a file. */
    public AccessLogConfig {
        if (rotateBytes < 0 || rotateInterval.isNegative() || rotateKeep < 0) {
            throw new IllegalArgumentException("rotation values must not be negative: size=" + rotateBytes
                    + ", interval=" + rotateInterval + ", keep=" + rotateKeep);
        }
        if (file == null && format.isBinary()) {
            throw new IllegalArgumentException("a binary log needs a file");
        }
        if (ringBytes < AccessLogRing.MIN_BYTES || ringBytes > AccessLogRing.MAX_BYTES) {
            throw new IllegalArgumentException("ring bytes: actual=" + ringBytes + ", limits=" + AccessLogRing.MIN_BYTES
                    + ".." + AccessLogRing.MAX_BYTES);
        }
    }

    /** Returns a configuration that appends to a file, without rotation by this process. */
    public static AccessLogConfig toFile(Path file, AccessLogFormat format) {
        return new AccessLogConfig(file, format, 0, Duration.ZERO, 0, DEFAULT_RING_BYTES);
    }

    /** Returns a configuration that writes to standard output. */
    public static AccessLogConfig toStandardOutput(AccessLogFormat format) {
        return new AccessLogConfig(null, format, 0, Duration.ZERO, 0, DEFAULT_RING_BYTES);
    }

    /** Returns this configuration with rotation. */
    public AccessLogConfig withRotation(long bytes, Duration interval, int keep) {
        return new AccessLogConfig(file, format, bytes, interval, keep, ringBytes);
    }
}
