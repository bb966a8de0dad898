package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.TlsVersion;
import io.netty.util.AsciiString;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings of a listening address. Immutable.
 *
 * @param ciphers cipher suites of TLS 1.2 in order of preference; empty for the default of the library
 * @param groups key exchange groups in order of preference; empty for the default of the library
 * @param caFile PEM file with the authorities of client certificates; null if no certificates are requested
 * @param crlFile PEM file with the revocation lists of these authorities; null for none
 * @param hsts Strict-Transport-Security of responses; null for none
 * @param ocspStapling whether handshakes contain OCSP responses (RFC 6066 section 8)
 */
public record ServerTlsConfig(
        TlsVersion minVersion,
        TlsVersion maxVersion,
        List<String> ciphers,
        List<String> groups,
        ClientCertificates clientCertificates,
        @Nullable Path caFile,
        @Nullable Path crlFile,
        @Nullable Hsts hsts,
        boolean ocspStapling) {
    /** TLS 1.2 and 1.3 with the library's defaults, without client certificates. */
    public static final ServerTlsConfig DEFAULTS = new ServerTlsConfig(
            TlsVersion.TLS_1_2,
            TlsVersion.TLS_1_3,
            List.of(),
            List.of(),
            ClientCertificates.OFF,
            null,
            null,
            null,
            true);

    /** The policy for client certificates. */
    public enum ClientCertificates {
        /** No certificate is requested. */
        OFF,
        /** A certificate is requested; if the client sends one, it must be valid. */
        REQUEST,
        /** Connections without a valid certificate are refused. */
        REQUIRE
    }

    public ServerTlsConfig {
        ciphers = List.copyOf(ciphers);
        groups = List.copyOf(groups);
    }

    /** Returns the settings of an address, completed by the general ones. */
    public static ServerTlsConfig from(ConfigValues listener, ConfigValues general) {
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
                hsts(listener, general),
                listener.isSet(own.ocspStapling())
                        ? listener.get(own.ocspStapling())
                        : general.get(all.ocspStapling()));
    }

    /**
     * Returns true if connections with these settings may carry requests for a host with the settings {@code other}.
     * That is so if these settings include every check of client certificates that {@code other} requires.
     */
    public boolean admitsTo(ServerTlsConfig other) {
        if (other.clientCertificates == ClientCertificates.OFF) {
            return true;
        }
        return (clientCertificates == other.clientCertificates || clientCertificates == ClientCertificates.REQUIRE)
                && Objects.equals(caFile, other.caFile)
                && Objects.equals(crlFile, other.crlFile);
    }

    private static @Nullable Hsts hsts(ConfigValues listener, ConfigValues general) {
        Hsts own = Hsts.from(listener, ServerTlsKeys.LISTEN);
        return own == null ? Hsts.from(general, ServerTlsKeys.GENERAL) : own;
    }

    private static <T> T or(@Nullable T own, T general) {
        return own == null ? general : own;
    }

    private static List<String> list(
            ConfigValues listener, ConfigKey<List<String>> own, ConfigValues general, ConfigKey<List<String>> all) {
        List<String> words = listener.isSet(own) ? listener.find(own) : general.find(all);
        return words == null ? List.of() : words;
    }

    /**
     * Strict-Transport-Security of responses over TLS (RFC 6797). Immutable.
     *
     * @param maxAgeSeconds how long browsers use https only; 0 ends the policy
     * @param includeSubdomains whether subdomains are included
     * @param preload whether the host may be in the preload lists of browsers
     * @param value the value of the field
     */
    public record Hsts(long maxAgeSeconds, boolean includeSubdomains, boolean preload, AsciiString value) {
        /** Shortest max-age that the preload lists of browsers accept (https://hstspreload.org). */
        public static final long PRELOAD_SECONDS = TimeUnit.DAYS.toSeconds(365);

        private static Hsts of(long maxAgeSeconds, boolean includeSubdomains, boolean preload) {
            String value = "max-age=" + maxAgeSeconds
                    + (includeSubdomains ? "; includeSubDomains" : "")
                    + (preload ? "; preload" : "");
            return new Hsts(maxAgeSeconds, includeSubdomains, preload, AsciiString.of(value));
        }

        /** Returns null if the section has no {@code max_age}. */
        public static @Nullable Hsts from(ConfigValues values, ServerTlsKeys.Section keys) {
            return !values.isSet(keys.hstsMaxAge())
                    ? null
                    : of(
                            values.get(keys.hstsMaxAge()).toSeconds(),
                            values.isSet(keys.hstsIncludeSubdomains()) && values.get(keys.hstsIncludeSubdomains()),
                            values.isSet(keys.hstsPreload()) && values.get(keys.hstsPreload()));
        }
    }
}
