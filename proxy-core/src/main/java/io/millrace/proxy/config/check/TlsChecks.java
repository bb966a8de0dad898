package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.tls.TlsConfig;
import io.millrace.proxy.http.FieldName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks which TLS keys require or exclude each other. The certificate store reads the certificates themselves. */
final class TlsChecks {
    private static final Pattern NAME =
            Pattern.compile("(?i)(\\*\\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\\.?");

    private final ConfigProblems problems;
    private final Place wholeFile;

    TlsChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        String subject = values.find(SharedTlsKeys.CLIENT_SUBJECT_FIELD);
        if (subject != null && FieldName.of(subject).isWellKnown()) {
            String path = SharedTlsKeys.CLIENT_SUBJECT_FIELD.path();
            problems.error(
                    at(path), path, subject + " already has another meaning; choose a name such as X-Client-Subject");
        }
        List<ConfigValues> certificates = values.elements(SharedTlsKeys.CERTIFICATES);
        for (int i = 0; i < certificates.size(); i++) {
            checkElement("tls.certificates[" + i + "]", certificates.get(i));
            checkNameSettings("tls.certificates[" + i + "]", certificates.get(i), values);
        }
        warnUnreadable(SharedTlsKeys.TICKET_KEYS_FILE.path(), values.find(SharedTlsKeys.TICKET_KEYS_FILE));
        List<ConfigValues> listeners = values.elements(ConfigKeys.LISTEN);
        boolean acme = problems.isAnyBrokenBelow("tls.acme") || AcmeConfig.from(values) != null;
        boolean used = false;
        checkSettings("tls", values, ServerTlsKeys.GENERAL, ServerTlsConfig.from(values, values));
        for (int i = 0; i < listeners.size(); i++) {
            if (ServerTlsKeys.LISTEN.all().stream().anyMatch(listeners.get(i)::isSet)) {
                ServerTlsConfig effective = ServerTlsConfig.from(listeners.get(i), values);
                checkSettings("listen[" + i + "].tls", listeners.get(i), ServerTlsKeys.LISTEN, effective);
            }
            used |= checkListener("listen[" + i + "].tls", listeners.get(i), !certificates.isEmpty() || acme);
        }
        if (!used && !certificates.isEmpty() && !problems.isBroken("listen")) {
            problems.warning(
                    at("tls.certificates"), "tls.certificates", "is not used: no address of listen has tls: {}");
        }
    }

    /**
     * Checks the certificate of an address.
     *
     * @param hasShared whether there are certificates for all addresses: tls.certificates or ACME
     * @return true if the address uses the shared certificates
     */
    private boolean checkListener(String path, ConfigValues listener, boolean hasShared) {
        boolean hasCertificate = listener.isSet(ConfigKeys.LISTEN_CERTIFICATE);
        boolean hasKey = listener.isSet(ConfigKeys.LISTEN_KEY);
        if (hasCertificate != hasKey && !problems.isAnyBrokenBelow(path)) {
            String missing = path + (hasCertificate ? ".key" : ".certificate");
            problems.error(
                    at(path + (hasCertificate ? ".certificate" : ".key")),
                    missing,
                    "missing; certificate and key must be set together");
        }
        boolean usesShared = !hasCertificate
                && !hasKey
                && listener.isSet(SharedTlsKeys.LISTEN_ENABLED)
                && listener.get(SharedTlsKeys.LISTEN_ENABLED);
        boolean isBroken =
                problems.isBroken("tls") || problems.isAnyBrokenBelow("tls") || problems.isAnyBrokenBelow(path);
        if (usesShared && !hasShared && !isBroken) {
            problems.error(
                    at(path.substring(0, path.lastIndexOf('.'))),
                    path,
                    "has no certificate: set certificate and key here, or tls.certificates or tls.acme.names");
        }
        return usesShared;
    }

    /**
     * Checks the settings of an address, or the general settings.
     *
     * @param effective the settings in force: {@code own} completed by the general ones
     */
    private void checkSettings(String path, ConfigValues own, ServerTlsKeys.Section keys, ServerTlsConfig effective) {
        if (effective.minVersion().compareTo(effective.maxVersion()) > 0) {
            String key = path + (own.isSet(keys.minVersion()) ? ".min_version" : ".max_version");
            problems.error(
                    at(key),
                    key,
                    "min_version " + effective.minVersion().text() + " is newer than max_version "
                            + effective.maxVersion().text());
        }
        boolean requestsCertificates = effective.clientCertificates() != ServerTlsConfig.ClientCertificates.OFF;
        if (requestsCertificates && effective.caFile() == null && !problems.isAnyBrokenBelow(path)) {
            problems.error(
                    at(path + ".client_certificates"),
                    path + ".client_ca_file",
                    "missing; client_certificates needs the certificate authorities of the clients");
        }
        checkHsts(path + ".hsts", own, keys);
        warnUnreadable(path + ".client_ca_file", own.find(keys.caFile()));
        warnUnreadable(path + ".client_revocation_file", own.find(keys.crlFile()));
    }

    private void checkHsts(String path, ConfigValues own, ServerTlsKeys.Section keys) {
        ServerTlsConfig.Hsts hsts = ServerTlsConfig.Hsts.from(own, keys);
        boolean hasOptions = Boolean.TRUE.equals(own.find(keys.hstsIncludeSubdomains()))
                || Boolean.TRUE.equals(own.find(keys.hstsPreload()));
        if (hsts == null) {
            if (hasOptions && !problems.isAnyBrokenBelow(path)) {
                problems.error(at(path), path + ".max_age", "missing; include_subdomains and preload need it");
            }
        } else if (hsts.preload()
                && (!hsts.includeSubdomains() || hsts.maxAgeSeconds() < ServerTlsConfig.Hsts.PRELOAD_SECONDS)) {
            problems.error(
                    at(path + ".preload"),
                    path + ".preload",
                    "needs include_subdomains: true and a max_age of at least 365d, because browsers refuse it otherwise");
        }
    }

    /** Checks the settings that apply to the names of one certificate, completed by the general settings. */
    private void checkNameSettings(String path, ConfigValues element, ConfigValues values) {
        if (ServerTlsKeys.NAME.all().stream().anyMatch(element::isSet)) {
            ServerTlsConfig general = ServerTlsConfig.from(values, values);
            checkSettings(
                    path,
                    element,
                    ServerTlsKeys.NAME,
                    TlsConfig.NameSettings.from(element).applyTo(general));
        }
    }

    private void checkElement(String path, ConfigValues element) {
        Path certificate = element.find(SharedTlsKeys.CERTIFICATE);
        Path directory = element.find(SharedTlsKeys.DIRECTORY);
        if (problems.isAnyBrokenBelow(path)) {
            return;
        }
        if ((certificate == null) == (directory == null)) {
            problems.error(at(path), path, "must have either certificate (and key) or directory");
        } else if (directory != null && element.isSet(SharedTlsKeys.KEY)) {
            problems.error(
                    at(path + ".key"), path + ".key", "cannot be combined with directory, which contains the keys");
        }
        // These are warnings, since one unreadable certificate must not prevent the use of the others.
        warnUnreadable(path + ".certificate", certificate);
        warnUnreadable(path + ".key", element.find(SharedTlsKeys.KEY));
        warnUnreadable(path + ".directory", directory);
        List<String> names = element.find(SharedTlsKeys.NAMES);
        for (String name : names == null ? List.<String>of() : names) {
            if (!NAME.matcher(name).matches()) {
                problems.error(
                        at(path + ".names"),
                        path + ".names",
                        "'" + name + "' is not a name such as www.example.com or *.example.com");
            }
        }
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
