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
 * @param ciphers cipher suites of TLS 1.2 in order of preference; empty for those of the library
 * @param groups key exchange groups in order of preference; empty for those of the library
 * @param caFile PEM file of the authorities of client certificates; null where none are asked for
 * @param crlFile PEM file of their revocation lists; null for none
 * @param hsts Strict-Transport-Security of responses; null for none
 * @param ocspStapling whether handshakes carry answers of OCSP responders (RFC 6066 section 8)
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
    /** TLS 1.2 and 1.3, as the library has them, without client certificates. */
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
     * Value of Strict-Transport-Security (RFC 6797) in responses over TLS. Immutable.
     *
     * @param maxAgeSeconds how long browsers use https only; 0 makes them forget it
     * @param includeSubdomains whether that holds for subdomains too
     * @param preload whether the host may be in the lists that browsers ship with
     * @param value the field's value
     */
    public record Hsts(long maxAgeSeconds, boolean includeSubdomains, boolean preload, AsciiString value) {
        /** Shortest time that lists of browsers accept (https://hstspreload.org). */
        public static final long PRELOAD_SECONDS = TimeUnit.DAYS.toSeconds(365);

        private static Hsts of(long maxAgeSeconds, boolean includeSubdomains, boolean preload) {
            String value = "max-age=" + maxAgeSeconds
                    + (includeSubdomains ? "; includeSubDomains" : "")
                    + (preload ? "; preload" : "");
            return new Hsts(maxAgeSeconds, includeSubdomains, preload, AsciiString.of(value));
        }

        /** Null where the section has no {@code max_age}. */
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
