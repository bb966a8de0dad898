package io.millrace.proxy.config.key;

import io.millrace.proxy.observe.log.AccessLogFormat;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the access log. Immutable.
 *
 * @param accessEnabled whether an access log is written
 * @param accessPath the file, absolute; null if the code that starts the proxy chooses it
 * @param accessFormat format of a line
 * @param rotateBytes size at which the file is rotated; 0 for never
 * @param rotateIntervalSeconds age at which the file is rotated; 0 for never
 * @param rotateKeep number of rotated files that are kept; 0 for all
 */
public record LogConfig(
        boolean accessEnabled,
        @Nullable Path accessPath,
        AccessLogFormat accessFormat,
        long rotateBytes,
        long rotateIntervalSeconds,
        int rotateKeep) {
    public static LogConfig from(ConfigValues values) {
        return new LogConfig(
                values.get(ConfigKeys.LOG_ACCESS_ENABLED),
                values.find(ConfigKeys.LOG_ACCESS_PATH),
                values.get(ConfigKeys.LOG_ACCESS_FORMAT),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_SIZE),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_INTERVAL).toSeconds(),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_KEEP));
    }
}
