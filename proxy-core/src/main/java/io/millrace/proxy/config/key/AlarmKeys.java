package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.log.target.SyslogFacility;
import java.nio.file.Path;
import java.time.Duration;

/** The keys of {@code alarms}. */
public final class AlarmKeys {
    public static final ConfigKey<Integer> CERTIFICATE_DAYS = ConfigKey.builder(
                    "alarms.certificate_days", ValueType.INTEGER)
            .within(1, 366)
            .defaultsTo(14)
            .description("Days before the end of a certificate at which its alarm is raised; a quarter of its lifetime"
                    + " if that is shorter.");
    public static final ConfigKey<Path> COMMAND = ConfigKey.builder("alarms.exec.command", ValueType.PATH)
            .description("Program that the launcher runs for each raised and cleared alarm, without a shell and without"
                    + " arguments. Variables of its environment describe the alarm, see docs/guide/operating.md.");
    public static final ConfigKey<Duration> TIMEOUT = ConfigKey.builder("alarms.exec.timeout", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofMinutes(10))
            .defaultsTo(Duration.ofSeconds(30))
            .description("How long the command may run before it is killed. Only one command runs at a time.");
    public static final ConfigKey<Integer> RUNS_PER_MINUTE = ConfigKey.builder(
                    "alarms.exec.runs_per_minute", ValueType.INTEGER)
            .within(1, 60)
            .defaultsTo(6)
            .description("Limit of starts of the command in any minute; further changes of alarms wait, at most 64.");
    public static final ConfigKey<SyslogAddress> ADDRESS = ConfigKey.builder(
                    "alarms.syslog.address", ValueType.SYSLOG_ADDRESS)
            .description("Receiver of a message for each raised and cleared alarm, as log.access[].syslog.address.");
    public static final ConfigKey<SyslogFacility> FACILITY = ConfigKey.builder(
                    "alarms.syslog.facility", ValueType.word(SyslogFacility.class, false))
            .defaultsTo(SyslogFacility.DAEMON)
            .description("Facility of the messages. Their severity is err, warning, or notice for a cleared alarm.");
    public static final ConfigKey<String> APP_NAME = ConfigKey.builder("alarms.syslog.app_name", ValueType.SYSLOG_NAME)
            .defaultsTo("millrace")
            .description("APP-NAME of the messages.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("alarms.syslog.ca_file", ValueType.PATH)
            .description("PEM file of the certificates that may have signed the receiver's certificate; by default,"
                    + " those of the JVM.");
    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder("alarms.syslog.certificate", ValueType.PATH)
            .description("PEM file of the launcher's certificate for receivers that require one.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("alarms.syslog.key", ValueType.PATH)
            .description("PEM file of the private key of the certificate.");

    private AlarmKeys() {}
}
