package io.millrace.proxy.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings of a listening address. Immutable.
 *
 * @param ciphers cipher suites of TLS 1.2 in order of preference; empty for those of the library
 * @param groups key exchange groups in order of preference; empty for those of the library
 * @param caFile PEM file of the authorities of client certificates; null where none are asked for
 * @param crlFile PEM file of their revocation lists; null for none
 * @param hsts Strict-Transport-Security of responses; null for none
 */
public record ServerTlsConfig(
        TlsVersion minVersion,
        TlsVersion maxVersion,
        List<String> ciphers,
        List<String> groups,
        ClientCertificates clientCertificates,
        @Nullable Path caFile,
        @Nullable Path crlFile,
        @Nullable HstsConfig hsts) {
    /** TLS 1.2 and 1.3, as the library has them, without client certificates. */
    public static final ServerTlsConfig DEFAULTS = new ServerTlsConfig(
            TlsVersion.TLS_1_2, TlsVersion.TLS_1_3, List.of(), List.of(), ClientCertificates.OFF, null, null, null);

    /** Whether clients show certificates. */
    public enum ClientCertificates {
        /** They are not asked for one. */
        OFF,
        /** They are asked; one that is shown must be valid. */
        REQUEST,
        /** Connections without a valid one are refused. */
        REQUIRE
    }

    public ServerTlsConfig {
        ciphers = List.copyOf(ciphers);
        groups = List.copyOf(groups);
    }

    /** The settings of an address over the general ones. */
    static ServerTlsConfig from(ConfigValues listener, ConfigValues general) {
        ServerTlsKeys.Section own = ServerTlsKeys.LISTEN;
        ServerTlsKeys.Section all = ServerTlsKeys.GENERAL;
        return new ServerTlsConfig(
                or(listener.find(own.minVersion()), general.get(all.minVersion())),
                or(listener.find(own.maxVersion()), general.get(all.maxVersion())),
                list(listener, own.ciphers(), general, all.ciphers()),
                list(listener, own.groups(), general, all.groups()),
                or(listener.find(own.clientCertificates()), general.get(all.clientCertificates())),
                listener.isSet(own.caFile()) ? listener.find(own.caFile()) : general.find(all.caFile()),
                listener.isSet(own.crlFile()) ? listener.find(own.crlFile()) : general.find(all.crlFile()),
                hsts(listener, general));
    }

    /**
     * Whether a client that was admitted under this policy may ask for a name with another one: only where that one demands
     * nothing that this one has not verified.
     */
    public boolean admitsTo(ServerTlsConfig other) {
        if (other.clientCertificates == ClientCertificates.OFF) {
            return true;
        }
        return (clientCertificates == other.clientCertificates || clientCertificates == ClientCertificates.REQUIRE)
                && Objects.equals(caFile, other.caFile)
                && Objects.equals(crlFile, other.crlFile);
    }

    private static @Nullable HstsConfig hsts(ConfigValues listener, ConfigValues general) {
        HstsConfig own = HstsConfig.from(listener, ServerTlsKeys.LISTEN);
        return own == null ? HstsConfig.from(general, ServerTlsKeys.GENERAL) : own;
    }

    private static <T> T or(@Nullable T own, T general) {
        return own == null ? general : own;
    }

    private static List<String> list(
            ConfigValues listener, ConfigKey<List<String>> own, ConfigValues general, ConfigKey<List<String>> all) {
        List<String> words = listener.isSet(own) ? listener.find(own) : general.find(all);
        return words == null ? List.of() : words;
    }
}
