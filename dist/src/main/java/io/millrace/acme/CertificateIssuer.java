package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import org.jspecify.annotations.Nullable;

/** A client of certificate issuers. Thread-safe. Its methods block. */
interface CertificateIssuer {
    /**
     * An issued certificate.
     *
     * @param pem certificate chain and private key
     * @param expirySeconds expiry of the certificate, in seconds since 1970
     */
    record Issued(String pem, long expirySeconds) {}

    /**
     * Renewal information of an issuer (RFC 9773).
     *
     * @param askAgainSeconds time of the next request, in seconds since 1970
     */
    record SuggestedRenewal(RenewalTime.Window window, long askAgainSeconds) {}

    /**
     * Orders a certificate and waits for it.
     *
     * @param name name of the certificate
     * @param previousPem certificate of the same issuer that is replaced; null for none
     */
    Issued issue(Issuer issuer, String name, @Nullable String previousPem)
            throws IssuanceException, InterruptedException;

    /** Requests the renewal information of a certificate. Returns null if the issuer has none or does not answer. */
    @Nullable
    SuggestedRenewal suggestedRenewal(Issuer issuer, String pem);
}
