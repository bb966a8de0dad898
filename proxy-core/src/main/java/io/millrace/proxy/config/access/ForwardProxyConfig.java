package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who may be forwarded to where, although no rule maps it. Immutable.
 *
 * @param enabled whether anybody is
 * @param allow the clients
 * @param connectPorts the ports that CONNECT may go to
 * @param denied addresses that nothing is forwarded to
 * @param allowed those that may be forwarded to all the same
 * @param origins the group of proxies that requests go to; null where they go to the hosts themselves
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
