package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The actions for raised and cleared alarms: a command and a syslog message. Immutable.
 *
 * @param command program to run for each change of an alarm; null for none
 * @param timeout time limit of the command
 * @param runsPerMinute limit of starts of the command in any minute
 * @param syslog receiver of a message for each change of an alarm; null for none
 */
public record AlarmConfig(
        @Nullable Path command,
        Duration timeout,
        int runsPerMinute,
        @Nullable SyslogConfig syslog) {
    /** Returns the actions of a configuration. */
    public static AlarmConfig from(ConfigValues values) {
        SyslogAddress address = values.find(AlarmKeys.ADDRESS);
        SyslogConfig syslog = address == null
                ? null
                : new SyslogConfig(
                        address,
                        values.get(AlarmKeys.FACILITY),
                        SyslogSeverity.ERR,
                        values.get(AlarmKeys.APP_NAME),
                        values.find(AlarmKeys.CA_FILE),
                        values.find(AlarmKeys.CERTIFICATE),
                        values.find(AlarmKeys.KEY));
        return new AlarmConfig(
                values.find(AlarmKeys.COMMAND),
                values.get(AlarmKeys.TIMEOUT),
                values.get(AlarmKeys.RUNS_PER_MINUTE),
                syslog);
    }
}
