package io.millrace.proxy.net;

import io.millrace.proxy.config.ServerTlsConfig;
import org.jspecify.annotations.Nullable;

/**
 * Results of a client's TLS handshake. Immutable.
 *
 * @param version such as {@code TLSv1.3}
 * @param cipher cipher suite by its IANA name
 * @param serverName name in the client's hello, lower case; null where it has none
 * @param clientSubject distinguished name (RFC 4514) of the verified client certificate in printable ASCII; null without one
 * @param settings that the handshake had
 * @param names settings of other names on the same address; null where there are none
 */
public record ClientTls(
        String version,
        String cipher,
        @Nullable String serverName,
        @Nullable String clientSubject,
        ServerTlsConfig settings,
        @Nullable TlsNames names) {}
