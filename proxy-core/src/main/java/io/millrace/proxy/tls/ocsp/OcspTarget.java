package io.millrace.proxy.tls.ocsp;

import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;

/**
 * A certificate for which an OCSP staple is requested. Immutable.
 *
 * @param sha256 fingerprint in hexadecimal; identifies the certificate, and names the file of its answer
 * @param name a name of the certificate, for logs
 * @param responder URL of the responder
 * @param chain decodes the certificate chain, which begins with the certificate and its issuer
 */
public record OcspTarget(String sha256, String name, String responder, Chain chain) {
    /**
     * Decodes a certificate chain on demand. Saves memory, because usually only few of many certificates are in use.
     */
    @FunctionalInterface
    public interface Chain {
        X509Certificate[] decode() throws GeneralSecurityException;
    }
}
