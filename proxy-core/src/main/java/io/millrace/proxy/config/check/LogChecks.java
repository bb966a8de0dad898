package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import io.millrace.proxy.observe.log.output.LogDestination;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks the list of access logs. */
final class LogChecks {
    private static final String LIST = LogKeys.LOGS.path();

    private static final List<ConfigKey<?>> FILE_KEYS =
            List.of(LogKeys.PATH, LogKeys.ROTATE_SIZE, LogKeys.ROTATE_INTERVAL, LogKeys.ROTATE_KEEP);
    private static final List<ConfigKey<?>> SYSLOG_KEYS =
            List.of(LogKeys.ADDRESS, LogKeys.FACILITY, LogKeys.CA_FILE, LogKeys.CERTIFICATE, LogKeys.KEY);
    private static final List<ConfigKey<?>> MESSAGE_KEYS = List.of(LogKeys.SEVERITY, LogKeys.APP_NAME);
    private static final List<ConfigKey<?>> SINGLE_LOG_KEYS = List.of(
            ConfigKeys.LOG_ACCESS_ENABLED,
            ConfigKeys.LOG_ACCESS_PATH,
            ConfigKeys.LOG_ACCESS_FORMAT,
            LogKeys.SINGLE_LOG_FIELDS,
            ConfigKeys.LOG_ACCESS_ROTATE_SIZE,
            ConfigKeys.LOG_ACCESS_ROTATE_INTERVAL,
            ConfigKeys.LOG_ACCESS_ROTATE_KEEP);

    private final ConfigProblems problems;
    private final Place wholeFile;

    LogChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        List<ConfigValues> logs = values.elements(LogKeys.LOGS);
        if (logs.isEmpty()) {
            checkFields(
                    values, ConfigKeys.LOG_ACCESS_FORMAT, LogKeys.SINGLE_LOG_FIELDS, LogKeys.SINGLE_LOG_FIELDS.path());
            if (values.isSet(LogKeys.LOGS) && !problems.isBroken(LIST)) {
                error(LIST, "is empty; write log.access: {enabled: false} for no access log");
            }
            return;
        }
        if (logs.size() > LogKeys.LOGS_MAX) {
            error(LIST, "has " + logs.size() + " logs, the limit is " + LogKeys.LOGS_MAX);
        }
        for (ConfigKey<?> key : SINGLE_LOG_KEYS) {
            if (values.isSet(key)) {
                error(key.path(), "applies to a single access log, but log.access is a list; set it in an element");
            }
        }
        Map<Object, String> names = new HashMap<>();
        Map<Object, String> places = new HashMap<>();
        for (int i = 0; i < logs.size(); i++) {
            String path = LIST + "[" + i + "]";
            ConfigValues log = logs.get(i);
            requireUnique(names, log.find(LogKeys.NAME), path + ".name", "is the name of");
            if (!problems.isBroken(path + ".target")) {
                requireUnique(places, destinationOf(log), path, "writes to the same place as");
                checkTarget(log, path);
            }
            checkFields(log, LogKeys.FORMAT, LogKeys.FIELDS, placeIn(path, LogKeys.FIELDS));
            warnOfSample(log, path);
        }
        checkHeaderFields(logs);
    }

    private void requireUnique(Map<Object, String> seen, @Nullable Object value, String path, String problem) {
        String element = path.endsWith(".name") ? path.substring(0, path.length() - ".name".length()) : path;
        String first = value == null ? null : seen.putIfAbsent(value, element);
        if (first != null) {
            error(path, problem + " " + first + " too");
        }
    }

    /**
     * Returns the destination of a log, which must differ from that of every other log. Returns null for destinations
     * that accept the lines of several logs.
     */
    private static @Nullable Object destinationOf(ConfigValues log) {
        LogDestination.Target target = log.get(LogKeys.TARGET);
        return switch (target.kind()) {
            case FILE -> log.find(LogKeys.PATH);
            case STDOUT, EXTENSION -> target;
            case SYSLOG, JOURNALD -> null;
        };
    }

    private void checkFields(
            ConfigValues values, ConfigKey<AccessLogFormat> format, ConfigKey<List<String>> fields, String path) {
        if (values.isSet(fields)
                && !problems.isBroken(format.path())
                && !values.get(format).isBinary()) {
            error(path, "is only for the format binary; other formats name their values themselves");
        }
    }

    private void checkTarget(ConfigValues log, String path) {
        LogDestination.Kind target = log.get(LogKeys.TARGET).kind();
        boolean isSyslog = target == LogDestination.Kind.SYSLOG;
        boolean isJournald = target == LogDestination.Kind.JOURNALD;
        if (log.get(LogKeys.FORMAT).isBinary() && target != LogDestination.Kind.FILE) {
            error(placeIn(path, LogKeys.FORMAT), "binary is only for the target file");
        }
        refuseUnless(
                List.of(LogKeys.FORMAT),
                target != LogDestination.Kind.EXTENSION,
                log,
                path,
                "file, syslog, journald or stdout");
        refuseUnless(FILE_KEYS, target == LogDestination.Kind.FILE, log, path, "file");
        refuseUnless(SYSLOG_KEYS, isSyslog, log, path, "syslog");
        refuseUnless(MESSAGE_KEYS, isSyslog || isJournald, log, path, "syslog or journald");
        refuseUnless(List.of(LogKeys.JOURNALD_SOCKET), isJournald, log, path, "journald");
        if (!isSyslog) {
            return;
        }
        String address = path + ".syslog.address";
        SyslogAddress receiver = log.find(LogKeys.ADDRESS);
        if (receiver == null) {
            if (!problems.isBroken(address)) {
                error(path, "needs syslog.address, such as udp://192.0.2.1:514, for the target syslog");
            }
            return;
        }
        boolean isTls = receiver.protocol() == SyslogAddress.Protocol.TLS;
        for (ConfigKey<Path> key : List.of(LogKeys.CA_FILE, LogKeys.CERTIFICATE, LogKeys.KEY)) {
            String place = placeIn(path, key);
            Path file = log.find(key);
            if (file != null && !isTls) {
                error(place, "needs an address with tls://");
            } else if (file != null && !Files.isReadable(file)) {
                error(place, file + (Files.exists(file) ? ": permission denied" : ": no such file"));
            }
        }
        if (log.isSet(LogKeys.CERTIFICATE) != log.isSet(LogKeys.KEY)) {
            error(path, "needs both syslog.certificate and syslog.key, or neither");
        }
    }

    private void refuseUnless(List<ConfigKey<?>> keys, boolean allowed, ConfigValues log, String path, String target) {
        for (ConfigKey<?> key : keys) {
            if (!allowed && log.isSet(key)) {
                error(placeIn(path, key), "is only for the target " + target);
            }
        }
    }

    private static String placeIn(String path, ConfigKey<?> key) {
        return path + key.path().substring(LIST.length() + "[]".length());
    }

    private void warnOfSample(ConfigValues log, String path) {
        AccessLogFormat format = log.find(LogKeys.FORMAT);
        LogDestination.Kind target = log.get(LogKeys.TARGET).kind();
        boolean isText = target == LogDestination.Kind.FILE || target == LogDestination.Kind.STDOUT;
        boolean showsRate = format == null || LogConfig.formatOf(log).hasSample();
        if (log.get(LogKeys.SAMPLE) > 1 && isText && !showsRate) {
            String place = path + ".sample";
            problems.warning(
                    at(place),
                    place,
                    "is not in the lines of this format, so readers cannot estimate the number of requests; use json,"
                            + " or a template with %<sample>");
        }
    }

    private void checkHeaderFields(List<ConfigValues> logs) {
        List<AccessLogFormat> formats = new ArrayList<>();
        for (ConfigValues log : logs) {
            formats.add(LogConfig.formatOf(log));
        }
        try {
            AccessLogFormat.capturesOf(formats);
        } catch (LogTemplateException e) {
            error(LIST, String.valueOf(e.getMessage()));
        }
    }

    private void error(String path, String message) {
        problems.error(at(path), path, message);
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
