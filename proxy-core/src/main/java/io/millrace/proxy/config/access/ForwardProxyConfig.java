package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the forward proxy: which clients may reach which hosts that no rule maps. Immutable.
 *
 * @param enabled whether requests are forwarded without a rule
 * @param allow addresses of permitted clients
 * @param connectPorts permitted ports of CONNECT
 * @param denied destination addresses that are refused
 * @param allowed destination addresses that are permitted although {@code denied} contains them
 * @param origins name of a group of proxies to which requests are sent; null to send them to the requested host
 */
public record ForwardProxyConfig(
        boolean enabled,
        AddressSet allow,
        List<Integer> connectPorts,
        AddressSet denied,
        AddressSet allowed,
        @Nullable String origins) {
    public static ForwardProxyConfig from(ConfigValues values) {
        return new ForwardProxyConfig(
                values.get(ForwardProxyKeys.ENABLED),
                orNone(values.find(ForwardProxyKeys.ALLOW)),
                values.get(ForwardProxyKeys.CONNECT_PORTS).stream()
                        .map(Integer::valueOf)
                        .toList(),
                values.get(ForwardProxyKeys.DENY_DESTINATIONS),
                orNone(values.find(ForwardProxyKeys.ALLOW_DESTINATIONS)),
                values.find(ForwardProxyKeys.ORIGINS));
    }

    private static AddressSet orNone(@Nullable AddressSet set) {
        return set == null ? AddressSet.NONE : set;
    }
}
