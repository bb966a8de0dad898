package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Keys of {@code tls} that exist once: certificates by name, and settings for all addresses. {@link ServerTlsKeys}
 * has the keys that each listening address can set.
 */
public final class SharedTlsKeys {
    /** The section that turns TLS on for an address, even if it is empty. */
    public static final String LISTEN_SECTION = "listen[].tls";

    public static final ConfigKey<Boolean> LISTEN_ENABLED = ConfigKey.builder("listen[].tls.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .rolling()
            .description("Whether the address uses TLS; by default it does if it has a section tls.");
    public static final ConfigKey<List<ConfigValues>> CERTIFICATES = ConfigKey.builder(
                    "tls.certificates", ValueType.LIST)
            .atsName("ssl_multicert.config")
            .description(
                    "Certificates by name (SNI) for every address with tls and without a certificate of its own: files"
                            + " or directories. Changed files are used without a reload.");
    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder(
                    "tls.certificates[].certificate", ValueType.PATH)
            .atsName("ssl_cert_name")
            .description("PEM file with the certificate chain, the server's own first; it may hold the key too.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("tls.certificates[].key", ValueType.PATH)
            .atsName("ssl_key_name")
            .description(
                    "PEM file with the unencrypted private key; without it the key is in the file of the certificate.");
    public static final ConfigKey<Path> DIRECTORY = ConfigKey.builder("tls.certificates[].directory", ValueType.PATH)
            .description("Directory with certificates, as lego, certbot and dehydrated write them: NAME.pem or NAME.crt"
                    + " with NAME.key, *.pem with both in one file, or NAME/fullchain.pem with"
                    + " NAME/privkey.pem.");
    public static final ConfigKey<List<String>> NAMES = ConfigKey.builder("tls.certificates[].names", ValueType.NAMES)
            .atsName("dest_fqdn")
            .description("Names that these certificates are used for, such as www.example.com and *.example.com; the"
                    + " default is the names in each certificate.");
    public static final ConfigKey<Boolean> NAME_HTTP2 = ConfigKey.builder("tls.certificates[].http2", ValueType.BOOLEAN)
            .description("Whether clients that request these names are offered HTTP/2; the default is that of"
                    + " listen[].http2. listen[].http2: false turns HTTP/2 off for all names.");
    public static final ConfigKey<String> DEFAULT_CERTIFICATE = ConfigKey.builder(
                    "tls.default_certificate", ValueType.HOST)
            .atsName("dest_ip=*")
            .description(
                    "Name whose certificate is used for clients that name no host, and for unknown_name: default; the"
                            + " default is the name of the first certificate.");
    public static final ConfigKey<TlsConfig.UnknownName> UNKNOWN_NAME = ConfigKey.builder(
                    "tls.unknown_name", ValueType.word(TlsConfig.UnknownName.class, false))
            .defaultsTo(TlsConfig.UnknownName.DEFAULT)
            .description(
                    "Answer to clients that ask for a name without a certificate: the default certificate, or the alert"
                            + " unrecognized_name.");
    public static final ConfigKey<Duration> CHECK_INTERVAL = ConfigKey.builder("tls.check_interval", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(5))
            .description(
                    "Time between checks of certificate files for changes. If a check takes long, the pause becomes"
                            + " longer, up to 10 s.");

    public static final ConfigKey<Path> TICKET_KEYS_FILE = ConfigKey.builder("tls.ticket_keys_file", ValueType.PATH)
            .atsName("proxy.config.ssl.server.ticket_key.filename")
            .description(
                    "File with session ticket keys of 48 bytes each, the newest first, for several machines with the"
                            + " same names. Without it the launcher makes keys and renews them every 12 hours.");
    public static final ConfigKey<String> CLIENT_SUBJECT_FIELD = ConfigKey.builder(
                    "tls.client_subject_field", ValueType.FIELD_NAME)
            .description("Request field that tells origins the subject of a verified client certificate, such as"
                    + " X-Client-Subject; the field is removed from requests of clients.");

    private SharedTlsKeys() {}
}
