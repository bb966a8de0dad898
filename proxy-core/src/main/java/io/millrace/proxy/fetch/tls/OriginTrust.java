package io.millrace.proxy.fetch.tls;

import io.millrace.proxy.config.tls.OriginTlsConfig.Verify;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.CertificateNames;
import io.millrace.proxy.tls.CertificateReader;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trust manager for certificates of origins, for settings with reduced verification. It checks only the name, or it
 * checks chain and name but only logs failures.
 *
 * <p>Immutable. The TLS library calls it at full handshakes, on event loops.
 */
final class OriginTrust extends X509ExtendedTrustManager {
    private static final Logger log = LoggerFactory.getLogger(OriginTrust.class);
    private static final long FAULT_QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final FaultLog FAULTS = new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime);

    private final Verify verify;
    private final X509ExtendedTrustManager standardManager;

    private OriginTrust(Verify verify, X509ExtendedTrustManager standardManager) {
        this.verify = verify;
        this.standardManager = standardManager;
    }

    /**
     * Returns a trust manager for any verification except {@code off}. The standard one of Java suffices for {@code on}
     * and {@code chain}.
     *
     * @param authorities PEM file; null for the system's trust store
     */
    static X509ExtendedTrustManager of(Verify verify, @Nullable Path authorities) throws SSLException {
        X509ExtendedTrustManager standardManager = standardManager(authorities);
        boolean isStandard = verify == Verify.ON || verify == Verify.CHAIN;
        return isStandard ? standardManager : new OriginTrust(verify, standardManager);
    }

    /** Returns Java's trust manager for these authorities. */
    private static X509ExtendedTrustManager standardManager(@Nullable Path authorities) throws SSLException {
        try {
            KeyStore store = authorities == null ? null : CertificateReader.trustStore(authorities);
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager extended) {
                    return extended;
                }
            }
            throw new SSLException("this Java has no X.509 trust manager");
        } catch (CertificateFault e) {
            throw new SSLException(e.file() + ": " + e.getMessage(), e);
        } catch (GeneralSecurityException | IOException e) {
            throw new SSLException(authorities + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        String name = engine.getPeerHost();
        if (verify == Verify.NAME) {
            if (name == null || !CertificateNames.match(chain[0], name)) {
                throw new CertificateException("the certificate is not for the name " + name);
            }
            return;
        }
        try {
            standardManager.checkServerTrusted(chain, authType, engine);
        } catch (CertificateException e) {
            FAULTS.report(
                    "origin certificate " + name,
                    "the certificate of origin " + name + " is used although it is not valid: " + e.getMessage(),
                    null);
        }
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return standardManager.getAcceptedIssuers();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("verification needs an SSLEngine");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("verification needs an SSLEngine");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("only certificates of servers are verified");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw new CertificateException("only certificates of servers are verified");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw new CertificateException("only certificates of servers are verified");
    }
}
