package io.millrace.proxy.net;

import io.netty.handler.ssl.OpenSsl;

/**
 * Names the TLS library in use: BoringSSL through netty-tcnative where that loads, the JDK's own TLS elsewhere.
 *
 * <p>Immutable.
 */
public final class TlsContexts {
    private TlsContexts() {}

    /** The provider in use, for the start message and the status. */
    public static String provider() {
        return OpenSsl.isAvailable()
                ? OpenSsl.versionString()
                : "JDK " + Runtime.version().feature();
    }
}
