package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports origin TLS settings that lack another required setting. Warns of unused settings and unreadable files. */
final class OriginTlsChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    OriginTlsChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        checkSection(values, values, OriginTlsKeys.GENERAL, "origin.tls");
        checkElements(values, ConfigKeys.REMAP, OriginTlsKeys.GENERAL, "remap[", "].origin.tls");
        checkSection(values, values, OriginTlsKeys.MIRROR, "mirror.tls");
        checkElements(values, ConfigKeys.REMAP, OriginTlsKeys.MIRROR, "remap[", "].mirror.tls");
        checkElements(values, OriginGroupKeys.ORIGINS, OriginTlsKeys.GROUP, "origins[", "].tls");
    }

    private void checkElements(
            ConfigValues values,
            ConfigKey<List<ConfigValues>> list,
            OriginTlsKeys.Section section,
            String before,
            String after) {
        List<ConfigValues> elements = values.elements(list);
        for (int i = 0; i < elements.size(); i++) {
            checkSection(elements.get(i), values, section, before + i + after);
        }
    }

    private void checkSection(ConfigValues own, ConfigValues general, OriginTlsKeys.Section keys, String path) {
        if (own.isSet(keys.key()) && !own.isSet(keys.certificate()) && !problems.isAnyBrokenBelow(path)) {
            problems.error(
                    at(path + ".key"), path + ".certificate", "missing; set the certificate that this key belongs to");
        }
        boolean off = own.isSet(keys.verify())
                ? own.find(keys.verify()) == OriginTlsConfig.Verify.OFF
                : general.get(OriginTlsKeys.GENERAL.verify()) == OriginTlsConfig.Verify.OFF;
        if (off && own.isSet(keys.caFile())) {
            problems.warning(at(path + ".ca_file"), path + ".ca_file", "is not used: verify is off");
        }
        // A missing file is only a warning, since it may be created later. Connections fail until then.
        warnUnreadable(path + ".ca_file", own.find(keys.caFile()));
        warnUnreadable(path + ".certificate", own.find(keys.certificate()));
        warnUnreadable(path + ".key", own.find(keys.key()));
    }

    private void warnUnreadable(String path, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            problems.warning(at(path), path, file + (Files.exists(file) ? ": permission denied" : ": no such file"));
        }
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
