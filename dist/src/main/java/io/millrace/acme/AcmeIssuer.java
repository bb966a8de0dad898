package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.Security;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.jspecify.annotations.Nullable;
import org.shredzone.acme4j.Authorization;
import org.shredzone.acme4j.Certificate;
import org.shredzone.acme4j.Login;
import org.shredzone.acme4j.Order;
import org.shredzone.acme4j.OrderBuilder;
import org.shredzone.acme4j.Problem;
import org.shredzone.acme4j.RenewalInfo;
import org.shredzone.acme4j.Status;
import org.shredzone.acme4j.challenge.Challenge;
import org.shredzone.acme4j.connector.Resource;
import org.shredzone.acme4j.exception.AcmeException;
import org.shredzone.acme4j.exception.AcmeRateLimitedException;
import org.shredzone.acme4j.exception.AcmeServerException;
import org.shredzone.acme4j.util.KeyPairUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A certificate issuer that uses the ACME client of the library acme4j. Thread-safe. Its methods block. */
final class AcmeIssuer implements CertificateIssuer {
    private static final Logger LOG = LoggerFactory.getLogger(AcmeIssuer.class);
    /** Limit of each wait for the issuer. It applies to the validation of a name and to the certificate. */
    private static final Duration VALIDATION_MAX = Duration.ofMinutes(3);
    /** Limit of the examined causes of an exception. A chain of causes may be cyclic. */
    private static final int CAUSES_MAX = 16;

    private static final int REASON_LENGTH_MAX = 1000;
    /** Shortest time between two requests for the renewal information of a certificate, in seconds. */
    private static final long RENEWAL_INFO_INTERVAL_SECONDS = 6 * 3600;

    private static final String ACCOUNT_GONE = "urn:ietf:params:acme:error:accountDoesNotExist";
    /**
     * Errors after which an order is repeated without naming the replaced certificate. Issuers return "malformed" if
     * another issuer key signed that certificate.
     */
    private static final Set<String> REPLACEMENT_REFUSED =
            Set.of("urn:ietf:params:acme:error:alreadyReplaced", "urn:ietf:params:acme:error:malformed");

    private final AcmeConfig config;
    private final AcmeStorage storage;
    private final LongSupplier clockMillis;
    private final ChallengeFiles challenges;
    private final Map<Issuer, IssuerSession> sessions = new ConcurrentHashMap<>();

    static {
        // acme4j creates keys and certificate requests with this provider.
        if (Security.getProvider(BouncyCastleProvider.PROVIDER_NAME) == null) {
            Security.addProvider(new BouncyCastleProvider());
        }
    }

    AcmeIssuer(AcmeConfig config, AcmeStorage storage, LongSupplier clockMillis) {
        this.config = config;
        this.storage = storage;
        this.clockMillis = clockMillis;
        this.challenges = new ChallengeFiles(config, storage);
    }

    private IssuerSession session(Issuer issuer) {
        return sessions.computeIfAbsent(issuer, each -> new IssuerSession(each, config, storage));
    }

    @Override
    public Issued issue(Issuer issuer, String name, @Nullable String previousPem)
            throws IssuanceException, InterruptedException {
        boolean ordered = false;
        try {
            Login login = session(issuer).login();
            Order order = order(login, name, previousPem);
            ordered = true;
            authorize(order, name);
            KeyPair key = newKey();
            if (order.getStatus() != Status.VALID) {
                order.waitUntilReady(VALIDATION_MAX);
                order.execute(key);
                if (order.waitForCompletion(VALIDATION_MAX) != Status.VALID) {
                    throw new IOException(
                            "the order for a certificate has status " + order.getStatus() + reason(order.getError()));
                }
            }
            Certificate certificate = order.getCertificate();
            StringWriter pem = new StringWriter();
            certificate.writeCertificate(pem);
            return new Issued(
                    pem + IssuerSession.pem(key),
                    certificate.getCertificate().getNotAfter().toInstant().getEpochSecond());
        } catch (AcmeException | IOException | RuntimeException e) {
            throw failure(issuer, ordered, e);
        }
    }

    private IssuanceException failure(Issuer issuer, boolean ordered, Exception cause) {
        long retrySeconds = 0;
        if (cause instanceof AcmeRateLimitedException limited) {
            retrySeconds = limited.getRetryAfter().map(Instant::getEpochSecond).orElse(0L);
        }
        if (cause instanceof AcmeServerException refused
                && ACCOUNT_GONE.equals(refused.getType().toString())) {
            try {
                session(issuer).forget();
            } catch (IOException e) {
                LOG.warn("ACME: the stored account for {} cannot be deleted: {}", issuer.directory(), e.toString());
            }
        }
        return new IssuanceException(singleLine(text(cause)) + clockHint(cause), ordered, retrySeconds, cause);
    }

    /**
     * Returns a remark if the TLS certificate of the issuer is not valid at this time, because the clock of this
     * machine may be wrong. Returns an empty text for other failures.
     */
    static String clockHint(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES_MAX; i++) {
            if (cause instanceof CertificateNotYetValidException || cause instanceof CertificateExpiredException) {
                return "; the clock of this machine shows " + Instant.now().truncatedTo(ChronoUnit.SECONDS)
                        + ": if that is wrong, set the clock";
            }
            cause = cause.getCause();
        }
        return "";
    }

    /** Replaces control characters in the issuer's text, since it is written to logs and terminals. */
    private static String singleLine(String text) {
        String shown = text.replaceAll("\\p{Cntrl}+", " ");
        return shown.length() <= REASON_LENGTH_MAX ? shown : shown.substring(0, REASON_LENGTH_MAX) + "...";
    }

    /** Returns the messages of an exception and its causes, without class names and repetitions. */
    private static String text(Throwable failure) {
        Throwable cause = failure.getCause();
        String message = failure.getMessage();
        if (cause == null || cause == failure || (message != null && failure instanceof AcmeServerException)) {
            return message == null ? failure.getClass().getSimpleName() : message;
        }
        String causeText = text(cause);
        return message == null || message.contains(causeText) ? causeText : message + ": " + causeText;
    }

    private Order order(Login login, String name, @Nullable String previousPem) throws AcmeException, IOException {
        X509Certificate previous = previousPem == null
                        || login.getSession()
                                .resourceUrlOptional(Resource.RENEWAL_INFO)
                                .isEmpty()
                ? null
                : leaf(previousPem);
        try {
            return builder(login, name, previous).create();
        } catch (AcmeServerException e) {
            if (previous == null || !REPLACEMENT_REFUSED.contains(e.getType().toString())) {
                throw e;
            }
            // The order is repeated without naming the previous certificate. The issuer may not know it, or may already
            // have issued a replacement that was lost before it was stored.
            return builder(login, name, null).create();
        }
    }

    private OrderBuilder builder(Login login, String name, @Nullable X509Certificate previous) throws AcmeException {
        OrderBuilder builder = login.newOrder().domain(name);
        String profile = config.profile();
        if (profile != null) {
            builder.profile(profile);
        }
        if (previous != null) {
            builder.replaces(previous);
        }
        return builder;
    }

    private void authorize(Order order, String name) throws AcmeException, IOException, InterruptedException {
        for (Authorization authorization : order.getAuthorizations()) {
            if (authorization.getStatus() != Status.VALID) {
                authorize(authorization, name);
            }
        }
    }

    private void authorize(Authorization authorization, String name)
            throws AcmeException, IOException, InterruptedException {
        ChallengeFiles.PublishedChallenge ready = challenges.prepare(authorization, name);
        try {
            Challenge challenge = ready.challenge();
            challenge.trigger();
            if (authorization.waitForCompletion(VALIDATION_MAX) != Status.VALID) {
                challenge.fetch();
                throw new IOException("the issuer could not verify the name by " + challenge.getType()
                        + reason(challenge.getError()));
            }
        } finally {
            try {
                ready.removal().remove();
            } catch (IOException e) {
                LOG.warn("ACME: the response to a challenge cannot be removed: {}", e.toString());
            }
        }
    }

    private static String reason(Optional<Problem> problem) {
        return problem.flatMap(Problem::getDetail).map(detail -> ": " + detail).orElse("");
    }

    private KeyPair newKey() {
        return switch (config.keyType()) {
            case ECDSA_P256 -> KeyPairUtils.createECKeyPair("secp256r1");
            case ECDSA_P384 -> KeyPairUtils.createECKeyPair("secp384r1");
            case RSA_2048 -> KeyPairUtils.createKeyPair(2048);
            case RSA_4096 -> KeyPairUtils.createKeyPair(4096);
        };
    }

    @Override
    public @Nullable SuggestedRenewal suggestedRenewal(Issuer issuer, String pem) {
        long nowSeconds = clockMillis.getAsLong() / 1000;
        try {
            Login login = session(issuer).login();
            if (login.getSession().resourceUrlOptional(Resource.RENEWAL_INFO).isEmpty()) {
                return null;
            }
            RenewalInfo info = login.bindRenewalInfo(leaf(pem));
            long nextRequestSeconds = info.fetch().map(Instant::getEpochSecond).orElse(0L);
            return new SuggestedRenewal(
                    new RenewalTime.Window(
                            info.getSuggestedWindowStart().getEpochSecond(),
                            info.getSuggestedWindowEnd().getEpochSecond()),
                    Math.max(nextRequestSeconds, nowSeconds + RENEWAL_INFO_INTERVAL_SECONDS));
        } catch (AcmeException | IOException | RuntimeException e) {
            LOG.debug("ACME: no renewal information from {}", issuer.directory(), e);
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Returns the first certificate of a PEM text. */
    static X509Certificate leaf(String pem) throws IOException {
        try {
            int end = pem.indexOf("-----END CERTIFICATE-----");
            if (end < 0) {
                throw new IOException("a stored certificate is not in PEM");
            }
            String first = pem.substring(0, end) + "-----END CERTIFICATE-----\n";
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(first.getBytes(StandardCharsets.US_ASCII)));
        } catch (CertificateException e) {
            throw new IOException("a stored certificate is damaged: " + e.getMessage(), e);
        }
    }
}
