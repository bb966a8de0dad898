package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings and certificates that listening addresses share. Immutable.
 *
 * @param certificates in the order of the file
 * @param defaultName name of the default certificate, in lower case, for clients that send no name; null for the first
 *     certificate
 * @param checkNanos interval of the checks for changed files
 * @param ticketKeysFile file with session ticket keys; null for generated keys
 * @param clientSubjectField request field with the subject of client certificates; null for none
 */
public record TlsConfig(
        List<Certificates> certificates,
        @Nullable String defaultName,
        UnknownName unknownName,
        long checkNanos,
        @Nullable Path ticketKeysFile,
        @Nullable String clientSubjectField) {

    /** The answer to a client that requests a name without a certificate. */
    public enum UnknownName {
        /** The default certificate. */
        DEFAULT,
        /** The TLS alert {@code unrecognized_name} (RFC 6066 section 3). */
        REJECT
    }

    /**
     * A certificate, or all certificates in a directory.
     *
     * @param certificate PEM file; null for a directory
     * @param key PEM file; null if the certificate file contains the key
     * @param names in lower case, each optionally with a leading {@code *.}; empty for the names in the certificate
     * @param settings settings of these names, which override those of the address
     */
    public record Certificates(
            @Nullable Path certificate,
            @Nullable Path key,
            @Nullable Path directory,
            List<String> names,
            NameSettings settings) {
        /** Creates an element without settings for its names. */
        public Certificates(
                @Nullable Path certificate, @Nullable Path key, @Nullable Path directory, List<String> names) {
            this(certificate, key, directory, names, NameSettings.NONE);
        }
    }

    public static TlsConfig from(ConfigValues values) {
        String name = values.find(SharedTlsKeys.DEFAULT_CERTIFICATE);
        return new TlsConfig(
                sources(values),
                name == null ? null : name.toLowerCase(Locale.ROOT),
                values.get(SharedTlsKeys.UNKNOWN_NAME),
                values.get(SharedTlsKeys.CHECK_INTERVAL).toNanos(),
                values.find(SharedTlsKeys.TICKET_KEYS_FILE),
                values.find(SharedTlsKeys.CLIENT_SUBJECT_FIELD));
    }

    /** Returns the certificates of the file in their order, then the directory of the automatically issued ones. */
    private static List<Certificates> sources(ConfigValues values) {
        List<Certificates> sources = new ArrayList<>();
        values.elements(SharedTlsKeys.CERTIFICATES).forEach(element -> sources.add(certificates(element)));
        AcmeConfig acme = AcmeConfig.from(values);
        Path issued = acme == null ? null : acme.certificates();
        if (issued != null) {
            sources.add(new Certificates(null, null, issued, List.of()));
        }
        return List.copyOf(sources);
    }

    private static Certificates certificates(ConfigValues element) {
        List<String> names = element.find(SharedTlsKeys.NAMES);
        return new Certificates(
                element.find(SharedTlsKeys.CERTIFICATE),
                element.find(SharedTlsKeys.KEY),
                element.find(SharedTlsKeys.DIRECTORY),
                names == null
                        ? List.of()
                        : names.stream()
                                .map(each -> each.toLowerCase(Locale.ROOT))
                                .toList(),
                NameSettings.from(element));
    }

    /**
     * TLS settings for the names of some certificates, which override those of the listening address. A null value
     * leaves a setting unchanged. Immutable.
     *
     * @param http2 false if HTTP/2 is not offered
     */
    public record NameSettings(
            @Nullable TlsVersion minVersion,
            @Nullable TlsVersion maxVersion,
            @Nullable List<String> ciphers,
            @Nullable List<String> groups,
            ServerTlsConfig.@Nullable ClientCertificates clientCertificates,
            @Nullable Path caFile,
            @Nullable Path crlFile,
            ServerTlsConfig.@Nullable Hsts hsts,
            @Nullable Boolean ocspStapling,
            boolean http2) {
        /** Settings that override nothing. */
        public static final NameSettings NONE =
                new NameSettings(null, null, null, null, null, null, null, null, null, true);

        public static NameSettings from(ConfigValues element) {
            ServerTlsKeys.Section keys = ServerTlsKeys.NAME;
            NameSettings config = new NameSettings(
                    element.find(keys.minVersion()),
                    element.find(keys.maxVersion()),
                    element.find(keys.ciphers()),
                    element.find(keys.groups()),
                    element.find(keys.clientCertificates()),
                    element.find(keys.caFile()),
                    element.find(keys.crlFile()),
                    ServerTlsConfig.Hsts.from(element, keys),
                    element.find(keys.ocspStapling()),
                    !element.isSet(SharedTlsKeys.NAME_HTTP2) || element.get(SharedTlsKeys.NAME_HTTP2));
            return config.equals(NONE) ? NONE : config;
        }

        /** Returns the settings of an address, overridden by these settings. */
        public ServerTlsConfig applyTo(ServerTlsConfig address) {
            return equals(NONE)
                    ? address
                    : new ServerTlsConfig(
                            minVersion == null ? address.minVersion() : minVersion,
                            maxVersion == null ? address.maxVersion() : maxVersion,
                            ciphers == null ? address.ciphers() : ciphers,
                            groups == null ? address.groups() : groups,
                            clientCertificates == null ? address.clientCertificates() : clientCertificates,
                            caFile == null ? address.caFile() : caFile,
                            // The revocation lists of other authorities do not apply to these authorities.
                            crlFile == null && caFile != null ? null : crlFile == null ? address.crlFile() : crlFile,
                            hsts == null ? address.hsts() : hsts,
                            ocspStapling == null ? address.ocspStapling() : ocspStapling);
        }

        /** Returns the settings for display, each formatted as in the file. The result is empty if there are none. */
        public List<String> texts() {
            List<String> texts = new ArrayList<>();
            add(texts, "min_version", minVersion == null ? null : minVersion.text());
            add(texts, "max_version", maxVersion == null ? null : maxVersion.text());
            add(texts, "ciphers", ciphers);
            add(texts, "groups", groups);
            add(
                    texts,
                    "client_certificates",
                    clientCertificates == null
                            ? null
                            : clientCertificates.name().toLowerCase(Locale.ROOT));
            add(texts, "client_ca_file", caFile);
            add(texts, "client_revocation_file", crlFile);
            add(texts, "hsts", hsts == null ? null : hsts.value());
            add(texts, "ocsp_stapling", ocspStapling);
            add(texts, "http2", http2 ? null : "false");
            return texts;
        }

        private static void add(List<String> texts, String name, @Nullable Object value) {
            if (value != null) {
                texts.add(name + ": " + value);
            }
        }
    }
}
