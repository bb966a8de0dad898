package io.millrace.proxy.tls;

import java.util.List;

/**
 * The certificates that one context offers: at most one for each kind of key. Immutable; compared by identity.
 */
final class CertificateSet {
    private final List<ServerCertificate> certificates;

    CertificateSet(List<ServerCertificate> certificates) {
        this.certificates = List.copyOf(certificates);
    }

    /** The preferred kind of key first. */
    List<ServerCertificate> certificates() {
        return certificates;
    }
}
