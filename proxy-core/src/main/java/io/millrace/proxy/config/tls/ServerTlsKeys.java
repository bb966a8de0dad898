package io.millrace.proxy.config.tls;

import static io.millrace.proxy.config.key.ConfigKey.draft;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.tls.ServerTlsConfig.ClientCertificates;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The catalogue's entries for TLS with clients: general, and for a listening address. */
public final class ServerTlsKeys {
    /** The keys of one section {@code tls}. Immutable. */
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
            ConfigKey<Boolean> hstsPreload) {
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
                    hstsPreload);
        }
    }

    /** Browsers keep no longer ones. */
    private static final Duration HSTS_MAX = Duration.ofDays(3650);

    public static final Section GENERAL = new Section(
            draft("tls.min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .defaultsTo(TlsVersion.TLS_1_2)
                    .rolling()
                    .like("proxy.config.ssl.server.version.min")
                    .says("Oldest version of TLS that is spoken with clients."),
            draft("tls.max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .defaultsTo(TlsVersion.TLS_1_3)
                    .rolling()
                    .like("proxy.config.ssl.server.version.max")
                    .says("Newest version of TLS that is spoken with clients."),
            draft("tls.ciphers", ValueType.NAMES)
                    .rolling()
                    .like("proxy.config.ssl.server.cipher_suite")
                    .says("Cipher suites of TLS 1.2 in order of preference, such as"
                            + " TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256; without it those of BoringSSL. Those of TLS 1.3"
                            + " are always the same."),
            draft("tls.groups", ValueType.NAMES)
                    .rolling()
                    .like("proxy.config.ssl.server.groups_list")
                    .says("Key exchange groups in order of preference; without it X25519MLKEM768, x25519, P-256, P-384"
                            + " and P-521."),
            draft("tls.client_certificates", ValueType.word(ClientCertificates.class, false))
                    .defaultsTo(ClientCertificates.OFF)
                    .rolling()
                    .like("proxy.config.ssl.client.certification_level")
                    .says("Whether clients are asked for certificates, and whether connections without a valid one are"
                            + " refused. One that is shown must be valid."),
            draft("tls.client_ca_file", ValueType.PATH)
                    .rolling()
                    .like("proxy.config.ssl.CA.cert.filename")
                    .says("PEM file of the authorities that sign client certificates; client_certificates needs it."),
            draft("tls.client_revocation_file", ValueType.PATH)
                    .rolling()
                    .says("PEM file of revocation lists of these authorities. Clients whose certificate is in it are"
                            + " refused, and so are all when the list is out of date."),
            draft("tls.hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .rolling()
                    .like("proxy.config.ssl.hsts_max_age")
                    .says(
                            "Adds Strict-Transport-Security to responses over TLS that have none: how long browsers use https"
                                    + " only; 0 makes them forget it. Without it nothing is added."),
            draft("tls.hsts.include_subdomains", ValueType.BOOLEAN)
                    .defaultsTo(false)
                    .rolling()
                    .like("proxy.config.ssl.hsts_include_subdomains")
                    .says("Whether hsts holds for every subdomain too."),
            draft("tls.hsts.preload", ValueType.BOOLEAN)
                    .defaultsTo(false)
                    .rolling()
                    .says(
                            "Whether browsers may ship with the host in their lists; needs include_subdomains and a max_age of"
                                    + " 365 days."));

    public static final Section LISTEN = new Section(
            draft("listen[].tls.min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .rolling()
                    .says("As tls.min_version, for this address."),
            draft("listen[].tls.max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .rolling()
                    .says("As tls.max_version, for this address."),
            draft("listen[].tls.ciphers", ValueType.NAMES).rolling().says("As tls.ciphers, for this address."),
            draft("listen[].tls.groups", ValueType.NAMES).rolling().says("As tls.groups, for this address."),
            draft("listen[].tls.client_certificates", ValueType.word(ClientCertificates.class, false))
                    .rolling()
                    .says("As tls.client_certificates, for this address."),
            draft("listen[].tls.client_ca_file", ValueType.PATH)
                    .rolling()
                    .says("As tls.client_ca_file, for this address."),
            draft("listen[].tls.client_revocation_file", ValueType.PATH)
                    .rolling()
                    .says("As tls.client_revocation_file, for this address."),
            draft("listen[].tls.hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .rolling()
                    .says("As tls.hsts.max_age, for this address."),
            draft("listen[].tls.hsts.include_subdomains", ValueType.BOOLEAN)
                    .rolling()
                    .says("As tls.hsts.include_subdomains, for this address."),
            draft("listen[].tls.hsts.preload", ValueType.BOOLEAN)
                    .rolling()
                    .says("As tls.hsts.preload, for this address."));

    /** For the names of the certificates of one element. */
    public static final Section NAME = new Section(
            draft("tls.certificates[].min_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .says("As tls.min_version, for these names."),
            draft("tls.certificates[].max_version", ValueType.TLS_VERSION)
                    .within(TlsVersion.TLS_1_2, TlsVersion.TLS_1_3)
                    .says("As tls.max_version, for these names."),
            draft("tls.certificates[].ciphers", ValueType.NAMES).says("As tls.ciphers, for these names."),
            draft("tls.certificates[].groups", ValueType.NAMES).says("As tls.groups, for these names."),
            draft("tls.certificates[].client_certificates", ValueType.word(ClientCertificates.class, false))
                    .says("As tls.client_certificates, for these names."),
            draft("tls.certificates[].client_ca_file", ValueType.PATH).says("As tls.client_ca_file, for these names."),
            draft("tls.certificates[].client_revocation_file", ValueType.PATH)
                    .says("As tls.client_revocation_file, for these names."),
            draft("tls.certificates[].hsts.max_age", ValueType.DURATION)
                    .within(Duration.ZERO, HSTS_MAX)
                    .says("As tls.hsts.max_age, for these names."),
            draft("tls.certificates[].hsts.include_subdomains", ValueType.BOOLEAN)
                    .says("As tls.hsts.include_subdomains, for these names."),
            draft("tls.certificates[].hsts.preload", ValueType.BOOLEAN).says("As tls.hsts.preload, for these names."));

    private ServerTlsKeys() {}
}
