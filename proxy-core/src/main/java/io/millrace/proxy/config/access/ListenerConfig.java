package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.ListenAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A listening address for clients. Immutable.
 *
 * @param proxyProtocol whether connections begin with a PROXY header
 * @param transparency whether the address is transparent towards clients, towards origins, or both
 * @param http2 whether clients may use HTTP/2: by ALPN with TLS, else with prior knowledge
 * @param tls null for HTTP without TLS
 * @param socketMode mode of a Unix socket
 * @param socketOwner {@code user}, {@code user:group} or {@code :group} of a Unix socket; null for user and group of
 *     this process
 */
public record ListenerConfig(
        ListenAddress address,
        ProxyProtocol proxyProtocol,
        Transparency transparency,
        boolean http2,
        @Nullable Tls tls,
        FileMode socketMode,
        @Nullable String socketOwner) {
    /** The treatment of a PROXY header at the start of a connection. */
    public enum ProxyProtocol {
        /** The header is treated as an invalid request. */
        OFF,
        /** The header of a trusted sender is used; without a header, the peer is the client. */
        ACCEPT,
        /** Like {@link #ACCEPT}, but connections without a header are closed. */
        REQUIRE
    }

    /** Determines whether an address is transparent towards clients, towards origins, or both. */
    public enum Transparency {
        /** The address is not transparent. */
        OFF(false, false),
        /** The address accepts connections to any destination, which the kernel diverts to it. */
        IN(true, false),
        /** Connections to origins are made from the client's address. */
        OUT(false, true),
        /** Both {@link #IN} and {@link #OUT}. */
        BOTH(true, true);

        private final boolean acceptsDiverted;
        private final boolean spoofsClientAddress;

        Transparency(boolean acceptsDiverted, boolean spoofsClientAddress) {
            this.acceptsDiverted = acceptsDiverted;
            this.spoofsClientAddress = spoofsClientAddress;
        }

        /** Returns true if the address accepts connections to any destination. */
        public boolean acceptsDiverted() {
            return acceptsDiverted;
        }

        /** Returns true if connections to origins are made from the client's address. */
        public boolean spoofsClientAddress() {
            return spoofsClientAddress;
        }
    }

    /**
     * The certificate of an address. If neither file is set, the address uses {@code tls.certificates}.
     *
     * @param certificate PEM file with the chain, the server certificate first
     * @param key PEM file with the private key
     * @param settings versions, ciphers and client certificates
     */
    public record Tls(@Nullable Path certificate, @Nullable Path key, ServerTlsConfig settings) {}

    /** The scheme of requests to this address: {@code https} with TLS, else {@code http}. */
    public String scheme() {
        return tls == null ? "http" : "https";
    }

    public static ListenerConfig from(ConfigValues element, ConfigValues general) {
        Path certificate = element.find(ConfigKeys.LISTEN_CERTIFICATE);
        Path key = element.find(ConfigKeys.LISTEN_KEY);
        boolean hasTlsSettings = certificate != null
                || element.isSet(SharedTlsKeys.LISTEN_ENABLED)
                || ServerTlsKeys.LISTEN.all().stream().anyMatch(element::isSet);
        boolean secure = hasTlsSettings && element.get(SharedTlsKeys.LISTEN_ENABLED);
        return new ListenerConfig(
                element.get(ConfigKeys.LISTEN_ADDRESS),
                element.get(ProxyProtocolKeys.LISTEN),
                element.get(TransparentKeys.LISTEN),
                element.get(secure ? Http2Keys.LISTEN : Http2Keys.LISTEN_CLEAR),
                secure ? new Tls(certificate, key, ServerTlsConfig.from(element, general)) : null,
                element.get(UnixListenKeys.MODE),
                element.find(UnixListenKeys.OWNER));
    }
}
