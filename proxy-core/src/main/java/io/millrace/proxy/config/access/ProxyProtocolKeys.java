package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.ProxyProtocolVersion;

/** Configuration keys for the PROXY protocol. With this protocol a proxy in front sends the address of the client. */
public final class ProxyProtocolKeys {
    public static final ConfigKey<ListenerConfig.ProxyProtocol> LISTEN = ConfigKey.builder(
                    "listen[].proxy_protocol", ValueType.word(ListenerConfig.ProxyProtocol.class, false))
            .defaultsTo(ListenerConfig.ProxyProtocol.OFF)
            .rolling()
            .atsName("pp, pp-clnt")
            .description("Whether connections from access.proxy_protocol_allow may begin with a PROXY header, version"
                    + " 1 or 2. The source address in the header is then the client's address in logs, filters and"
                    + " X-Forwarded-For. With require, connections without a header are closed.");
    public static final ConfigKey<ProxyProtocolVersion> OUT = ConfigKey.builder(
                    "proxy_protocol_out", ValueType.word(ProxyProtocolVersion.class, true))
            .defaultsTo(ProxyProtocolVersion.NONE)
            .perRule()
            .atsName("proxy.config.http.proxy_protocol_out")
            .description(
                    "Version of the PROXY header with the client's address that begins each connection to an origin;"
                            + " each request then has a connection of its own.");
    public static final ConfigKey<AddressSet> ALLOW = ConfigKey.builder(
                    "access.proxy_protocol_allow", ValueType.ADDRESSES)
            .atsName("proxy.config.http.proxy_protocol_allowlist")
            .description("Senders whose PROXY headers are accepted; connections of others that send one are closed.");
    public static final ConfigKey<Long> HEADER_MAX = ConfigKey.builder("limits.proxy_protocol_header", ValueType.SIZE)
            .within(128L, 64L * 1024)
            .defaultsTo(4096L)
            .atsName("proxy.config.proxy_protocol.max_header_size")
            .description("Longest PROXY header of version 2; those of version 1 have at most 107 bytes. A longer header"
                    + " closes the connection, and so does a header that does not arrive within"
                    + " timeouts.client_header.");

    private ProxyProtocolKeys() {}
}
