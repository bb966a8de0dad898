package io.millrace.proxy.net;

import io.netty.handler.ssl.OpenSsl;

/**
 * The name of the TLS library in use: BoringSSL through netty-tcnative if that loads, else the JDK's own TLS.
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
