package io.millrace.acme;

import io.millrace.acme.CertificateIssuer.Issued;
import io.millrace.acme.CertificateIssuer.SuggestedRenewal;
import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Orders and renews certificates, and stores an {@link AcmeRecord} of each name. Thread-safe. Blocks. */
final class NameIssuance {
    private static final Logger LOG = LoggerFactory.getLogger(NameIssuance.class);

    /** Limit of a pause that an issuer requests, in seconds. With a longer pause the certificate might expire. */
    private static final long PAUSE_SECONDS_MAX = 86_400;

    /** Pause after a response without renewal information, in seconds. */
    private static final long NO_ADVICE_SECONDS = 3600;

    /** A certificate that could not be stored yet. */
    private record UnsavedCertificate(Issued issued, Issuer issuer) {}

    private final AcmeConfig config;
    private final AcmeStorage storage;
    private final CertificateIssuer client;
    private final DoubleSupplier random;
    private final EventSink events;
    /** Ends of the issuers' pauses in seconds since 1970, by directory URL. */
    private final Map<String, Long> pausedUntil = new ConcurrentHashMap<>();

    private final Map<String, UnsavedCertificate> unsaved = new ConcurrentHashMap<>();

    /**
     * @param random supplies numbers from 0 to 1
     * @param events receives the events: issued certificates and failed orders
     */
    NameIssuance(
            AcmeConfig config, AcmeStorage storage, CertificateIssuer client, DoubleSupplier random, EventSink events) {
        this.events = events;
        this.config = config;
        this.storage = storage;
        this.client = client;
        this.random = random;
    }

    /**
     * Orders a certificate if the renewal is due or forced, or if the certificate is missing from the storage. Does not
     * order a certificate that another launcher with the same storage has renewed meanwhile.
     *
     * @param localRecord this launcher's record of the name
     * @param forced whether to order although the renewal is not due
     * @return empty while another launcher orders the certificate
     */
    Optional<OrderOutcome> order(AcmeRecord localRecord, long nowSeconds, boolean forced) throws InterruptedException {
        String name = localRecord.name();
        Optional<AcmeStorage.Lease> lease;
        try {
            lease = storage.lease(AcmeFiles.fileName(name));
        } catch (IOException e) {
            return Optional.of(new OrderOutcome(storageFailed(localRecord, nowSeconds, e), localRecord, nowSeconds));
        }
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        AcmeRecord current = localRecord;
        try (AcmeStorage.Lease held = lease.get()) {
            LOG.debug("ACME: processing {}: {}", name, held);
            current = latest(localRecord);
            boolean lost = current.expirySeconds() > 0
                    && storedCertificate(name) == null
                    && current.retrySeconds() <= nowSeconds;
            if (!forced && !lost && !current.isDue(nowSeconds)) {
                return Optional.of(new OrderOutcome(current, current, nowSeconds));
            }
            UnsavedCertificate unsavedCertificate = unsaved.get(name);
            AcmeRecord result = unsavedCertificate == null
                    ? orderWhileLeased(current, nowSeconds)
                    : save(current, unsavedCertificate, nowSeconds);
            OrderOutcome ordered = new OrderOutcome(result, current, nowSeconds);
            if (!ordered.kept().equals(result)) {
                tryWrite(ordered.kept());
            }
            return Optional.of(ordered);
        } catch (IOException e) {
            return Optional.of(new OrderOutcome(storageFailed(current, nowSeconds, e), current, nowSeconds));
        }
    }

    /**
     * The outcome of an order.
     *
     * @param result record with the outcome of this order, including a failure; for the caller that forced the order
     * @param kept record to store; the old one, with the new times of orders, if an early renewal failed
     */
    record OrderOutcome(AcmeRecord result, AcmeRecord kept) {
        /**
         * Keeps the old record if the order failed before the renewal was due, because the old certificate is still
         * valid.
         */
        OrderOutcome(AcmeRecord result, AcmeRecord before, long nowSeconds) {
            this(
                    result,
                    result.failures() > before.failures()
                                    && before.expirySeconds() > 0
                                    && before.renewalSeconds() > nowSeconds
                            ? withOrders(before, result.orders())
                            : result);
        }
    }

    /** Returns the stored record if it is newer than {@code localRecord}. Another launcher may have written it. */
    private AcmeRecord latest(AcmeRecord localRecord) throws IOException {
        AcmeRecord stored = read(localRecord.name()).orElse(localRecord);
        return stored.changedSeconds() >= localRecord.changedSeconds() ? stored : localRecord;
    }

    private AcmeRecord orderWhileLeased(AcmeRecord before, long nowSeconds) throws IOException, InterruptedException {
        AcmeRecord record = before;
        String pem = storedCertificate(record.name());
        List<String> reasons = new ArrayList<>();
        long notBefore = Long.MAX_VALUE;
        for (Issuer issuer : IssuerSequence.of(config.issuers(), pausedUntil, nowSeconds)) {
            long allowed = IssuanceLimit.next(record.orders(), config.issuancesMax(), nowSeconds);
            if (allowed > nowSeconds) {
                reasons.add("tls.acme.issuances_per_name_per_hour is reached (limit=" + config.issuancesMax()
                        + "); the next order is possible at " + Instant.ofEpochSecond(allowed));
                notBefore = allowed;
                break;
            }
            AcmeRecord counted = withOrders(record, IssuanceLimit.with(record.orders(), nowSeconds));
            // The record is written before the order, so that no certificate is ordered while the storage is broken.
            write(counted);
            try {
                Issued issued =
                        client.issue(issuer, record.name(), issuer.directory().equals(record.issuer()) ? pem : null);
                pausedUntil.remove(issuer.directory());
                return save(counted, new UnsavedCertificate(issued, issuer), nowSeconds);
            } catch (IssuanceException e) {
                reasons.add(issuer.directory() + ": " + e.getMessage());
                long retry = Math.min(e.retrySeconds(), nowSeconds + PAUSE_SECONDS_MAX);
                // The earliest retry time applies, so that a pause of one issuer does not delay orders from the others.
                notBefore = Math.min(notBefore, retry);
                if (e.isOrdered()) {
                    record = counted;
                } else {
                    pausedUntil.put(issuer.directory(), RetryDelay.next(1, nowSeconds, retry));
                }
            }
        }
        return failed(record, String.join("; ", reasons), nowSeconds, notBefore);
    }

    /** Returns the stored certificate of a name. Returns null if there is none or it cannot be read. */
    private @Nullable String storedCertificate(String name) {
        try {
            return storage.get(certificate(name)).orElse(null);
        } catch (IOException e) {
            LOG.warn("ACME: the certificate of {} cannot be read: {}", name, e.toString());
            return null;
        }
    }

    /** Stores a certificate. If the storage fails, keeps the certificate in memory for the next attempt. */
    private AcmeRecord save(AcmeRecord before, UnsavedCertificate made, long nowSeconds) {
        String name = before.name();
        Issued issued = made.issued();
        try {
            storage.put(certificate(name), issued.pem());
        } catch (IOException e) {
            unsaved.put(name, made);
            return storageFailed(before, nowSeconds, e);
        }
        unsaved.remove(name);
        AcmeRecord newRecord = new AcmeRecord(
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
        events.record(new Event(
                nowSeconds * 1000,
                EventKind.CERTIFICATE_RENEWED,
                name,
                "issued by " + made.issuer().directory() + ", valid until "
                        + Instant.ofEpochSecond(issued.expirySeconds())));
        tryWrite(newRecord);
        return newRecord;
    }

    /**
     * Requests renewal information from the issuer, and stores the suggested renewal time in the record.
     */
    RenewalInfoResult requestRenewalInfo(AcmeRecord localRecord, long nowSeconds) {
        RenewalInfoResult none = new RenewalInfoResult(localRecord, nowSeconds + NO_ADVICE_SECONDS);
        try (AcmeStorage.Lease lease =
                storage.lease(AcmeFiles.fileName(localRecord.name())).orElse(null)) {
            return lease == null ? none : requestRenewalInfoWhileLeased(latest(localRecord), nowSeconds);
        } catch (IOException e) {
            LOG.warn("ACME: the certificate of {} cannot be read: {}", localRecord.name(), e.toString());
            return none;
        }
    }

    private RenewalInfoResult requestRenewalInfoWhileLeased(AcmeRecord current, long nowSeconds) throws IOException {
        Issuer issuer = config.issuers().stream()
                .filter(each -> each.directory().equals(current.issuer()))
                .findFirst()
                .orElse(null);
        String pem =
                issuer == null ? null : storage.get(certificate(current.name())).orElse(null);
        SuggestedRenewal suggestedRenewal = pem == null || issuer == null ? null : client.suggestedRenewal(issuer, pem);
        if (suggestedRenewal == null) {
            return new RenewalInfoResult(current, nowSeconds + NO_ADVICE_SECONDS);
        }
        RenewalTime.Window window = suggestedRenewal.window();
        boolean inWindow =
                current.renewalSeconds() >= window.startSeconds() && current.renewalSeconds() <= window.endSeconds();
        if (inWindow) {
            return new RenewalInfoResult(current, suggestedRenewal.askAgainSeconds());
        }
        long renewal =
                RenewalTime.byWindow(window, random.getAsDouble(), current.issuedSeconds(), current.expirySeconds());
        AcmeRecord newRecord = withRenewal(current, renewal);
        LOG.info(
                "ACME: the certificate of {} will be renewed at {}, the time that the issuer suggests",
                current.name(),
                Instant.ofEpochSecond(renewal));
        tryWrite(newRecord);
        return new RenewalInfoResult(newRecord, suggestedRenewal.askAgainSeconds());
    }

    /**
     * Deletes the files of a name whose certificate expired long ago.
     *
     * @return false if the deletion must be tried again
     */
    boolean forget(AcmeRecord localRecord) {
        try (AcmeStorage.Lease lease =
                storage.lease(AcmeFiles.fileName(localRecord.name())).orElse(null)) {
            if (lease == null || latest(localRecord).changedSeconds() > localRecord.changedSeconds()) {
                return false;
            }
            storage.delete(certificate(localRecord.name()));
            storage.delete("records/" + AcmeRecord.fileName(localRecord.name()));
            LOG.info("ACME: the certificate of {} expired long ago and is deleted", localRecord.name());
            return true;
        } catch (IOException e) {
            LOG.warn("ACME: the certificate of {} cannot be deleted: {}", localRecord.name(), e.toString());
            return false;
        }
    }

    /**
     * The outcome of a request for renewal information.
     *
     * @param askAgainSeconds time of the next request, in seconds since 1970
     */
    record RenewalInfoResult(AcmeRecord record, long askAgainSeconds) {}

    private AcmeRecord storageFailed(AcmeRecord record, long nowSeconds, IOException e) {
        return failed(record, "the storage cannot be used: " + e, nowSeconds, 0);
    }

    private AcmeRecord failed(AcmeRecord record, String reason, long nowSeconds, long notBeforeSeconds) {
        int failures = record.failures() + 1;
        long retry = RetryDelay.next(failures, nowSeconds, notBeforeSeconds);
        AcmeRecord newRecord = new AcmeRecord(
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
                        ? "there is no older certificate"
                        : "the older certificate, valid until " + Instant.ofEpochSecond(record.expirySeconds())
                                + ", stays in use");
        events.record(new Event(
                nowSeconds * 1000,
                EventKind.CERTIFICATE_FAILED,
                record.name(),
                reason + "; failures in a row: " + failures + "; next try at " + Instant.ofEpochSecond(retry)));
        tryWrite(newRecord);
        return newRecord;
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
            LOG.warn("ACME: the status file of {} is damaged and is rewritten: {}", name, e.getMessage());
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
            LOG.error("ACME: the status file of {} cannot be written: {}", record.name(), e.toString());
        }
    }

    private static String certificate(String name) {
        return "certificates/" + AcmeFiles.fileName(name) + ".pem";
    }
}
