package io.millrace.proxy.tls.ocsp;

import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;

/**
 * A certificate that a staple is wanted for. Immutable.
 *
 * @param sha256 fingerprint in hexadecimal; its identity, and the name of its file
 * @param name a name that it is for, for logs
 * @param responder URL
 * @param chain decodes the chain, the certificate itself first and its issuer second
 */
public record OcspTarget(String sha256, String name, String responder, Chain chain) {
    /** Decodes a chain; many certificates are known of which few are in use. */
    @FunctionalInterface
    public interface Chain {
        X509Certificate[] decode() throws GeneralSecurityException;
    }
}
