package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import org.shredzone.acme4j.Authorization;
import org.shredzone.acme4j.Identifier;
import org.shredzone.acme4j.challenge.Challenge;
import org.shredzone.acme4j.challenge.Dns01Challenge;
import org.shredzone.acme4j.challenge.Http01Challenge;
import org.shredzone.acme4j.challenge.TlsAlpn01Challenge;
import org.shredzone.acme4j.toolbox.AcmeUtils;
import org.shredzone.acme4j.util.KeyPairUtils;

/**
 * Publishes the responses to the issuer's challenges. Workers serve the responses to HTTP-01 and TLS-ALPN-01, name
 * servers those to DNS-01. Thread-safe. Its methods block.
 */
final class ChallengeFiles {
    /** Removes the published response to one challenge. */
    @FunctionalInterface
    interface Removal {
        void remove() throws IOException, InterruptedException;
    }

    /**
     * A challenge whose response is published.
     *
     * @param removal removes the response; to be called when the issuer has accepted or refused it
     */
    record PublishedChallenge(Challenge challenge, Removal removal) {}

    private final AcmeConfig config;
    private final AcmeStorage storage;

    ChallengeFiles(AcmeConfig config, AcmeStorage storage) {
        this.config = config;
        this.storage = storage;
    }

    /**
     * Publishes the response to the challenge of the configured type.
     *
     * @param orderName name for which the certificate is ordered
     * @throws IOException if the response cannot be published, or if the issuer does not offer the configured challenge
     *     type
     */
    PublishedChallenge prepare(Authorization authorization, String orderName) throws IOException, InterruptedException {
        String domain = authorization.getIdentifier().getDomain();
        if (!domain.equals(orderName.startsWith("*.") ? orderName.substring(2) : orderName)) {
            throw new IOException(
                    "the issuer's challenge is for the name " + domain + ", but the order is for " + orderName);
        }
        return switch (config.challenge()) {
            case HTTP_01 -> publishHttp(find(authorization, Http01Challenge.TYPE, Http01Challenge.class));
            case TLS_ALPN_01 ->
                publishTlsAlpn(
                        find(authorization, TlsAlpn01Challenge.TYPE, TlsAlpn01Challenge.class),
                        authorization.getIdentifier());
            case DNS_01 ->
                publishDns(
                        find(authorization, Dns01Challenge.TYPE, Dns01Challenge.class), authorization.getIdentifier());
        };
    }

    private static <C extends Challenge> C find(Authorization authorization, String type, Class<C> challengeClass)
            throws IOException {
        return authorization
                .findChallenge(challengeClass)
                .orElseThrow(() -> new IOException("the issuer does not offer " + type + " for "
                        + authorization.getIdentifier().getDomain() + "; choose another tls.acme.challenge"));
    }

    private PublishedChallenge publishHttp(Http01Challenge challenge) throws IOException {
        String path = "challenges/http-01/" + challenge.getToken();
        storage.put(path, challenge.getAuthorization());
        return new PublishedChallenge(challenge, () -> storage.delete(path));
    }

    private PublishedChallenge publishTlsAlpn(TlsAlpn01Challenge challenge, Identifier name) throws IOException {
        // acme4j can sign this certificate only with RSA.
        KeyPair key = KeyPairUtils.createKeyPair(2048);
        X509Certificate certificate = challenge.createCertificate(key, name);
        StringWriter text = new StringWriter();
        try {
            AcmeUtils.writeToPem(certificate.getEncoded(), AcmeUtils.PemLabel.CERTIFICATE, text);
        } catch (CertificateEncodingException e) {
            throw new IOException(e);
        }
        String path = "challenges/tls-alpn-01/" + name.getDomain();
        storage.put(path, text + IssuerSession.pem(key));
        return new PublishedChallenge(challenge, () -> storage.delete(path));
    }

    private PublishedChallenge publishDns(Dns01Challenge challenge, Identifier name)
            throws IOException, InterruptedException {
        Path program = config.dnsHook();
        if (program == null) {
            throw new IOException("tls.acme.dns_hook is not set, but dns-01 needs it");
        }
        DnsHook hook = new DnsHook(program, config.dnsHookNanos());
        String record = challenge.getRRName(name);
        String value = challenge.getDigest();
        hook.present(record, value);
        return new PublishedChallenge(challenge, () -> hook.cleanUp(record, value));
    }
}
