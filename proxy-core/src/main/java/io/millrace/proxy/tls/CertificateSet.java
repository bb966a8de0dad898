package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import java.util.List;

/**
 * The certificates that one context offers: at most one for each kind of key; and the settings of their names. Immutable; compared by identity.
 */
final class CertificateSet {
    private final List<ServerCertificate> certificates;
    private final NameSettings settings;

    CertificateSet(List<ServerCertificate> certificates, NameSettings settings) {
        this.certificates = List.copyOf(certificates);
        this.settings = settings;
    }

    /** Settings of the names that they are for. */
    NameSettings settings() {
        return settings;
    }

    /** The preferred kind of key first. */
    List<ServerCertificate> certificates() {
        return certificates;
    }
}
