package io.millrace.proxy.net;

import io.netty.handler.ssl.OpenSsl;

/**
 * Names the TLS library in use: BoringSSL (netty-tcnative) if available, otherwise the JDK's TLS.
 *
 * <p>Immutable.
 */
public final class TlsLibrary {
    private TlsLibrary() {}

    /** Returns the name and version of the library, for the start message and the status page. */
    public static String version() {
        return OpenSsl.isAvailable()
                ? OpenSsl.versionString()
                : "JDK " + Runtime.version().feature();
    }
}
