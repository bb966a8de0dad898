package io.millrace.proxy.clients;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ClientLimitsConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import org.jspecify.annotations.Nullable;

/**
 * How much one client may take at the same time. A client is an IPv4 address or the first 64 bits of an IPv6 address. Immutable.
 *
 * @param requests requests in progress; 0 for no limit
 * @param tunnels tunnels; 0 for no limit
 * @param connections connections; 0 for no limit
 * @param exempt addresses that have no limit, those of trusted proxies among them
 */
public record ClientLimits(int requests, int tunnels, int connections, AddressSet exempt) {
    /** What a configuration means. */
    public static ClientLimits of(ProxyConfig config) {
        ClientLimitsConfig limits = config.limits().perClient();
        return new ClientLimits(
                limits.requests(),
                limits.tunnels(),
                limits.connections(),
                limits.exempt().or(config.access().trusted()));
    }

    /** The most of a kind; 0 for no limit. */
    public int of(ClientCounts.Kind kind) {
        return switch (kind) {
            case REQUESTS -> requests;
            case TUNNELS -> tunnels;
            case CONNECTIONS -> connections;
        };
    }

    /** What an address is counted by; null when it has no limit or is not known. */
    public @Nullable IpAddress client(@Nullable IpAddress address) {
        if (address == null || exempt.contains(address)) {
            return null;
        }
        return address.isV4() ? address : new IpAddress(address.high(), 0);
    }
}
