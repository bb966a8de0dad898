package io.millrace.proxy.access;

import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The allowed destinations of forwarded requests. Some IPv6 addresses embed the IPv4 address to which a translator or
 * tunnel leads. Such an address is allowed only if both addresses are allowed. The listen addresses of this proxy are
 * never allowed, because requests would loop. Immutable.
 */
public final class Destinations {
    private static final long NAT64 = 0x0064_ff9b_0000_0000L;
    private static final long MAPPED = 0xffff_0000_0000L;

    private final AddressSet denied;
    private final AddressSet allowed;
    private final OwnAddresses ownAddresses;
    private final Set<Integer> ownPorts;

    /**
     * @param ownAddresses the addresses of this machine
     * @param ownPorts the listen ports of this proxy
     */
    Destinations(ForwardProxyConfig config, OwnAddresses ownAddresses, Set<Integer> ownPorts) {
        denied = config.denied();
        allowed = config.allowed();
        this.ownAddresses = ownAddresses;
        this.ownPorts = ownPorts;
    }

    /** Returns true if a connection to the address and port is allowed. */
    public boolean allow(IpAddress address, int port) {
        IpAddress inner = embedded(address);
        return isAllowed(address)
                && (inner == null || isAllowed(inner))
                && !isOwn(address, port)
                && !(inner != null && isOwn(inner, port));
    }

    private boolean isAllowed(IpAddress address) {
        return !denied.contains(address) || allowed.contains(address);
    }

    private boolean isOwn(IpAddress address, int port) {
        return ownPorts.contains(port) && (ownAddresses.contains(address) || isLoopbackOrUnspecified(address));
    }

    /** Returns true if the address is loopback or unspecified. Connections to these addresses reach this machine. */
    static boolean isLoopbackOrUnspecified(IpAddress address) {
        return address.isV4()
                ? address.v4() >>> 24 == 127 || address.v4() == 0
                : address.high() == 0 && (address.low() == 0 || address.low() == 1);
    }

    /**
     * Returns the IPv4 address embedded in an IPv6 address; null for none. The formats are NAT64 (RFC 6052 s2.1), 6to4
     * (RFC 3056 s2), Teredo (RFC 4380 s4), IPv4-translated (RFC 2765 s2.1) and IPv4-compatible (RFC 4291 s2.5.5.1).
     */
    static @Nullable IpAddress embedded(IpAddress address) {
        long high = address.high();
        long low = address.low();
        if (high == NAT64 && low >>> 32 == 0) {
            return v4(low);
        }
        if (high >>> 48 == 0x2002) {
            return v4(high >>> 16);
        }
        if (high >>> 32 == 0x2001_0000L) {
            return v4(~low);
        }
        boolean translated = high == 0 && low >>> 32 == 0xffff_0000L;
        boolean compatible = high == 0 && low >>> 32 == 0;
        return translated || compatible ? v4(low) : null;
    }

    private static IpAddress v4(long bits) {
        return new IpAddress(0, MAPPED | (bits & 0xffff_ffffL));
    }
}
