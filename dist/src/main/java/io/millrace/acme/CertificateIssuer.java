package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import org.jspecify.annotations.Nullable;

/** Orders certificates from issuers. Thread-safe; blocks. */
interface CertificateIssuer {
    /**
     * A certificate that was issued.
     *
     * @param pem chain and private key
     * @param expirySeconds when the certificate ends, in seconds since 1970
     */
    record Issued(String pem, long expirySeconds) {}

    /**
     * An issuer's advice on renewal (RFC 9773).
     *
     * @param askAgainSeconds when to ask for it again, in seconds since 1970
     */
    record Advice(RenewalTime.Window window, long askAgainSeconds) {}

    /**
     * Orders a certificate and waits for it.
     *
     * @param name which the certificate is for
     * @param previousPem the certificate that the new one replaces, of the same issuer; null for none
     */
    Issued issue(Issuer issuer, String name, @Nullable String previousPem)
            throws IssuanceException, InterruptedException;

    /** When to renew a certificate; null where the issuer gives no advice now. */
    @Nullable
    Advice advice(Issuer issuer, String pem);
}
