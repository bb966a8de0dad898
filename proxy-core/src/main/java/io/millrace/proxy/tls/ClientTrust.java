package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig.ClientCertificates;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CRL;
import java.security.cert.CRLException;
import java.security.cert.CertPathBuilder;
import java.security.cert.CertStore;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.PKIXRevocationChecker;
import java.security.cert.PKIXRevocationChecker.Option;
import java.security.cert.X509CertSelector;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The trust settings for client certificates: authorities and revocation lists, read from files. Immutable.
 *
 * <p>The session id context is a digest of the policy and the files. Therefore a TLS session can be resumed only
 * under the same policy, and not after a change of a file (CVE-2025-23419).
 */
public final class ClientTrust {
    /**
     * The trust manager of listeners that request no client certificates. It trusts no certificate. Without a trust
     * manager Netty would read the JDK's file of authorities for each TLS context, and copy all of them into the context,
     * which takes 11 ms.
     */
    static final TrustManager NONE = trustNothing();

    private final @Nullable TrustManager manager;
    private final byte[] sessionContext;

    private ClientTrust(@Nullable TrustManager manager, byte[] sessionContext) {
        this.manager = manager;
        this.sessionContext = sessionContext;
    }

    private static TrustManager trustNothing() {
        try {
            KeyStore empty = KeyStore.getInstance(ServerCertificate.KEY_STORE_TYPE);
            empty.load(null, null);
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(empty);
            return factory.getTrustManagers()[0];
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("the JDK has no trust managers: " + e.getMessage(), e);
        }
    }

    /** The trust manager; null if client certificates are not requested. */
    @Nullable
    public TrustManager manager() {
        return manager;
    }

    /** The session id context, 32 bytes. */
    byte[] sessionContext() {
        return sessionContext.clone();
    }

    /** Returns the files that contain the authorities and revocation lists of the settings. */
    static Stream<Path> files(ServerTlsConfig config) {
        return config.clientCertificates() == ClientCertificates.OFF
                ? Stream.of()
                : Stream.of(config.caFile(), config.crlFile()).filter(Objects::nonNull);
    }

    /**
     * Reads the files of the settings. Blocks.
     *
     * @throws SSLException if a file cannot be used; the message contains the path and the reason
     */
    public static ClientTrust of(ServerTlsConfig config) throws SSLException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(config.clientCertificates().name().getBytes(StandardCharsets.US_ASCII));
            digest.update((byte) 0);
            Path authorities = config.caFile();
            if (config.clientCertificates() == ClientCertificates.OFF || authorities == null) {
                return new ClientTrust(null, digest.digest());
            }
            digest.update(Files.readAllBytes(authorities));
            PKIXBuilderParameters parameters =
                    new PKIXBuilderParameters(CertificateReader.trustStore(authorities), new X509CertSelector());
            parameters.setRevocationEnabled(false);
            Path revoked = config.crlFile();
            if (revoked != null) {
                byte[] lists = Files.readAllBytes(revoked);
                digest.update(lists);
                revoke(parameters, revoked, lists);
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(new CertPathTrustManagerParameters(parameters));
            return new ClientTrust(factory.getTrustManagers()[0], digest.digest());
        } catch (CertificateFault e) {
            throw new SSLException(e.file() + ": " + e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new SSLException(e.getMessage() + ": no such file", e);
        } catch (GeneralSecurityException | IOException e) {
            throw new SSLException("client certificates: " + e.getMessage(), e);
        }
    }

    private static void revoke(PKIXBuilderParameters parameters, Path file, byte[] content)
            throws GeneralSecurityException, SSLException {
        Collection<? extends CRL> lists;
        try {
            lists = CertificateFactory.getInstance("X.509").generateCRLs(new ByteArrayInputStream(content));
        } catch (CRLException e) {
            throw new SSLException(file + ": has no revocation list in PEM (BEGIN X509 CRL): " + e.getMessage(), e);
        }
        if (lists.isEmpty()) {
            throw new SSLException(file + ": has no revocation list in PEM (BEGIN X509 CRL)");
        }
        parameters.addCertStore(
                CertStore.getInstance("Collection", new CollectionCertStoreParameters(List.copyOf(lists))));
        PKIXRevocationChecker checker =
                (PKIXRevocationChecker) CertPathBuilder.getInstance("PKIX").getRevocationChecker();
        checker.setOptions(EnumSet.of(Option.PREFER_CRLS, Option.NO_FALLBACK, Option.ONLY_END_ENTITY));
        parameters.addCertPathChecker(checker);
    }
}
