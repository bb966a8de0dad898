package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.TlsVersion;
import io.netty.util.AsciiString;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
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

    /**
     * A setting in force for some names, for people.
     *
     * @param source section of the configuration that sets it, such as {@code listen[0].tls}; {@code default} for none
     * @param address where it holds; null for every address
     */
    public record InForce(
            String name,
            String value,
            String source,
            @Nullable String address) {}

    /**
     * Every setting in force for the names of a certificate, and where it comes from. Those that the TLS library decides are left out.
     *
     * @param element index in {@code tls.certificates}; no element has it for an automatic certificate
     * @param own certificate of a listening address; null for those that addresses share
     */
    public static List<InForce> inForce(ProxyConfig config, int element, @Nullable Path own) {
        ConfigValues all = config.values();
        List<ConfigValues> elements = ProxyConfig.elements(all, TlsKeys.CERTIFICATES);
        Sourced names = own == null && element < elements.size()
                ? new Sourced(elements.get(element), ServerTlsKeys.NAME, "tls.certificates[" + element + "]")
                : null;
        Map<String, List<InForce>> byName = new LinkedHashMap<>();
        List<ConfigValues> listeners = ProxyConfig.elements(all, ConfigKeys.LISTEN);
        int addresses = 0;
        for (int i = 0; i < listeners.size(); i++) {
            ListenerConfig listener = ListenerConfig.from(listeners.get(i), all);
            ListenerConfig.Tls tls = listener.tls();
            if (tls == null || !Objects.equals(tls.certificate(), own)) {
                continue;
            }
            addresses++;
            Sourced address = new Sourced(listeners.get(i), ServerTlsKeys.LISTEN, "listen[" + i + "].tls");
            List<Sourced> sections = new ArrayList<>();
            if (names != null) {
                sections.add(names);
            }
            sections.add(address);
            sections.add(new Sourced(all, ServerTlsKeys.GENERAL, "tls"));
            for (InForce each : inForce(sections, listener)) {
                byName.computeIfAbsent(each.name(), name -> new ArrayList<>()).add(each);
            }
        }
        List<InForce> settings = new ArrayList<>();
        for (List<InForce> each : byName.values()) {
            InForce first = each.get(0);
            boolean same = each.size() == addresses
                    && each.stream()
                            .allMatch(one -> one.value().equals(first.value())
                                    && one.source().equals(first.source()));
            if (same) {
                settings.add(new InForce(first.name(), first.value(), first.source(), null));
            } else {
                settings.addAll(each);
            }
        }
        return settings;
    }

    /** The settings of one section of the file. */
    private record Sourced(ConfigValues values, ServerTlsKeys.Section keys, String source) {}

    /** @param sections the one that goes before the others first, the general one last */
    private static List<InForce> inForce(List<Sourced> sections, ListenerConfig listener) {
        String address = listener.address().toString();
        List<InForce> settings = new ArrayList<>();
        Sourced general = sections.get(sections.size() - 1);
        Sourced hsts = first(sections, each -> each.values.isSet(each.keys.hstsMaxAge()));
        Sourced authorities = first(sections, each -> each.values.isSet(each.keys.caFile()));
        for (int i = 0; i < general.keys.all().size(); i++) {
            int key = i;
            ConfigKey<?> named = general.keys.all().get(i);
            Sourced from =
                    first(sections, each -> each.values.isSet(each.keys.all().get(key)));
            if (named.path().startsWith("tls.hsts.")) {
                // Sections are not mixed.
                from = hsts != null && hsts.values.isSet(hsts.keys.all().get(key)) ? hsts : null;
            } else if (named.equals(general.keys.crlFile())
                    && authorities != null
                    && from != null
                    && authorities.source.startsWith("tls.certificates")
                    && !from.source.equals(authorities.source)) {
                from = null;
            }
            String name = named.path().substring("tls.".length());
            if (from != null) {
                settings.add(new InForce(
                        name, String.valueOf(from.values.text(from.keys.all().get(key))), from.source, address));
            } else if (named.defaultValue() != null && !name.startsWith("hsts.")) {
                settings.add(new InForce(name, String.valueOf(general.values.text(named)), "default", address));
            }
        }
        settings.add(http2(sections.get(0), listener, address, sections));
        return settings;
    }

    private static InForce http2(Sourced most, ListenerConfig listener, String address, List<Sourced> sections) {
        if (listener.http2() && most.keys.equals(ServerTlsKeys.NAME) && most.values.isSet(TlsKeys.NAME_HTTP2)) {
            return new InForce("http2", String.valueOf(most.values.get(TlsKeys.NAME_HTTP2)), most.source, address);
        }
        Sourced own = sections.get(sections.size() - 2);
        boolean set = own.values.isSet(Http2Keys.LISTEN);
        String source = set ? own.source.substring(0, own.source.indexOf('.')) : "default";
        return new InForce("http2", String.valueOf(listener.http2()), source, address);
    }

    private static @Nullable Sourced first(List<Sourced> sections, Predicate<Sourced> test) {
        return sections.stream().filter(test).findFirst().orElse(null);
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
