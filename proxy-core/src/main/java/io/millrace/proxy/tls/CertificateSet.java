package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import io.millrace.proxy.tls.ocsp.Staple;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of one TLS context, at most one per key type, with the TLS settings of their host names.
 * Thread-safe; compared by identity.
 */
final class CertificateSet {
    private final List<ServerCertificate> certificates;
    private final NameSettings settings;
    private final @Nullable OcspTarget ocspTarget;
    private volatile @Nullable Staple staple;

    CertificateSet(List<ServerCertificate> certificates, NameSettings settings) {
        this.certificates = List.copyOf(certificates);
        this.settings = settings;
        ocspTarget = this.certificates.get(this.certificates.size() - 1).ocspTarget();
    }

    /** The settings of the names of these certificates. */
    NameSettings settings() {
        return settings;
    }

    /** The certificates, with the preferred key type first. */
    List<ServerCertificate> certificates() {
        return certificates;
    }

    /**
     * Target of OCSP requests; null without a responder. This is the target of the last certificate, the only one that
     * the TLS library can staple.
     */
    @Nullable
    OcspTarget ocspTarget() {
        return ocspTarget;
    }

    /** Fingerprint of the certificate that can be stapled. */
    String stapledSha256() {
        return certificates.get(certificates.size() - 1).facts().sha256();
    }

    /** Returns true if the last certificate has the must-staple extension. Clients refuse it without a staple. */
    boolean isMustStaple() {
        return certificates.get(certificates.size() - 1).facts().ocsp().mustStaple();
    }

    /** The staple for handshakes; null for none. */
    @Nullable
    Staple staple() {
        return staple;
    }

    void staple(@Nullable Staple next) {
        staple = next;
    }
}
