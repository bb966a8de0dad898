package io.millrace.proxy.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One address that accepts clients. Immutable.
 *
 * @param tls null for plain HTTP
 */
public record ListenerConfig(
        ListenAddress address, @Nullable Tls tls) {
    /**
     * Files of one server certificate.
     *
     * @param certificate PEM, the chain, the server's own first
     * @param key PEM, the private key
     */
    public record Tls(Path certificate, Path key) {}

    /** {@code https} where TLS is spoken, else {@code http}: the scheme of the requests that arrive here. */
    public String scheme() {
        return tls == null ? "http" : "https";
    }

    static ListenerConfig from(ConfigValues element) {
        Path certificate = element.find(ConfigKeys.LISTEN_CERTIFICATE);
        Path key = element.find(ConfigKeys.LISTEN_KEY);
        return new ListenerConfig(
                element.get(ConfigKeys.LISTEN_ADDRESS),
                certificate == null || key == null ? null : new Tls(certificate, key));
    }
}
