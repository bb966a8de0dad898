package io.millrace.acme;

import io.millrace.acme.CertificateIssuer.Advice;
import io.millrace.acme.CertificateIssuer.Issued;
import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.AcmeConfig;
import io.millrace.proxy.config.AcmeConfig.Issuer;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Orders the certificate of one name and keeps its record. Confined to the ACME thread; blocks. */
final class NameIssuance {
    private static final Logger LOG = LoggerFactory.getLogger(NameIssuance.class);

    /** While another launcher works on the name. */
    private static final long BUSY_SECONDS = 60;

    private record Unsaved(Issued issued, Issuer issuer) {}

    private final AcmeConfig config;
    private final AcmeStorage storage;
    private final CertificateIssuer client;
    private final DoubleSupplier random;
    private final Map<String, Long> pausedUntil = new HashMap<>();
    private final Map<String, Unsaved> unsaved = new HashMap<>();

    /** @param random numbers from 0 to 1 */
    NameIssuance(AcmeConfig config, AcmeStorage storage, CertificateIssuer client, DoubleSupplier random) {
        this.config = config;
        this.storage = storage;
        this.client = client;
        this.random = random;
    }

    /**
     * Orders a certificate unless another launcher has done so, or limits forbid it.
     *
     * @param known what this launcher knows of the name
     * @param forced whether an operator wants a new one before the renewal is due
     * @return what is known then
     */
    AcmeRecord order(AcmeRecord known, long nowSeconds, boolean forced) throws InterruptedException {
        String name = known.name();
        Optional<AcmeStorage.Lease> lease;
        try {
            lease = storage.lease(AcmeFiles.fileName(name));
        } catch (IOException e) {
            return storageFailed(known, nowSeconds, e);
        }
        if (lease.isEmpty()) {
            return retryAt(known, nowSeconds + BUSY_SECONDS);
        }
        try (AcmeStorage.Lease held = lease.get()) {
            LOG.debug("ACME: working on {}: {}", name, held);
            AcmeRecord stored = read(name).orElse(known);
            if (!forced && stored.expirySeconds() > known.expirySeconds() && stored.renewalSeconds() > nowSeconds) {
                return stored;
            }
            Unsaved left = unsaved.get(name);
            return left == null ? orderWhileLeased(known, nowSeconds) : save(known, left, nowSeconds);
        } catch (IOException e) {
            return storageFailed(known, nowSeconds, e);
        }
    }

    private AcmeRecord orderWhileLeased(AcmeRecord before, long nowSeconds) throws IOException, InterruptedException {
        AcmeRecord record = before;
        String pem = held(record.name());
        List<String> reasons = new ArrayList<>();
        long notBefore = 0;
        for (Issuer issuer : IssuerOrder.of(config.issuers(), pausedUntil, nowSeconds)) {
            long allowed = IssuanceLimit.next(record.orders(), config.issuancesMax(), nowSeconds);
            if (allowed > nowSeconds) {
                reasons.add("limit of tls.acme.issuances_per_name_per_hour reached (limit=" + config.issuancesMax()
                        + "); the next order is possible at " + Instant.ofEpochSecond(allowed));
                notBefore = Math.max(notBefore, allowed);
                break;
            }
            AcmeRecord counted = withOrders(record, IssuanceLimit.with(record.orders(), nowSeconds));
            // Nothing is ordered that could not be stored.
            write(counted);
            try {
                Issued issued =
                        client.issue(issuer, record.name(), issuer.directory().equals(record.issuer()) ? pem : null);
                pausedUntil.remove(issuer.directory());
                return save(counted, new Unsaved(issued, issuer), nowSeconds);
            } catch (IssuanceException e) {
                reasons.add(issuer.directory() + ": " + e.getMessage());
                notBefore = Math.max(notBefore, e.retrySeconds());
                if (e.isOrdered()) {
                    record = counted;
                } else {
                    pausedUntil.put(issuer.directory(), RetryDelay.next(1, nowSeconds, e.retrySeconds()));
                }
            }
        }
        return failed(record, String.join("; ", reasons), nowSeconds, notBefore);
    }

    /** The certificate that a new one replaces; null without one, and where it cannot be read. */
    private @Nullable String held(String name) {
        try {
            return storage.get(certificate(name)).orElse(null);
        } catch (IOException e) {
            LOG.warn("ACME: the certificate of {} cannot be read: {}", name, e.toString());
            return null;
        }
    }

    /** Stores a certificate, or keeps it for the next try where the storage takes nothing. */
    private AcmeRecord save(AcmeRecord before, Unsaved made, long nowSeconds) {
        String name = before.name();
        Issued issued = made.issued();
        try {
            storage.put(certificate(name), issued.pem());
        } catch (IOException e) {
            unsaved.put(name, made);
            return storageFailed(before, nowSeconds, e);
        }
        unsaved.remove(name);
        AcmeRecord next = new AcmeRecord(
                name,
                made.issuer().directory(),
                nowSeconds,
                issued.expirySeconds(),
                RenewalTime.byLifetime(nowSeconds, issued.expirySeconds()),
                0,
                0,
                "",
                0,
                before.orders());
        LOG.info(
                "ACME: certificate for {} issued by {}, valid until {}",
                name,
                made.issuer().directory(),
                Instant.ofEpochSecond(issued.expirySeconds()));
        tryWrite(next);
        return next;
    }

    /**
     * Asks the issuer when to renew.
     *
     * @return when to ask again, in seconds since 1970, and the record with the time; null where there is no advice
     */
    @Nullable
    Advised advise(AcmeRecord known, long nowSeconds) {
        Issuer issuer = config.issuers().stream()
                .filter(each -> each.directory().equals(known.issuer()))
                .findFirst()
                .orElse(null);
        try {
            String pem = issuer == null
                    ? null
                    : storage.get(certificate(known.name())).orElse(null);
            Advice advice = pem == null || issuer == null ? null : client.advice(issuer, pem);
            if (advice == null) {
                return null;
            }
            RenewalTime.Window window = advice.window();
            boolean chosen =
                    known.renewalSeconds() >= window.startSeconds() && known.renewalSeconds() <= window.endSeconds();
            if (chosen) {
                return new Advised(known, advice.askAgainSeconds());
            }
            long renewal =
                    RenewalTime.byWindow(window, random.getAsDouble(), known.issuedSeconds(), known.expirySeconds());
            AcmeRecord next = withRenewal(known, renewal);
            LOG.info("ACME: {} is renewed at {}, as the issuer asks", known.name(), Instant.ofEpochSecond(renewal));
            tryWrite(next);
            return new Advised(next, advice.askAgainSeconds());
        } catch (IOException e) {
            LOG.warn("ACME: the certificate of {} cannot be read: {}", known.name(), e.toString());
            return null;
        }
    }

    /** Result of an issuer's advice. */
    record Advised(AcmeRecord record, long askAgainSeconds) {}

    private AcmeRecord storageFailed(AcmeRecord record, long nowSeconds, IOException e) {
        return failed(record, "the storage cannot be used: " + e, nowSeconds, 0);
    }

    private AcmeRecord failed(AcmeRecord record, String reason, long nowSeconds, long notBeforeSeconds) {
        int failures = record.failures() + 1;
        long retry = RetryDelay.next(failures, nowSeconds, notBeforeSeconds);
        AcmeRecord next = new AcmeRecord(
                record.name(),
                record.issuer(),
                record.issuedSeconds(),
                record.expirySeconds(),
                record.renewalSeconds(),
                failures,
                retry,
                reason,
                nowSeconds,
                record.orders());
        LOG.error(
                "ACME: no certificate for {}: {}; failures in a row: {}; next try at {}; {}",
                record.name(),
                reason,
                failures,
                Instant.ofEpochSecond(retry),
                record.expirySeconds() == 0
                        ? "there is no earlier certificate"
                        : "the one until " + Instant.ofEpochSecond(record.expirySeconds()) + " stays in use");
        tryWrite(next);
        return next;
    }

    private static AcmeRecord retryAt(AcmeRecord record, long seconds) {
        return new AcmeRecord(
                record.name(),
                record.issuer(),
                record.issuedSeconds(),
                record.expirySeconds(),
                record.renewalSeconds(),
                record.failures(),
                seconds,
                record.error(),
                record.errorSeconds(),
                record.orders());
    }

    private static AcmeRecord withOrders(AcmeRecord record, List<Long> orders) {
        return new AcmeRecord(
                record.name(),
                record.issuer(),
                record.issuedSeconds(),
                record.expirySeconds(),
                record.renewalSeconds(),
                record.failures(),
                record.retrySeconds(),
                record.error(),
                record.errorSeconds(),
                orders);
    }

    private static AcmeRecord withRenewal(AcmeRecord record, long renewal) {
        return new AcmeRecord(
                record.name(),
                record.issuer(),
                record.issuedSeconds(),
                record.expirySeconds(),
                renewal,
                record.failures(),
                record.retrySeconds(),
                record.error(),
                record.errorSeconds(),
                record.orders());
    }

    private Optional<AcmeRecord> read(String name) throws IOException {
        try {
            return storage.get("records/" + AcmeRecord.fileName(name)).map(AcmeRecord::parse);
        } catch (IllegalArgumentException e) {
            LOG.warn("ACME: the record of {} is damaged and is written anew: {}", name, e.getMessage());
            return Optional.empty();
        }
    }

    private void write(AcmeRecord record) throws IOException {
        storage.put("records/" + AcmeRecord.fileName(record.name()), record.text());
    }

    private void tryWrite(AcmeRecord record) {
        try {
            write(record);
        } catch (IOException e) {
            LOG.error("ACME: the record of {} cannot be written: {}", record.name(), e.toString());
        }
    }

    private static String certificate(String name) {
        return "certificates/" + AcmeFiles.fileName(name) + ".pem";
    }
}
