package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.util.List;

/** Configuration keys for TLS with origins: general, per rule, per origin group, and for copies. */
public final class OriginTlsKeys {
    /** The keys of a section {@code tls}. Immutable. */
    public record Section(
            ConfigKey<OriginTlsConfig.Verify> verify,
            ConfigKey<Path> caFile,
            ConfigKey<Path> certificate,
            ConfigKey<Path> key,
            ConfigKey<OriginTlsConfig.Sni> sni,
            ConfigKey<String> name,
            ConfigKey<TlsVersion> minVersion) {
        public List<ConfigKey<?>> all() {
            return List.of(verify, caFile, certificate, key, sni, name, minVersion);
        }
    }

    public static final Section GENERAL = new Section(
            ConfigKey.builder("origin.tls.verify", ValueType.word(OriginTlsConfig.Verify.class, false))
                    .defaultsTo(OriginTlsConfig.Verify.ON)
                    .perRule()
                    .atsName(
                            "proxy.config.ssl.client.verify.server.policy, proxy.config.ssl.client.verify.server.properties")
                    .description(
                            "How certificates of origins are verified: on (chain and name), off, name (any issuer), chain (any"
                                    + " name), or warn (as on, but a failure is only logged)."),
            ConfigKey.builder("origin.tls.ca_file", ValueType.PATH)
                    .perRule()
                    .atsName("proxy.config.ssl.client.CA.cert.filename")
                    .description(
                            "PEM file of the authorities that sign certificates of origins; without it the trust store of"
                                    + " this machine's Java."),
            ConfigKey.builder("origin.tls.certificate", ValueType.PATH)
                    .perRule()
                    .atsName("proxy.config.ssl.client.cert.filename")
                    .description("PEM file with the client certificate for origins, and its issuers; it may contain the"
                            + " key too."),
            ConfigKey.builder("origin.tls.key", ValueType.PATH)
                    .perRule()
                    .atsName("proxy.config.ssl.client.private_key.filename")
                    .description(
                            "PEM file with the unencrypted private key of the client certificate; without it the key is in"
                                    + " the file of the certificate."),
            ConfigKey.builder("origin.tls.sni", ValueType.word(OriginTlsConfig.Sni.class, false))
                    .defaultsTo(OriginTlsConfig.Sni.ORIGIN)
                    .perRule()
                    .atsName("proxy.config.ssl.client.sni_policy")
                    .description(
                            "Name in the handshake (SNI) and expected name in the certificate: the origin's host, or"
                                    + " that of the Host field sent to the origin."),
            ConfigKey.builder("origin.tls.name", ValueType.HOST)
                    .perRule()
                    .description(
                            "Fixed name for the handshake (SNI) and expected name in the certificate, instead of the"
                                    + " name that origin.tls.sni selects."),
            ConfigKey.builder("origin.tls.min_version", ValueType.TLS_VERSION)
                    .defaultsTo(TlsVersion.TLS_1_2)
                    .perRule()
                    .atsName("proxy.config.ssl.client.version.min")
                    .description("Oldest version of TLS for connections to origins."));

    public static final Section GROUP = new Section(
            ConfigKey.builder("origins[].tls.verify", ValueType.word(OriginTlsConfig.Verify.class, false))
                    .description(
                            "As origin.tls.verify, for the hosts of the group. A section tls here replaces that of the"
                                    + " rule; its missing keys are taken from origin.tls."),
            ConfigKey.builder("origins[].tls.ca_file", ValueType.PATH)
                    .description("As origin.tls.ca_file, for the hosts of the group."),
            ConfigKey.builder("origins[].tls.certificate", ValueType.PATH)
                    .description("As origin.tls.certificate, for the hosts of the group."),
            ConfigKey.builder("origins[].tls.key", ValueType.PATH)
                    .description("As origin.tls.key, for the certificate of the group."),
            ConfigKey.builder("origins[].tls.sni", ValueType.word(OriginTlsConfig.Sni.class, false))
                    .description("As origin.tls.sni, for the hosts of the group."),
            ConfigKey.builder("origins[].tls.name", ValueType.HOST)
                    .description("As origin.tls.name, for the hosts of the group."),
            ConfigKey.builder("origins[].tls.min_version", ValueType.TLS_VERSION)
                    .description("As origin.tls.min_version, for the hosts of the group."));

    public static final Section MIRROR = new Section(
            ConfigKey.builder("mirror.tls.verify", ValueType.word(OriginTlsConfig.Verify.class, false))
                    .perRule()
                    .description(
                            "As origin.tls.verify, for the origin that gets copies; the default is origin.tls.verify."),
            ConfigKey.builder("mirror.tls.ca_file", ValueType.PATH)
                    .perRule()
                    .description("As origin.tls.ca_file, for the origin that gets copies; the default is"
                            + " origin.tls.ca_file."),
            ConfigKey.builder("mirror.tls.certificate", ValueType.PATH)
                    .perRule()
                    .description(
                            "PEM file with the client certificate for the origin that gets copies. That of origin.tls"
                                    + " is never presented to it."),
            ConfigKey.builder("mirror.tls.key", ValueType.PATH)
                    .perRule()
                    .description(
                            "PEM file with the key of mirror.tls.certificate; without it the key is in the file of the"
                                    + " certificate."),
            ConfigKey.builder("mirror.tls.sni", ValueType.word(OriginTlsConfig.Sni.class, false))
                    .defaultsTo(OriginTlsConfig.Sni.ORIGIN)
                    .perRule()
                    .description("As origin.tls.sni: the host of mirror.to, or that of the Host field of copies."),
            ConfigKey.builder("mirror.tls.name", ValueType.HOST)
                    .perRule()
                    .description(
                            "As origin.tls.name, for the origin that gets copies. That of origin.tls has no effect on"
                                    + " copies."),
            ConfigKey.builder("mirror.tls.min_version", ValueType.TLS_VERSION)
                    .perRule()
                    .description("As origin.tls.min_version, for the origin that gets copies; the default is"
                            + " origin.tls.min_version."));

    private OriginTlsKeys() {}
}
