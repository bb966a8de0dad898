package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.TlsKeys;
import io.millrace.proxy.config.value.ListenAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One address that accepts clients. Immutable.
 *
 * @param proxyProtocol whether connections begin with a PROXY header
 * @param http2 whether clients may speak HTTP/2: by ALPN with TLS, else by prior knowledge
 * @param tls null for plain HTTP
 */
public record ListenerConfig(
        ListenAddress address,
        ProxyProtocol proxyProtocol,
        boolean http2,
        @Nullable Tls tls) {
    /** What becomes of a PROXY header at the start of a connection. */
    public enum ProxyProtocol {
        /** It is no request, and answered as such. */
        OFF,
        /** It tells the client, from those who may say so; connections without one are the client's own. */
        ACCEPT,
        /** As ACCEPT, and connections without one are closed. */
        REQUIRE
    }

    /**
     * Which certificates an address uses: those of {@code tls.certificates} where both files are null.
     *
     * @param certificate PEM, the chain, the server's own first
     * @param key PEM, the private key
     * @param settings versions, ciphers and client certificates
     */
    public record Tls(@Nullable Path certificate, @Nullable Path key, ServerTlsConfig settings) {}

    /** {@code https} where TLS is spoken, else {@code http}: the scheme of the requests that arrive here. */
    public String scheme() {
        return tls == null ? "http" : "https";
    }

    public static ListenerConfig from(ConfigValues element, ConfigValues general) {
        Path certificate = element.find(ConfigKeys.LISTEN_CERTIFICATE);
        Path key = element.find(ConfigKeys.LISTEN_KEY);
        boolean named = certificate != null
                || element.isSet(TlsKeys.LISTEN_ENABLED)
                || ServerTlsKeys.LISTEN.all().stream().anyMatch(element::isSet);
        boolean secure = named && element.get(TlsKeys.LISTEN_ENABLED);
        return new ListenerConfig(
                element.get(ConfigKeys.LISTEN_ADDRESS),
                element.get(ProxyProtocolKeys.LISTEN),
                element.get(secure ? Http2Keys.LISTEN : Http2Keys.LISTEN_CLEAR),
                secure ? new Tls(certificate, key, ServerTlsConfig.from(element, general)) : null);
    }
}
