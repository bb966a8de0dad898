package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.tls.CertificatesSource;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.TlsMetric;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.ServerCertificate;
import io.millrace.proxy.tls.ServerTls;
import io.millrace.proxy.tls.TlsReport;
import io.millrace.proxy.tls.ocsp.OcspFault;
import io.millrace.proxy.tls.ocsp.StapleStatus;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The certificates of a proxy for the admin API. Thread-safe. */
public final class TlsAdmin implements CertificatesSource {
    private static final List<String> STATES = List.of("valid", "expiring", "expired", "faulty", "unusable");

    private static final List<String> AUTOMATIC_STATES = List.of("valid", "pending", "failing", "expired");

    /** Limit of expiry metrics by name, because there may be tens of thousands of certificates. */
    private static final int SERIES_MAX = 100;

    private final ServerTls tls;
    private final LongSupplier clockMillis;

    public TlsAdmin(ServerTls tls, LongSupplier clockMillis) {
        this.tls = tls;
        this.clockMillis = clockMillis;
    }

    /** Registers the metrics of certificates. */
    public void bind(MetricsRegistry metrics) {
        Supplier<TlsReport> report = metrics.perScrape(tls::report);
        for (String state : STATES) {
            metrics.supplyGauge(
                    TlsMetric.CERTIFICATES,
                    () -> report.get().lines().stream()
                            .filter(line -> state(line).equals(state))
                            .count(),
                    state);
        }
        for (String state : AUTOMATIC_STATES) {
            metrics.supplyGauge(
                    TlsMetric.ACME_NAMES,
                    () -> tls.automaticNames().stream()
                            .filter(record -> record.state(nowSeconds()).equals(state))
                            .count(),
                    state);
        }
        metrics.supplyCounter(TlsMetric.ACME_CHALLENGES, tls::challenges, "tls-alpn-01");
        metrics.supplyGauge(TlsMetric.CERTIFICATE_EXPIRY, () -> secondsToFirstExpiry(report.get()));
        metrics.supplyNamedGauges(TlsMetric.NAME_EXPIRY, () -> secondsToExpiryByName(report.get()));
        metrics.supplyGauge(TlsMetric.OCSP_STAPLES, () -> tls.staples(true), "stapled");
        metrics.supplyGauge(TlsMetric.OCSP_STAPLES, () -> tls.staples(false), "missing");
        metrics.supplyCounter(TlsMetric.OCSP_ANSWERS, () -> tls.ocspAnswers(null), "good");
        for (OcspFault.Kind kind : OcspFault.Kind.values()) {
            metrics.supplyCounter(TlsMetric.OCSP_ANSWERS, () -> tls.ocspAnswers(kind), kind.text());
        }
        for (CertificateFault.Kind kind : CertificateFault.Kind.values()) {
            metrics.supplyCounter(
                    TlsMetric.CERTIFICATE_FAULTS, () -> report.get().faults().getOrDefault(kind, 0L), kind.word());
        }
    }

    /** Returns the seconds to expiry by name, for the certificates that expire first. */
    private Map<String, Double> secondsToExpiryByName(TlsReport report) {
        Map<String, Double> seconds = new LinkedHashMap<>();
        report.lines().stream()
                .filter(line -> line.facts() != null && !line.names().isEmpty())
                .sorted(Comparator.comparingLong(
                        line -> Objects.requireNonNull(line.facts()).expirySeconds()))
                .takeWhile(line -> seconds.size() < SERIES_MAX)
                .forEach(line -> seconds.putIfAbsent(
                        line.names().get(0),
                        (double) Objects.requireNonNull(line.facts()).expirySeconds() - nowSeconds()));
        return seconds;
    }

    private double secondsToFirstExpiry(TlsReport report) {
        return report.lines().stream()
                .map(TlsReport.Line::facts)
                .filter(facts -> facts != null)
                .mapToDouble(facts -> facts.expirySeconds() - nowSeconds())
                .min()
                .orElse(Double.NaN);
    }

    private String state(TlsReport.Line line) {
        ServerCertificate.Facts facts = line.facts();
        if (facts == null) {
            return "unusable";
        }
        long remainingSeconds = facts.expirySeconds() - nowSeconds();
        if (remainingSeconds <= 0) {
            return "expired";
        }
        if (line.fault() != null) {
            return "faulty";
        }
        return facts.endsSoon(nowSeconds()) ? "expiring" : "valid";
    }

    @Override
    public List<AutomaticCertificate> automatic() {
        return tls.automaticNames().stream()
                .map(record -> new AutomaticCertificate(
                        record.name(),
                        record.state(nowSeconds()),
                        record.issuer(),
                        record.expirySeconds(),
                        record.renewalSeconds(),
                        record.failures() == 0 ? 0 : record.retrySeconds(),
                        record.failures(),
                        record.failures() == 0 ? null : record.error(),
                        record.failures() == 0 ? 0 : record.errorSeconds()))
                .toList();
    }

    @Override
    public List<Certificate> certificates() {
        return certificates(tls.report());
    }

    private List<Certificate> certificates(TlsReport report) {
        Map<Object, List<Setting>> settings = new HashMap<>();
        return report.lines().stream()
                .map(line -> certificate(
                        line,
                        settings.computeIfAbsent(line.isOwn() ? line.files() : line.element(), each -> settings(line))))
                .toList();
    }

    @Override
    public List<Directory> directories() {
        return directories(tls.report());
    }

    private static List<Directory> directories(TlsReport report) {
        return report.directories().entrySet().stream()
                .map(each -> new Directory(each.getKey().toString(), each.getValue()))
                .toList();
    }

    @Override
    public long nowSeconds() {
        return TimeUnit.MILLISECONDS.toSeconds(clockMillis.getAsLong());
    }

    @Override
    public CompletionStage<CheckResult> check(Path file, @Nullable Path key) {
        return CompletableFuture.supplyAsync(() -> {
            TlsReport found = tls.check(file, key);
            return new CheckResult(certificates(found), directories(found));
        });
    }

    /**
     * Returns the settings in force for a certificate. All certificates of one element of the configured list have the
     * same settings.
     */
    private List<Setting> settings(TlsReport.Line line) {
        return tls.settings(line).stream()
                .map(each -> new Setting(each.name(), each.value(), each.source(), each.address()))
                .toList();
    }

    private Staple staple(TlsReport.Line line, ServerCertificate.Facts facts) {
        String responder = facts.ocsp().responder();
        StapleStatus status = responder == null ? null : tls.staple(facts);
        String state;
        if (responder == null) {
            state = "none";
        } else if (Boolean.FALSE.equals(line.stapled())) {
            state = "off";
        } else if (status == null) {
            state = "unused";
        } else {
            state = status.untilSeconds() > 0 ? "stapled" : "missing";
        }
        StapleStatus shown = state.equals("off") ? null : status;
        return new Staple(
                state,
                responder,
                facts.ocsp().mustStaple(),
                shown == null ? 0 : shown.untilSeconds(),
                shown == null ? null : shown.problem(),
                shown == null ? 0 : shown.problemSeconds());
    }

    /** Returns the notes about the files, and a note if the certificate is not valid yet. */
    private List<String> notes(ServerCertificate.Facts facts) {
        if (facts.issuedSeconds() <= nowSeconds()) {
            return facts.notes();
        }
        List<String> notes = new ArrayList<>(facts.notes());
        notes.add("not valid before " + Instant.ofEpochSecond(facts.issuedSeconds())
                + ", but the clock of this machine shows " + Instant.ofEpochSecond(nowSeconds())
                + "; set the clock, or use another certificate: clients refuse this one until then");
        return notes;
    }

    private Certificate certificate(TlsReport.Line line, List<Setting> settings) {
        ServerCertificate.Facts facts = line.facts();
        return new Certificate(
                line.files().certificate().toString(),
                line.files().key().toString(),
                line.names(),
                state(line),
                facts == null ? null : facts.issuer(),
                facts == null ? 0 : facts.issuedSeconds(),
                facts == null ? 0 : facts.expirySeconds(),
                facts == null ? "" : facts.keyType(),
                facts == null ? "" : facts.serial(),
                facts == null ? "" : facts.sha256(),
                facts == null ? List.of() : facts.chain(),
                facts == null ? List.of() : notes(facts),
                line.settings(),
                line.stapled() == null ? List.of() : settings,
                line.loadedSeconds(),
                line.problem(),
                line.faultSinceSeconds(),
                facts == null ? Staple.NONE : staple(line, facts));
    }
}
