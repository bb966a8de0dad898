package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import io.millrace.proxy.tls.ocsp.Staple;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The certificates that one context offers: at most one for each kind of key; and the settings of their names. Thread-safe;
 * compared by identity.
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

    /** Settings of the names that they are for. */
    NameSettings settings() {
        return settings;
    }

    /** The preferred kind of key first. */
    List<ServerCertificate> certificates() {
        return certificates;
    }

    /** Target of requests for a staple; null where there is no responder. The TLS library takes a staple for the last certificate only. */
    @Nullable
    OcspTarget ocspTarget() {
        return ocspTarget;
    }

    /** Fingerprint of the certificate that a staple is for. */
    String stapledSha256() {
        return certificates.get(certificates.size() - 1).facts().sha256();
    }

    /** Whether clients refuse that certificate without a staple. */
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
