package io.millrace.proxy.exchange;

import io.millrace.proxy.access.ForwardAccess;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.fetch.AddressCheck;
import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;

/** What a configuration means for requests that no rule maps and that go to a host of the client's choice. Immutable. */
public final class ForwardSettings implements AddressCheck {
    private final ForwardAccess access;

    private ForwardSettings(ForwardAccess access) {
        this.access = access;
    }

    static ForwardSettings of(ProxyConfig config) {
        return new ForwardSettings(ForwardAccess.of(config));
    }

    /** Who may, and where to by name and port. */
    ForwardAccess access() {
        return access;
    }

    @Override
    public boolean allows(InetAddress address, int port) {
        return access.destinations().allow(IpAddress.of(address.getAddress()), port);
    }
}
