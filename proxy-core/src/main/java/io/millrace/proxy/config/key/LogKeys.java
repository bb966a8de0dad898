package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.output.LogDestination;
import io.millrace.proxy.observe.log.output.SampleBy;
import io.millrace.proxy.observe.log.target.SyslogFacility;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The keys of {@code log.access} as a list of logs, and of the live log. */
public final class LogKeys {
    /** Limit of logs: each has a thread, and queues of about 2 MiB. */
    public static final int LOGS_MAX = 16;

    public static final ConfigKey<List<String>> SINGLE_LOG_FIELDS = ConfigKey.builder(
                    "log.access.fields", ValueType.LOG_FIELDS)
            .rolling()
            .atsName("logging.yaml format")
            .description(
                    "Values that a log of the format binary stores, as log format codes such as chi or {Accept}cqh;"
                            + " by default all values except header fields.");
    public static final ConfigKey<Duration> SLOW_THRESHOLD = ConfigKey.builder("log.slow_threshold", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(1))
            .description("Requests whose first response byte takes at least this long are kept as slow, for millctl log"
                    + " slow and the dashboard; 0 keeps no slow requests.");
    public static final ConfigKey<Integer> KEPT_REQUESTS = ConfigKey.builder("log.kept_requests", ValueType.INTEGER)
            .within(0, 10_000)
            .defaultsTo(200)
            .description("Number of the last slow requests that are kept in memory, and also of the last failed and of"
                    + " the last refused ones; at most 1 MiB for each of the three kinds. 0 keeps none.");
    public static final ConfigKey<List<ConfigValues>> LOGS = ConfigKey.builder("log.access", ValueType.LIST)
            .atsName("logging.yaml logs")
            .description("Several access logs, at most 16, instead of the one that the keys log.access.* describe."
                    + " A change between one log and a list needs a new worker.");
    public static final ConfigKey<String> NAME = ConfigKey.builder("log.access[].name", ValueType.LOG_NAME)
            .required()
            .atsName("logging.yaml filename")
            .description("Name of the log, in metrics, in messages and in the name of its file.");
    public static final ConfigKey<AccessLogFormat> FORMAT = ConfigKey.builder(
                    "log.access[].format", ValueType.LOG_FORMAT)
            .defaultsTo(AccessLogFormat.SQUID)
            .atsName("logging.yaml format")
            .description("Format of a line, as in log.access.format.");
    public static final ConfigKey<List<String>> FIELDS = ConfigKey.builder("log.access[].fields", ValueType.LOG_FIELDS)
            .atsName("logging.yaml format")
            .description("Values in a log of the format binary, as in log.access.fields.");
    public static final ConfigKey<Expression<LoggedFacts>> FILTER = ConfigKey.builder(
                    "log.access[].filter", ValueType.LOG_FILTER)
            .atsName("logging.yaml filters")
            .description("Condition for the requests of this log; without it the log has all requests.");
    public static final ConfigKey<Integer> SAMPLE = ConfigKey.builder("log.access[].sample", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(1)
            .atsName("proxy.config.log.sampling_frequency")
            .description("With N, the log has one of every N requests that the filter accepts. JSON lines, messages"
                    + " to syslog and journald, and the code %<sample> contain N.");
    public static final ConfigKey<SampleBy> SAMPLE_BY = ConfigKey.builder(
                    "log.access[].sample_by", ValueType.word(SampleBy.class, false))
            .defaultsTo(SampleBy.REQUEST)
            .description("Requests in a sampled log: each Nth request, or all requests for about one Nth of all URLs or"
                    + " from about one Nth of all clients, selected by a hash.");
    public static final ConfigKey<LogDestination.Target> TARGET = ConfigKey.builder(
                    "log.access[].target", ValueType.LOG_TARGET)
            .defaultsTo(LogDestination.Target.FILE)
            .atsName("logging.yaml mode")
            .description("Where the lines are written, or the extension that gets the records.");
    public static final ConfigKey<Path> PATH = ConfigKey.builder("log.access[].path", ValueType.PATH)
            .atsName("proxy.config.log.logfile_dir")
            .description("Log file of the target file; by default, NAME.log in the log directory, or NAME.blog for the"
                    + " format binary.");
    public static final ConfigKey<Long> ROTATE_SIZE = ConfigKey.builder("log.access[].rotate_size", ValueType.SIZE)
            .within(0L, 1L << 40)
            .defaultsTo(1L << 30)
            .atsName("logging.yaml rolling_size_mb")
            .description("Size at which the file is rotated; 0 turns this off.");
    public static final ConfigKey<Duration> ROTATE_INTERVAL = ConfigKey.builder(
                    "log.access[].rotate_interval", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(366))
            .defaultsTo(Duration.ofDays(1))
            .wholeSeconds()
            .atsName("logging.yaml rolling_interval_sec")
            .description("Time after which the file is rotated; 0 turns this off.");
    public static final ConfigKey<Integer> ROTATE_KEEP = ConfigKey.builder(
                    "log.access[].rotate_keep", ValueType.INTEGER)
            .within(0, 10_000)
            .defaultsTo(7)
            .atsName("logging.yaml rolling_min_count")
            .description("Rotated files that are kept; 0 keeps all.");
    public static final ConfigKey<SyslogAddress> ADDRESS = ConfigKey.builder(
                    "log.access[].syslog.address", ValueType.SYSLOG_ADDRESS)
            .description("Receiver of the target syslog: RFC 5424 over UDP, over TCP with octet counting (RFC 6587)"
                    + " or over TLS (RFC 5425).");
    public static final ConfigKey<SyslogFacility> FACILITY = ConfigKey.builder(
                    "log.access[].syslog.facility", ValueType.word(SyslogFacility.class, false))
            .defaultsTo(SyslogFacility.LOCAL0)
            .description("Facility of the messages to syslog.");
    public static final ConfigKey<SyslogSeverity> SEVERITY = ConfigKey.builder(
                    "log.access[].syslog.severity", ValueType.word(SyslogSeverity.class, false))
            .defaultsTo(SyslogSeverity.INFO)
            .description("Severity of the messages to syslog and journald.");
    public static final ConfigKey<String> APP_NAME = ConfigKey.builder(
                    "log.access[].syslog.app_name", ValueType.SYSLOG_NAME)
            .defaultsTo("millrace")
            .description("APP-NAME of the messages to syslog, and SYSLOG_IDENTIFIER of those to journald.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("log.access[].syslog.ca_file", ValueType.PATH)
            .description("PEM file of the certificates that may have signed the receiver's certificate; by default,"
                    + " those of the JVM.");
    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder(
                    "log.access[].syslog.certificate", ValueType.PATH)
            .description("PEM file of the proxy's certificate for receivers that require one.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("log.access[].syslog.key", ValueType.PATH)
            .description("PEM file of the private key of the certificate.");
    public static final ConfigKey<Path> JOURNALD_SOCKET = ConfigKey.builder(
                    "log.access[].journald.socket", ValueType.PATH)
            .defaultsTo(Path.of("/run/systemd/journal/socket"))
            .description("Path of the datagram socket of the target journald.");

    private LogKeys() {}
}
