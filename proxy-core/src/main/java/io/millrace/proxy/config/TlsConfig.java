package io.millrace.proxy.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Certificates that listening addresses share. Immutable.
 *
 * @param certificates in the order of the file
 * @param defaultName whose certificate clients get that name no host, lower case; null for that of the first one
 * @param checkNanos pause between two looks for changed files
 * @param ticketKeysFile session ticket keys; null for keys that are made
 * @param clientSubjectField request field with the subject of client certificates; null for none
 */
public record TlsConfig(
        List<Certificates> certificates,
        @Nullable String defaultName,
        UnknownName unknownName,
        long checkNanos,
        @Nullable Path ticketKeysFile,
        @Nullable String clientSubjectField) {

    /** Answer to clients that ask for a name without a certificate. */
    public enum UnknownName {
        /** The default certificate. */
        DEFAULT,
        /** The TLS alert {@code unrecognized_name} (RFC 6066 section 3). */
        REJECT
    }

    /**
     * One certificate, or all in a directory.
     *
     * @param certificate PEM file; null for a directory
     * @param key PEM file; null where the key is in the file of the certificate
     * @param names in lower case, of which {@code *.} may begin one; empty for those in the certificate
     * @param settings of these names, over those of the address
     */
    public record Certificates(
            @Nullable Path certificate,
            @Nullable Path key,
            @Nullable Path directory,
            List<String> names,
            NameTlsConfig settings) {
        /** Without settings of its own. */
        public Certificates(
                @Nullable Path certificate, @Nullable Path key, @Nullable Path directory, List<String> names) {
            this(certificate, key, directory, names, NameTlsConfig.NONE);
        }
    }

    static TlsConfig from(ConfigValues values) {
        String name = values.find(TlsKeys.DEFAULT_CERTIFICATE);
        return new TlsConfig(
                sources(values),
                name == null ? null : name.toLowerCase(Locale.ROOT),
                values.get(TlsKeys.UNKNOWN_NAME),
                values.get(TlsKeys.CHECK_INTERVAL).toNanos(),
                values.find(TlsKeys.TICKET_KEYS_FILE),
                values.find(TlsKeys.CLIENT_SUBJECT_FIELD));
    }

    /** Those of the file in its order, then those that are issued automatically. */
    private static List<Certificates> sources(ConfigValues values) {
        List<Certificates> sources = new ArrayList<>();
        ProxyConfig.elements(values, TlsKeys.CERTIFICATES).forEach(element -> sources.add(certificates(element)));
        AcmeConfig acme = AcmeConfig.from(values);
        Path issued = acme == null ? null : acme.certificates();
        if (issued != null) {
            sources.add(new Certificates(null, null, issued, List.of()));
        }
        return List.copyOf(sources);
    }

    private static Certificates certificates(ConfigValues element) {
        List<String> names = element.find(TlsKeys.NAMES);
        return new Certificates(
                element.find(TlsKeys.CERTIFICATE),
                element.find(TlsKeys.KEY),
                element.find(TlsKeys.DIRECTORY),
                names == null
                        ? List.of()
                        : names.stream()
                                .map(each -> each.toLowerCase(Locale.ROOT))
                                .toList(),
                NameTlsConfig.from(element));
    }
}
