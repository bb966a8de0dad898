package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;

/**
 * Limits of the concurrent use by one client. Immutable.
 *
 * @param requests requests in progress; 0 for no limit
 * @param tunnels tunnels; 0 for no limit
 * @param connections connections; 0 for no limit
 * @param exempt addresses without a limit, in addition to trusted proxies
 */
public record ClientLimitsConfig(int requests, int tunnels, int connections, AddressSet exempt) {
    static ClientLimitsConfig from(ConfigValues values) {
        return new ClientLimitsConfig(
                values.get(ClientLimitKeys.REQUESTS),
                values.get(ClientLimitKeys.TUNNELS),
                values.get(ClientLimitKeys.CONNECTIONS),
                values.get(ClientLimitKeys.EXEMPT));
    }
}
