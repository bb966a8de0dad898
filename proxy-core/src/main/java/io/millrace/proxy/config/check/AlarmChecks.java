package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.AlarmKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.SyslogAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Checks the settings of the actions for alarms: a command and syslog. A missing file is only a warning: workers check
 * the configuration when they start, and must start without the file too.
 */
final class AlarmChecks {
    private static final List<ConfigKey<Path>> TLS_KEYS =
            List.of(AlarmKeys.CA_FILE, AlarmKeys.CERTIFICATE, AlarmKeys.KEY);

    private final ConfigProblems problems;
    private final Place wholeFile;

    AlarmChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        checkCommand(values);
        SyslogAddress receiver = values.find(AlarmKeys.ADDRESS);
        if (receiver == null) {
            refuseWithoutAddress(values);
            return;
        }
        boolean isTls = receiver.protocol() == SyslogAddress.Protocol.TLS;
        for (ConfigKey<Path> key : TLS_KEYS) {
            Path file = values.find(key);
            if (file != null && !isTls) {
                error(key, "needs an address with tls://");
            } else if (file != null && !Files.isReadable(file)) {
                warning(key, file + (Files.exists(file) ? ": permission denied" : ": no such file"));
            }
        }
        boolean isBroken = problems.isBroken(AlarmKeys.CERTIFICATE.path()) || problems.isBroken(AlarmKeys.KEY.path());
        if (!isBroken && values.isSet(AlarmKeys.CERTIFICATE) != values.isSet(AlarmKeys.KEY)) {
            error(
                    values.isSet(AlarmKeys.KEY) ? AlarmKeys.KEY : AlarmKeys.CERTIFICATE,
                    "needs both alarms.syslog.certificate and alarms.syslog.key, or neither");
        }
    }

    private void checkCommand(ConfigValues values) {
        Path command = values.find(AlarmKeys.COMMAND);
        if (command == null) {
            return;
        }
        if (!command.isAbsolute()) {
            error(AlarmKeys.COMMAND, command + " is not an absolute path; to pass arguments, use a script");
        } else if (!Files.isRegularFile(command) || !Files.isExecutable(command)) {
            warning(AlarmKeys.COMMAND, command + (Files.exists(command) ? ": is not executable" : ": no such file"));
        }
    }

    private void refuseWithoutAddress(ConfigValues values) {
        if (problems.isBroken(AlarmKeys.ADDRESS.path())) {
            return;
        }
        for (ConfigKey<?> key : List.of(
                AlarmKeys.FACILITY, AlarmKeys.APP_NAME, AlarmKeys.CA_FILE, AlarmKeys.CERTIFICATE, AlarmKeys.KEY)) {
            if (values.isSet(key) && !Objects.equals(values.find(key), key.defaultValue())) {
                error(key, "needs alarms.syslog.address, such as udp://192.0.2.1:514");
            }
        }
    }

    private void warning(ConfigKey<?> key, String message) {
        problems.warning(problems.placeOf(key.path(), wholeFile), key.path(), message);
    }

    private void error(ConfigKey<?> key, String message) {
        problems.error(problems.placeOf(key.path(), wholeFile), key.path(), message);
    }
}
