package io.millrace.proxy.access;

import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where requests may be forwarded to. An address of IPv6 that stands for one of IPv4, since a translator or a tunnel leads there, may go where both may. This
 * proxy's own listening addresses are nobody's destination, whatever else is allowed: requests would go round. Immutable.
 */
public final class Destinations {
    private static final long NAT64 = 0x0064_ff9b_0000_0000L;
    private static final long MAPPED = 0xffff_0000_0000L;

    private final AddressSet denied;
    private final AddressSet allowed;
    private final OwnAddresses own;
    private final Set<Integer> ownPorts;

    /**
     * @param own the addresses of this machine
     * @param ownPorts the ports that this proxy listens on
     */
    Destinations(ForwardProxyConfig config, OwnAddresses own, Set<Integer> ownPorts) {
        denied = config.denied();
        allowed = config.allowed();
        this.own = own;
        this.ownPorts = ownPorts;
    }

    /** Whether a connection may be made. */
    public boolean allow(IpAddress address, int port) {
        IpAddress within = embedded(address);
        return isAllowed(address)
                && (within == null || isAllowed(within))
                && !isOwn(address, port)
                && !(within != null && isOwn(within, port));
    }

    private boolean isAllowed(IpAddress address) {
        return !denied.contains(address) || allowed.contains(address);
    }

    private boolean isOwn(IpAddress address, int port) {
        return ownPorts.contains(port) && (own.contains(address) || isLoopbackOrNone(address));
    }

    /** All of these reach this machine. */
    static boolean isLoopbackOrNone(IpAddress address) {
        return address.isV4()
                ? address.v4() >>> 24 == 127 || address.v4() == 0
                : address.high() == 0 && (address.low() == 0 || address.low() == 1);
    }

    /**
     * The IPv4 address that one of IPv6 stands for: by NAT64 (RFC 6052 s2.1), 6to4 (RFC 3056 s2), Teredo (RFC 4380 s4), as IPv4-translated (RFC 2765
     * s2.1) or IPv4-compatible (RFC 4291 s2.5.5.1); null for none.
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
