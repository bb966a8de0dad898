package io.millrace.proxy.server;

import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.observe.log.AccessLogConfig;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.output.LogDestination;
import io.millrace.proxy.observe.log.output.LogOutputConfig;
import io.millrace.proxy.observe.log.output.SampleBy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts the log section of a configuration to access log settings. The section contains a list of logs, or the keys
 * of a single log. Stateless.
 */
final class LogConfigs {
    /** The name of a single log in messages. */
    static final String SINGLE_NAME = "access";

    private LogConfigs() {}

    /** Returns the settings of the single log; null if it is disabled or has no path. */
    static @Nullable AccessLogConfig single(LogConfig config) {
        Path path = config.accessPath();
        return !config.accessEnabled() || path == null
                ? null
                : new AccessLogConfig(
                        path,
                        config.accessFormat(),
                        config.rotateBytes(),
                        Duration.ofSeconds(config.rotateIntervalSeconds()),
                        config.rotateKeep(),
                        AccessLogConfig.DEFAULT_RING_BYTES);
    }

    /** Returns the logs of the list, or the single log as a list. */
    static List<LogOutputConfig> outputs(LogConfig config) {
        AccessLogConfig single = single(config);
        if (!config.accessLogs().isEmpty() || single == null) {
            return config.accessLogs();
        }
        LogDestination file = new LogDestination.ToFile(
                config.accessPath(),
                config.rotateBytes(),
                Duration.ofSeconds(config.rotateIntervalSeconds()),
                config.rotateKeep());
        return List.of(log(SINGLE_NAME, config.accessFormat(), file));
    }

    /**
     * Adds a log of all requests for each extension that no log names. The added logs have names such as
     * {@code extension:NAME}, which configured logs cannot have.
     */
    static List<LogOutputConfig> withSinks(List<LogOutputConfig> logs, List<String> extensions) {
        List<LogOutputConfig> all = new ArrayList<>(logs);
        for (String extension : extensions) {
            LogDestination target = new LogDestination.ToExtension(extension);
            if (logs.stream().noneMatch(log -> log.destination().equals(target))) {
                all.add(log(LogDestination.Target.EXTENSION_PREFIX + extension, AccessLogFormat.SQUID, target));
            }
        }
        return List.copyOf(all);
    }

    private static LogOutputConfig log(String name, AccessLogFormat format, LogDestination destination) {
        return new LogOutputConfig(name, format, null, 1, SampleBy.REQUEST, destination);
    }
}
