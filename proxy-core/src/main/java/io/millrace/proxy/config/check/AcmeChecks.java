package io.millrace.proxy.config.check;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks which ACME keys require or exclude each other. */
final class AcmeChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    AcmeChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        AcmeConfig acme = problems.isAnyBrokenBelow("tls.acme") ? null : AcmeConfig.from(values);
        if (acme == null) {
            return;
        }
        checkNames(acme);
        if (!acme.acceptsTerms()) {
            error("tls.acme.accept_terms", "must be true: read the issuer's terms of service and accept them");
        }
        String email = acme.email();
        if (email != null && !email.matches("[^@\\s]+@[^@\\s]+")) {
            error("tls.acme.email", "'" + email + "' is not an e-mail address such as ops@example.com");
        }
        checkHook(acme);
        checkReadable("tls.acme.ca_file", acme.caFile());
        checkIssuers(acme);
        AcmeConfig.OnDemand onDemand = acme.onDemand();
        if (onDemand != null) {
            checkUrl("tls.acme.on_demand.ask", onDemand.ask(), false);
        }
        checkListeners(acme, values);
    }

    private void checkNames(AcmeConfig acme) {
        for (String name : acme.names()) {
            if (!AcmeConfig.isIssuable(name)) {
                error(
                        "tls.acme.names",
                        "'" + name + "' is not a public name such as www.example.com or *.example.com;" + " at most "
                                + AcmeConfig.NAME_LENGTH_MAX + " characters, no IP address");
            } else if (name.startsWith("*.") && acme.challenge() != AcmeConfig.Challenge.DNS_01) {
                error("tls.acme.names", "'" + name + "' is a wildcard, which needs tls.acme.challenge: dns_01");
            }
        }
    }

    private void checkHook(AcmeConfig acme) {
        Path hook = acme.dnsHook();
        if (acme.challenge() != AcmeConfig.Challenge.DNS_01) {
            if (hook != null) {
                problems.warning(
                        at("tls.acme.dns_hook"), "tls.acme.dns_hook", "is not used: tls.acme.challenge is not dns_01");
            }
        } else if (hook == null) {
            error("tls.acme.dns_hook", "missing; tls.acme.challenge: dns_01 needs it");
        } else if (!Files.isExecutable(hook)) {
            error("tls.acme.dns_hook", hook + (Files.exists(hook) ? ": is not executable" : ": no such file"));
        }
    }

    private void checkIssuers(AcmeConfig acme) {
        for (int i = 0; i < acme.issuers().size(); i++) {
            AcmeConfig.Issuer issuer = acme.issuers().get(i);
            String path = "tls.acme.issuers[" + i + "]";
            checkUrl(path + ".directory", issuer.directory(), true);
            if ((issuer.eabKeyId() == null) != (issuer.eabKeyFile() == null)) {
                error(path, "eab_key_id and eab_key_file must be set together");
            }
            checkReadable(path + ".eab_key_file", issuer.eabKeyFile());
        }
    }

    private void checkUrl(String path, String url, boolean httpsOnly) {
        String scheme = null;
        String host = null;
        try {
            URI uri = URI.create(url);
            scheme = uri.getScheme();
            host = uri.getHost();
        } catch (IllegalArgumentException e) {
            // The code below reports the invalid value.
        }
        if (host == null || !("https".equals(scheme) || (!httpsOnly && "http".equals(scheme)))) {
            error(path, "'" + url + "' is not a URL such as " + (httpsOnly ? "https" : "http") + "://host/path");
        }
    }

    private void checkReadable(String path, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            error(path, file + (Files.exists(file) ? ": permission denied" : ": no such file"));
        }
    }

    private void checkListeners(AcmeConfig acme, ConfigValues values) {
        List<ConfigValues> listeners = values.elements(ConfigKeys.LISTEN);
        if (problems.isBroken("listen") || problems.isAnyBrokenBelow("listen")) {
            return;
        }
        boolean hasListenerWithoutTls = false;
        boolean usesIssuedCertificates = false;
        for (ConfigValues listener : listeners) {
            boolean hasOwnCertificate = listener.isSet(ConfigKeys.LISTEN_CERTIFICATE);
            boolean isTlsEnabled =
                    listener.isSet(SharedTlsKeys.LISTEN_ENABLED) && listener.get(SharedTlsKeys.LISTEN_ENABLED);
            usesIssuedCertificates |= isTlsEnabled && !hasOwnCertificate;
            hasListenerWithoutTls |= !isTlsEnabled && !hasOwnCertificate;
        }
        if (!usesIssuedCertificates) {
            problems.warning(at("tls.acme"), "tls.acme", "certificates are not used: no address of listen has tls: {}");
        }
        if (!hasListenerWithoutTls && acme.challenge() == AcmeConfig.Challenge.HTTP_01) {
            problems.warning(
                    at("tls.acme.challenge"),
                    "tls.acme.challenge",
                    "http_01 needs an address of listen without tls that port 80 leads to");
        }
    }

    private void error(String path, String message) {
        problems.error(at(path), path, message);
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
