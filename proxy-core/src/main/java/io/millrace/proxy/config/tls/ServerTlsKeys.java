package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.tls.ServerTlsConfig.ClientCertificates;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Configuration keys for TLS with clients: general, per listening address, and per certificate name. */
public final class ServerTlsKeys {
    /** The keys of a section {@code tls}. Immutable. */
    public record Section(
            ConfigKey<TlsVersion> minVersion,
            ConfigKey<TlsVersion> maxVersion,
            ConfigKey<List<String>> ciphers,
            ConfigKey<List<String>> groups,
            ConfigKey<ClientCertificates> clientCertificates,
            ConfigKey<Path> caFile,
            ConfigKey<Path> crlFile,
            ConfigKey<Duration> hstsMaxAge,
            ConfigKey<Boolean> hstsIncludeSubdomains,
            ConfigKey<Boolean> hstsPreload,
            ConfigKey<Boolean> ocspStapling) {
        public List<ConfigKey<?>> all() {
            return List.of(
                    minVersion,
                    maxVersion,
                    ciphers,
                    groups,
                    clientCertificates,
                    caFile,
                    crlFile,
                    hstsMaxAge,
                    hstsIncludeSubdomains,
                    hstsPreload,
                    ocspStapling);
        }
    }

    /** Limit of max_age; browsers do not remember it for longer. */
    private static final Duration HSTS_MAX = Duration.ofDays(3650);

    public static final Section GENERAL = new Section(
            ConfigKey.builder("tls.min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .defaultsTo(TlsVersion.TLS_1_2)
                    .rolling()
                    .atsName("proxy.config.ssl.server.version.min")
                    .description("Oldest version of TLS for connections of clients."),
            ConfigKey.builder("tls.max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .defaultsTo(TlsVersion.TLS_1_3)
                    .rolling()
                    .atsName("proxy.config.ssl.server.version.max")
                    .description("Newest version of TLS for connections of clients."),
            ConfigKey.builder("tls.ciphers", ValueType.NAMES)
                    .rolling()
                    .atsName("proxy.config.ssl.server.cipher_suite")
                    .description("Cipher suites of TLS 1.2 in order of preference, such as"
                            + " TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256; by default, the suites of BoringSSL. The"
                            + " suites of TLS 1.3 are fixed."),
            ConfigKey.builder("tls.groups", ValueType.NAMES)
                    .rolling()
                    .atsName("proxy.config.ssl.server.groups_list")
                    .description(
                            "Key exchange groups in order of preference; by default, X25519MLKEM768, x25519, P-256,"
                                    + " P-384 and P-521."),
            ConfigKey.builder("tls.client_certificates", ValueType.word(ClientCertificates.class, false))
                    .defaultsTo(ClientCertificates.OFF)
                    .rolling()
                    .atsName("proxy.config.ssl.client.certification_level")
                    .description("Whether clients are asked for certificates, and whether connections without a valid"
                            + " certificate are refused. A certificate that a client presents must be valid."),
            ConfigKey.builder("tls.client_ca_file", ValueType.PATH)
                    .rolling()
                    .atsName("proxy.config.ssl.CA.cert.filename")
                    .description(
                            "PEM file of the authorities that sign client certificates; client_certificates needs it."),
            ConfigKey.builder("tls.client_revocation_file", ValueType.PATH)
                    .rolling()
                    .description(
                            "PEM file of revocation lists of these authorities. Clients with a listed certificate are"
                                    + " refused; if the list is out of date, all clients are refused."),
            ConfigKey.builder("tls.hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .rolling()
                    .atsName("proxy.config.ssl.hsts_max_age")
                    .description(
                            "Adds Strict-Transport-Security to responses over TLS that do not have it. The value is"
                                    + " the time for which browsers use https only; 0 makes browsers forget the"
                                    + " policy. Without this key no field is added."),
            ConfigKey.builder("tls.hsts.include_subdomains", ValueType.BOOLEAN)
                    .defaultsTo(false)
                    .rolling()
                    .atsName("proxy.config.ssl.hsts_include_subdomains")
                    .description("Whether the policy also applies to all subdomains."),
            ConfigKey.builder("tls.hsts.preload", ValueType.BOOLEAN)
                    .defaultsTo(false)
                    .rolling()
                    .description(
                            "Whether browsers may include the host in their built-in lists; needs include_subdomains"
                                    + " and a max_age of at least 365 days."),
            ConfigKey.builder("tls.ocsp_stapling", ValueType.BOOLEAN)
                    .defaultsTo(true)
                    .rolling()
                    .atsName("proxy.config.ssl.ocsp.enabled")
                    .description("Whether handshakes contain an OCSP answer, which confirms that the certificate is not"
                            + " revoked. The proxy requests it from the responder that the certificate names."));

    public static final Section LISTEN = new Section(
            ConfigKey.builder("listen[].tls.min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .rolling()
                    .description("As tls.min_version, for this address."),
            ConfigKey.builder("listen[].tls.max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .rolling()
                    .description("As tls.max_version, for this address."),
            ConfigKey.builder("listen[].tls.ciphers", ValueType.NAMES)
                    .rolling()
                    .description("As tls.ciphers, for this address."),
            ConfigKey.builder("listen[].tls.groups", ValueType.NAMES)
                    .rolling()
                    .description("As tls.groups, for this address."),
            ConfigKey.builder("listen[].tls.client_certificates", ValueType.word(ClientCertificates.class, false))
                    .rolling()
                    .description("As tls.client_certificates, for this address."),
            ConfigKey.builder("listen[].tls.client_ca_file", ValueType.PATH)
                    .rolling()
                    .description("As tls.client_ca_file, for this address."),
            ConfigKey.builder("listen[].tls.client_revocation_file", ValueType.PATH)
                    .rolling()
                    .description("As tls.client_revocation_file, for this address."),
            ConfigKey.builder("listen[].tls.hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .rolling()
                    .description("As tls.hsts.max_age, for this address."),
            ConfigKey.builder("listen[].tls.hsts.include_subdomains", ValueType.BOOLEAN)
                    .rolling()
                    .description("As tls.hsts.include_subdomains, for this address."),
            ConfigKey.builder("listen[].tls.hsts.preload", ValueType.BOOLEAN)
                    .rolling()
                    .description("As tls.hsts.preload, for this address."),
            ConfigKey.builder("listen[].tls.ocsp_stapling", ValueType.BOOLEAN)
                    .rolling()
                    .description("As tls.ocsp_stapling, for this address."));

    /** The settings for the names of an element's certificates. */
    public static final Section NAME = new Section(
            ConfigKey.builder("tls.certificates[].min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .description("As tls.min_version, for these names."),
            ConfigKey.builder("tls.certificates[].max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .description("As tls.max_version, for these names."),
            ConfigKey.builder("tls.certificates[].ciphers", ValueType.NAMES)
                    .description("As tls.ciphers, for these names."),
            ConfigKey.builder("tls.certificates[].groups", ValueType.NAMES)
                    .description("As tls.groups, for these names."),
            ConfigKey.builder("tls.certificates[].client_certificates", ValueType.word(ClientCertificates.class, false))
                    .description("As tls.client_certificates, for these names."),
            ConfigKey.builder("tls.certificates[].client_ca_file", ValueType.PATH)
                    .description("As tls.client_ca_file, for these names."),
            ConfigKey.builder("tls.certificates[].client_revocation_file", ValueType.PATH)
                    .description("As tls.client_revocation_file, for these names."),
            ConfigKey.builder("tls.certificates[].hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .description("As tls.hsts.max_age, for these names."),
            ConfigKey.builder("tls.certificates[].hsts.include_subdomains", ValueType.BOOLEAN)
                    .description("As tls.hsts.include_subdomains, for these names."),
            ConfigKey.builder("tls.certificates[].hsts.preload", ValueType.BOOLEAN)
                    .description("As tls.hsts.preload, for these names."),
            ConfigKey.builder("tls.certificates[].ocsp_stapling", ValueType.BOOLEAN)
                    .description("As tls.ocsp_stapling, for these names."));

    private ServerTlsKeys() {}
}
