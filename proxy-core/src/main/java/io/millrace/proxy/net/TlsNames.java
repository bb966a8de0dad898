package io.millrace.proxy.net;

import io.millrace.proxy.config.ServerTlsConfig;
import org.jspecify.annotations.Nullable;

/** TLS settings by host name. Thread-safe. */
public interface TlsNames {
    /** Another object, by identity, after each change; null where every name has the settings of the address. */
    @Nullable
    Object version();

    /** Settings of a host, lower case; those that its handshakes get. */
    ServerTlsConfig settings(String host);
}
