package io.millrace.proxy.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings for the names of some certificates, over those of the listening address. Immutable; null leaves a setting as it is.
 *
 * @param http2 false where clients are not offered HTTP/2
 */
public record NameTlsConfig(
        @Nullable TlsVersion minVersion,
        @Nullable TlsVersion maxVersion,
        @Nullable List<String> ciphers,
        @Nullable List<String> groups,
        ServerTlsConfig.@Nullable ClientCertificates clientCertificates,
        @Nullable Path caFile,
        @Nullable Path crlFile,
        @Nullable HstsConfig hsts,
        boolean http2) {
    /** Leaves every setting as it is. */
    public static final NameTlsConfig NONE = new NameTlsConfig(null, null, null, null, null, null, null, null, true);

    static NameTlsConfig from(ConfigValues element) {
        ServerTlsKeys.Section keys = ServerTlsKeys.NAME;
        NameTlsConfig config = new NameTlsConfig(
                element.find(keys.minVersion()),
                element.find(keys.maxVersion()),
                element.find(keys.ciphers()),
                element.find(keys.groups()),
                element.find(keys.clientCertificates()),
                element.find(keys.caFile()),
                element.find(keys.crlFile()),
                HstsConfig.from(element, keys),
                !element.isSet(TlsKeys.NAME_HTTP2) || element.get(TlsKeys.NAME_HTTP2));
        return config.equals(NONE) ? NONE : config;
    }

    /** The settings of an address with these over them. */
    public ServerTlsConfig over(ServerTlsConfig address) {
        return equals(NONE)
                ? address
                : new ServerTlsConfig(
                        minVersion == null ? address.minVersion() : minVersion,
                        maxVersion == null ? address.maxVersion() : maxVersion,
                        ciphers == null ? address.ciphers() : ciphers,
                        groups == null ? address.groups() : groups,
                        clientCertificates == null ? address.clientCertificates() : clientCertificates,
                        caFile == null ? address.caFile() : caFile,
                        // Lists of other authorities say nothing of these.
                        crlFile == null && caFile != null ? null : crlFile == null ? address.crlFile() : crlFile,
                        hsts == null ? address.hsts() : hsts);
    }

    /** The settings for people, each as in the file; empty where there are none. */
    public List<String> texts() {
        List<String> texts = new ArrayList<>();
        add(texts, "min_version", minVersion == null ? null : minVersion.text());
        add(texts, "max_version", maxVersion == null ? null : maxVersion.text());
        add(texts, "ciphers", ciphers);
        add(texts, "groups", groups);
        add(
                texts,
                "client_certificates",
                clientCertificates == null ? null : clientCertificates.name().toLowerCase(Locale.ROOT));
        add(texts, "client_ca_file", caFile);
        add(texts, "client_revocation_file", crlFile);
        add(texts, "hsts", hsts == null ? null : hsts.value());
        add(texts, "http2", http2 ? null : "false");
        return texts;
    }

    private static void add(List<String> texts, String name, @Nullable Object value) {
        if (value != null) {
            texts.add(name + ": " + value);
        }
    }
}
