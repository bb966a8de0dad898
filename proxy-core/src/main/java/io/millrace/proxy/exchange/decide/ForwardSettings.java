package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.ForwardAccess;
import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.fetch.AddressCheck;
import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a configuration means for requests that no rule maps and that go to a host of the client's choice. Immutable. */
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
     * What a configuration means.
     *
     * @param built what this proxy was built by, which says where it listens
     * @param before what held until now; null at the start, when nobody knows what held before
     * @param own the addresses of this machine
     * @param nowMillis the time of day, in epoch milliseconds
     */
    public static ForwardSettings of(
            ProxyConfig config, ProxyConfig built, @Nullable ForwardSettings before, OwnAddresses own, long nowMillis) {
        ForwardProxyConfig now = config.forwardProxy();
        long since = before == null ? nowMillis : before.leadsWhere(now) ? before.sinceMillis : nowMillis + 1;
        return new ForwardSettings(now, ForwardAccess.of(config, built, own), since);
    }

    private boolean leadsWhere(ForwardProxyConfig other) {
        return config.denied().equals(other.denied())
                && config.allowed().equals(other.allowed())
                && Objects.equals(config.origins(), other.origins());
    }

    /** Whether something that was asked for then was asked for where requests may go now. */
    boolean holdsSince(long millis) {
        return millis >= sinceMillis;
    }

    /** Who may, and where to by name and port. */
    ForwardAccess access() {
        return access;
    }

    /** The group of proxies that requests go to; null where they go to the hosts themselves. */
    public @Nullable String origins() {
        return config.origins();
    }

    @Override
    public boolean allows(InetAddress address, int port) {
        return access.destinations().allow(IpAddress.of(address.getAddress()), port);
    }
}
