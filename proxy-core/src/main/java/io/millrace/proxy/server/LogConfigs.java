package io.millrace.proxy.server;

import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.observe.log.AccessLogConfig;
import java.time.Duration;

/** Converts the log section of a configuration to access log settings. Stateless. */
public final class LogConfigs {
    private LogConfigs() {}

    public static AccessLogConfig of(LogConfig config) {
        return new AccessLogConfig(
                config.accessPath(),
                config.accessFormat(),
                config.rotateBytes(),
                Duration.ofSeconds(config.rotateIntervalSeconds()),
                config.rotateKeep(),
                AccessLogConfig.DEFAULT_RING_BYTES);
    }
}
