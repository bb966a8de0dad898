package io.millrace.proxy.config.check;

import io.millrace.proxy.config.fleet.ConfigPublicKey;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Checks which keys of a fleet require or exclude each other, and that its files exist. */
final class FleetChecks {
    private static final List<ConfigKey<Path>> CREDENTIALS =
            List.of(FleetKeys.CREDENTIALS_FILE, FleetKeys.NKEY_FILE, FleetKeys.TOKEN_FILE);
    private static final List<ConfigKey<Path>> FILES = List.of(
            FleetKeys.CREDENTIALS_FILE,
            FleetKeys.NKEY_FILE,
            FleetKeys.TOKEN_FILE,
            FleetKeys.CA_FILE,
            FleetKeys.CERTIFICATE,
            FleetKeys.KEY,
            FleetKeys.CONFIG_PUBLIC_KEY);

    private final ConfigProblems problems;
    private final Place wholeFile;

    FleetChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        if (problems.isAnyBrokenBelow("fleet")) {
            return;
        }
        boolean named = values.isSet(FleetKeys.NAME);
        boolean any = named || values.isSet(FleetKeys.SERVERS) || values.isSet(FleetKeys.NODE);
        if (!any) {
            return;
        }
        requireKey(values, FleetKeys.NAME);
        requireKey(values, FleetKeys.SERVERS);
        requireKey(values, FleetKeys.NODE);
        checkName(values, FleetKeys.NAME);
        checkName(values, FleetKeys.NODE);
        checkName(values, FleetKeys.TIER);
        if ("all".equals(values.find(FleetKeys.NODE))) {
            error(FleetKeys.NODE.path(), "'all' cannot be a name: millctl --node all asks every node");
        }
        List<String> servers = values.find(FleetKeys.SERVERS);
        if (servers != null) {
            servers.forEach(this::checkServer);
        }
        List<String> set =
                CREDENTIALS.stream().filter(values::isSet).map(ConfigKey::path).toList();
        if (set.size() > 1) {
            error(set.get(1), "excludes " + set.get(0) + "; set one of them");
        }
        if (values.isSet(FleetKeys.CERTIFICATE) != values.isSet(FleetKeys.KEY)) {
            error("fleet.tls", "certificate and key must be set together");
        }
        checkPublicKey(values);
        for (ConfigKey<Path> file : FILES) {
            Path path = values.find(file);
            if (path != null && !Files.isReadable(path)) {
                error(file.path(), path + (Files.exists(path) ? ": permission denied" : ": no such file"));
            }
        }
    }

    private void checkPublicKey(ConfigValues values) {
        Path file = values.find(FleetKeys.CONFIG_PUBLIC_KEY);
        if (Boolean.TRUE.equals(values.find(FleetKeys.CONFIG)) && file == null) {
            error(
                    FleetKeys.CONFIG.path(),
                    "needs fleet.config_public_key_file; millctl fleet config keygen makes keys");
        }
        if (file != null && Files.isReadable(file)) {
            try {
                ConfigPublicKey.read(file);
            } catch (IOException e) {
                error(FleetKeys.CONFIG_PUBLIC_KEY.path(), String.valueOf(e.getMessage()));
            }
        }
    }

    private void requireKey(ConfigValues values, ConfigKey<?> key) {
        if (!values.isSet(key)) {
            error(key.path(), "missing; a fleet needs fleet.name, fleet.servers and fleet.node");
        }
    }

    private void checkName(ConfigValues values, ConfigKey<String> key) {
        String name = values.find(key);
        if (name != null && !FleetConfig.isName(name)) {
            error(
                    key.path(),
                    "'" + name + "' is not a name: 1 to " + FleetConfig.NAME_LENGTH_MAX
                            + " letters, digits, '-' and '_' are permitted");
        }
    }

    private void checkServer(String server) {
        String scheme = null;
        String host = null;
        try {
            URI uri = URI.create(server);
            scheme = uri.getScheme();
            host = uri.getHost();
        } catch (IllegalArgumentException e) {
            // The code below reports the invalid value.
        }
        if (host == null || !("nats".equals(scheme) || "tls".equals(scheme))) {
            error(
                    FleetKeys.SERVERS.path(),
                    "'" + server + "' is not a URL such as nats://host:4222 or tls://host:4222");
        }
    }

    private void error(String path, String message) {
        problems.error(problems.placeOf(path, wholeFile), path, message);
    }
}
