package io.millrace.proxy.exchange.settings;

import io.millrace.proxy.access.ForwardAccess;
import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.fetch.AddressCheck;
import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings of the forward proxy, which serves requests whose host the client chooses. Immutable. */
public final class ForwardSettings implements AddressCheck {
    private final ForwardProxyConfig config;
    private final ForwardAccess access;
    private final long sinceMillis;

    private ForwardSettings(ForwardProxyConfig config, ForwardAccess access, long sinceMillis) {
        this.config = config;
        this.access = access;
        this.sinceMillis = sinceMillis;
    }

    /**
     * Creates the settings from a configuration.
     *
     * @param startConfig the configuration at the start of this proxy, with its listen addresses
     * @param before the settings in force until now; null at the start, when earlier settings are unknown
     * @param own the addresses of this machine
     * @param nowMillis the wall-clock time, in epoch milliseconds
     */
    public static ForwardSettings of(
            ProxyConfig config,
            ProxyConfig startConfig,
            @Nullable ForwardSettings before,
            OwnAddresses own,
            long nowMillis) {
        ForwardProxyConfig now = config.forwardProxy();
        long since = before == null ? nowMillis : before.hasSameRoute(now) ? before.sinceMillis : nowMillis + 1;
        return new ForwardSettings(now, ForwardAccess.of(config, startConfig, own), since);
    }

    /** Returns true if requests may go to the same destinations, by the same group of parent proxies. */
    private boolean hasSameRoute(ForwardProxyConfig other) {
        return config.denied().equals(other.denied())
                && config.allowed().equals(other.allowed())
                && Objects.equals(config.origins(), other.origins());
    }

    /** Returns true if the destinations in force now were already in force at that time. */
    public boolean holdsSince(long millis) {
        return millis >= sinceMillis;
    }

    /** The permitted clients, host names and ports. */
    public ForwardAccess access() {
        return access;
    }

    /** The group of parent proxies for requests; null when this proxy connects to the hosts itself. */
    public @Nullable String origins() {
        return config.origins();
    }

    @Override
    public boolean allows(InetAddress address, int port) {
        return access.destinations().allow(IpAddress.of(address.getAddress()), port);
    }
}
