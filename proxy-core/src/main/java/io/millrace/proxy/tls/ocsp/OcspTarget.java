package io.millrace.proxy.tls.ocsp;

import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;

/**
 * A certificate that needs a staple. Immutable.
 *
 * @param sha256 fingerprint in hexadecimal; the identity of the certificate, and the name of its file
 * @param name a name of the certificate, for logs
 * @param responder URL of the responder
 * @param chain decodes the chain, which begins with the certificate and its issuer
 */
public record OcspTarget(String sha256, String name, String responder, Chain chain) {
    /** Decodes a chain on demand, because usually few of many certificates are in use. */
    @FunctionalInterface
    public interface Chain {
        X509Certificate[] decode() throws GeneralSecurityException;
    }
}
