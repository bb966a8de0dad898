package io.millrace.proxy.clients;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ClientLimitsConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import org.jspecify.annotations.Nullable;

/**
 * The limits of concurrent use per client. A client is an IPv4 address, or the first 64 bits of an IPv6 address.
 * Immutable.
 *
 * @param requests limit of requests in progress; 0 for none
 * @param tunnels limit of tunnels; 0 for none
 * @param connections limit of connections; 0 for none
 * @param exempt addresses without limits, including those of trusted proxies
 */
public record ClientLimits(int requests, int tunnels, int connections, AddressSet exempt) {
    /** Returns the limits in a configuration. */
    public static ClientLimits of(ProxyConfig config) {
        ClientLimitsConfig limits = config.limits().perClient();
        return new ClientLimits(
                limits.requests(),
                limits.tunnels(),
                limits.connections(),
                limits.exempt().or(config.access().trusted()));
    }

    /** Returns the limit of a kind; 0 for none. */
    public int of(ClientCounts.Kind kind) {
        return switch (kind) {
            case REQUESTS -> requests;
            case TUNNELS -> tunnels;
            case CONNECTIONS -> connections;
        };
    }

    /** Returns the client to which an address belongs. Returns null if the address is exempt or unknown. */
    public @Nullable IpAddress client(@Nullable IpAddress address) {
        if (address == null || exempt.contains(address)) {
            return null;
        }
        return address.isV4() ? address : new IpAddress(address.high(), 0);
    }
}
