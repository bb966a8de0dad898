package io.millrace.proxy.config.key;

import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import io.millrace.proxy.observe.log.live.LiveLogSettings;
import io.millrace.proxy.observe.log.output.LogDestination;
import io.millrace.proxy.observe.log.output.LogOutputConfig;
import io.millrace.proxy.observe.log.target.JournaldConfig;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the access logs. Immutable.
 *
 * @param accessEnabled whether the single access log is written; not used with a list of logs
 * @param accessPath the file, absolute; null if the code that starts the proxy chooses it
 * @param accessFormat format of a line
 * @param rotateBytes size at which the file is rotated; 0 for never
 * @param rotateIntervalSeconds age at which the file is rotated; 0 for never
 * @param rotateKeep number of rotated files that are kept; 0 for all
 * @param accessLogs the access logs that are configured as a list; they replace the single log; empty if there is no
 *     list
 * @param live settings of the live log
 */
public record LogConfig(
        boolean accessEnabled,
        @Nullable Path accessPath,
        AccessLogFormat accessFormat,
        long rotateBytes,
        long rotateIntervalSeconds,
        int rotateKeep,
        List<LogOutputConfig> accessLogs,
        LiveLogSettings live) {
    public static LogConfig from(ConfigValues values) {
        return new LogConfig(
                values.get(ConfigKeys.LOG_ACCESS_ENABLED),
                values.find(ConfigKeys.LOG_ACCESS_PATH),
                formatOf(values, ConfigKeys.LOG_ACCESS_FORMAT, LogKeys.SINGLE_LOG_FIELDS),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_SIZE),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_INTERVAL).toSeconds(),
                values.get(ConfigKeys.LOG_ACCESS_ROTATE_KEEP),
                values.elements(LogKeys.LOGS).stream().map(LogConfig::outputOf).toList(),
                new LiveLogSettings(values.get(LogKeys.SLOW_THRESHOLD).toNanos(), values.get(LogKeys.KEPT_REQUESTS)));
    }

    /** Returns the format of a listed log. A binary format includes the fields that it stores. */
    public static AccessLogFormat formatOf(ConfigValues log) {
        return formatOf(log, LogKeys.FORMAT, LogKeys.FIELDS);
    }

    private static AccessLogFormat formatOf(
            ConfigValues values, ConfigKey<AccessLogFormat> formatKey, ConfigKey<List<String>> fieldsKey) {
        AccessLogFormat format = values.get(formatKey);
        List<String> fields = values.find(fieldsKey);
        if (fields == null || !format.isBinary()) {
            return format;
        }
        try {
            return AccessLogFormat.binary(fields);
        } catch (LogTemplateException e) {
            throw new IllegalStateException("a checked configuration has an invalid log format", e);
        }
    }

    /** Returns the end of the default name of a log file. */
    public static String suffixOf(AccessLogFormat format) {
        return format.isBinary() ? ".blog" : ".log";
    }

    private static LogOutputConfig outputOf(ConfigValues log) {
        return new LogOutputConfig(
                log.get(LogKeys.NAME),
                formatOf(log),
                log.find(LogKeys.FILTER),
                log.get(LogKeys.SAMPLE),
                log.get(LogKeys.SAMPLE_BY),
                destinationOf(log));
    }

    private static LogDestination destinationOf(ConfigValues log) {
        LogDestination.Target target = log.get(LogKeys.TARGET);
        return switch (target.kind()) {
            case FILE ->
                new LogDestination.ToFile(
                        log.find(LogKeys.PATH),
                        log.get(LogKeys.ROTATE_SIZE),
                        log.get(LogKeys.ROTATE_INTERVAL),
                        log.get(LogKeys.ROTATE_KEEP));
            case SYSLOG ->
                new LogDestination.ToSyslog(new SyslogConfig(
                        log.get(LogKeys.ADDRESS),
                        log.get(LogKeys.FACILITY),
                        log.get(LogKeys.SEVERITY),
                        log.get(LogKeys.APP_NAME),
                        log.find(LogKeys.CA_FILE),
                        log.find(LogKeys.CERTIFICATE),
                        log.find(LogKeys.KEY)));
            case JOURNALD ->
                new LogDestination.ToJournald(new JournaldConfig(
                        log.get(LogKeys.JOURNALD_SOCKET), log.get(LogKeys.SEVERITY), log.get(LogKeys.APP_NAME)));
            case STDOUT -> new LogDestination.ToStandardOutput();
            case EXTENSION -> new LogDestination.ToExtension(String.valueOf(target.extension()));
        };
    }

    /** Adds the default file in the directory to a log whose target is a file without a path. */
    public static ConfigValues withFileBelow(ConfigValues log, Path directory) {
        if (log.get(LogKeys.TARGET).kind() != LogDestination.Kind.FILE || log.isSet(LogKeys.PATH)) {
            return log;
        }
        Path file = directory.toAbsolutePath().resolve(log.get(LogKeys.NAME) + suffixOf(log.get(LogKeys.FORMAT)));
        return log.toBuilder().set(LogKeys.PATH, file).build();
    }
}
