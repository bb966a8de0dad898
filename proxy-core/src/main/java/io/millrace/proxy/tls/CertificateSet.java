package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import io.millrace.proxy.tls.ocsp.Staple;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of one TLS context, with the TLS settings of their host names. Contains at most one
 * certificate per key type, such as EC and RSA. Thread-safe; compared by identity.
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

    /** The TLS settings of the host names of these certificates. */
    NameSettings settings() {
        return settings;
    }

    /** The certificates, with the preferred key type first. */
    List<ServerCertificate> certificates() {
        return certificates;
    }

    /**
     * The target of OCSP requests for the last certificate; null if this certificate names no responder. The TLS
     * library can staple an OCSP answer for the last certificate only.
     */
    @Nullable
    OcspTarget ocspTarget() {
        return ocspTarget;
    }

    /** Returns the SHA-256 fingerprint of the last certificate, the only one that can have an OCSP staple. */
    String stapledSha256() {
        return certificates.get(certificates.size() - 1).facts().sha256();
    }

    /**
     * Returns true if the last certificate has the must-staple extension. Clients refuse such a certificate without a
     * staple.
     */
    boolean isMustStaple() {
        return certificates.get(certificates.size() - 1).facts().ocsp().mustStaple();
    }

    /** The staple (OCSP answer) that handshakes send; null for none. */
    @Nullable
    Staple staple() {
        return staple;
    }

    void staple(@Nullable Staple next) {
        staple = next;
    }
}
