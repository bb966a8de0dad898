package io.millrace.proxy;

import io.millrace.proxy.config.LogConfig;
import io.millrace.proxy.observe.log.AccessLogConfig;
import io.millrace.proxy.observe.log.AccessLogFormat;
import java.time.Duration;

/** What a configuration means for the access log. Immutable: no state. */
final class LogConfigs {
    private LogConfigs() {}

    static AccessLogConfig of(LogConfig config) {
        AccessLogFormat format =
                config.accessFormat() == LogConfig.Format.SQUID ? AccessLogFormat.SQUID : AccessLogFormat.COMBINED;
        return new AccessLogConfig(
                config.accessPath(),
                format,
                config.rotateBytes(),
                Duration.ofSeconds(config.rotateIntervalSeconds()),
                config.rotateKeep(),
                AccessLogConfig.DEFAULT_RING_BYTES);
    }
}
