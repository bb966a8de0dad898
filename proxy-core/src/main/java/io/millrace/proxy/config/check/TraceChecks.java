package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Checks the settings of traces. A missing file is only a warning: workers check the configuration when they start, and
 * must start without the file too.
 */
final class TraceChecks {
    private static final List<ConfigKey<Path>> TLS_KEYS =
            List.of(TraceKeys.CA_FILE, TraceKeys.CERTIFICATE, TraceKeys.KEY);

    private final ConfigProblems problems;
    private final Place wholeFile;

    TraceChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        String endpoint = values.find(TraceKeys.ENDPOINT);
        if (endpoint == null) {
            refuseWithoutEndpoint(values);
            return;
        }
        if (endpoint.indexOf('@') >= 0 || endpoint.indexOf('#') >= 0) {
            error(TraceKeys.ENDPOINT, "must not contain a user, a password or a fragment; use traces.headers_file");
        }
        boolean isTls = endpoint.toLowerCase(Locale.ROOT).startsWith("https:");
        for (ConfigKey<Path> key : TLS_KEYS) {
            if (values.find(key) != null && !isTls) {
                error(key, "needs an endpoint with https://");
            } else {
                checkFile(key, values);
            }
        }
        checkFile(TraceKeys.HEADERS_FILE, values);
        boolean isBroken = problems.isBroken(TraceKeys.CERTIFICATE.path()) || problems.isBroken(TraceKeys.KEY.path());
        if (!isBroken && values.isSet(TraceKeys.CERTIFICATE) != values.isSet(TraceKeys.KEY)) {
            error(
                    values.isSet(TraceKeys.KEY) ? TraceKeys.KEY : TraceKeys.CERTIFICATE,
                    "needs both traces.tls.certificate and traces.tls.key, or neither");
        }
    }

    private void checkFile(ConfigKey<Path> key, ConfigValues values) {
        Path file = values.find(key);
        if (file != null && !Files.isReadable(file)) {
            problems.warning(
                    problems.placeOf(key.path(), wholeFile),
                    key.path(),
                    file + (Files.exists(file) ? ": permission denied" : ": no such file"));
        }
    }

    private void refuseWithoutEndpoint(ConfigValues values) {
        if (problems.isBroken(TraceKeys.ENDPOINT.path())) {
            return;
        }
        for (ConfigKey<?> key :
                List.of(TraceKeys.HEADERS_FILE, TraceKeys.CA_FILE, TraceKeys.CERTIFICATE, TraceKeys.KEY)) {
            if (values.isSet(key) && !Objects.equals(values.find(key), key.defaultValue())) {
                error(key, "needs traces.endpoint, such as http://127.0.0.1:4318");
            }
        }
    }

    private void error(ConfigKey<?> key, String message) {
        problems.error(problems.placeOf(key.path(), wholeFile), key.path(), message);
    }
}
