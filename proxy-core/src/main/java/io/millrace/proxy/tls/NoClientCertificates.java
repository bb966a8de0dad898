package io.millrace.proxy.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The trust manager of listeners that request no client certificates. It trusts no certificate.
 *
 * <p>Without a trust manager Netty would read the JDK's file of authorities for each TLS context, and copy all of them
 * into the context: 11 ms and some 100 KB that are of no use. Immutable.
 */
final class NoClientCertificates extends X509ExtendedTrustManager {
    static final NoClientCertificates INSTANCE = new NoClientCertificates();

    private NoClientCertificates() {}

    private static CertificateException refused() {
        return new CertificateException("client certificates are not requested here");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw refused();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw refused();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw refused();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw refused();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw refused();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw refused();
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
