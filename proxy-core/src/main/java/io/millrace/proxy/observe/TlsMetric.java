package io.millrace.proxy.observe;

import java.util.List;

/** The metrics of certificates, of TLS handshakes with clients, and of ACME and OCSP. Immutable. */
public enum TlsMetric implements Metric {
    CERTIFICATES(
            "millrace_tls_certificates",
            Kind.GAUGE,
            "certificates",
            "TLS certificates by state: valid, expiring (soon), expired, faulty (the files are broken, the last good"
                    + " version is in use) or unusable. millctl tls list shows them.",
            "state"),
    CERTIFICATE_EXPIRY(
            "millrace_tls_certificate_expiry_seconds",
            Kind.GAUGE,
            "seconds",
            "Time until the first certificate expires, negative afterwards; renew that certificate in time."),
    NAME_EXPIRY(
            "millrace_tls_name_expiry_seconds",
            Kind.GAUGE,
            "seconds",
            "Time until each certificate expires, negative afterwards; the label is its first name. Only for the 100"
                    + " certificates that expire first.",
            "name"),
    HANDSHAKES(
            "millrace_tls_handshakes_total",
            Kind.COUNTER,
            "connections",
            "TLS handshakes with clients that succeeded, by version.",
            "version"),
    HANDSHAKE_FAILURES(
            "millrace_tls_handshake_failures_total",
            Kind.COUNTER,
            "connections",
            "TLS handshakes with clients that failed, by reason.",
            "reason"),
    ACME_CHALLENGES(
            "millrace_acme_challenges_total",
            Kind.COUNTER,
            "answers",
            "Challenges of certificate issuers answered by this worker, by type: http-01 or tls-alpn-01.",
            "type"),
    ACME_NAMES(
            "millrace_acme_names",
            Kind.GAUGE,
            "names",
            "Names with automatic certificates by state: valid, pending (no certificate yet), failing (the last order"
                    + " failed) or expired; millctl tls list shows them.",
            "state"),
    OCSP_STAPLES(
            "millrace_ocsp_staples",
            Kind.GAUGE,
            "certificates",
            "Certificates for which OCSP staples are requested, by state: stapled, or missing (handshakes carry"
                    + " none); millctl tls list shows them.",
            "state"),
    OCSP_ANSWERS(
            "millrace_ocsp_answers_total",
            Kind.COUNTER,
            "answers",
            "Requests to OCSP responders by result: good (the answer becomes the staple), or why there is none; the log"
                    + " names certificate and reason.",
            "result"),
    CERTIFICATE_FAULTS(
            "millrace_tls_certificate_faults_total",
            Kind.COUNTER,
            "certificates",
            "Certificate files that could not be used when they were read; the log names file and reason.",
            "reason");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    TlsMetric(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
