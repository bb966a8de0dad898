package io.millrace.proxy.access;

import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** The addresses of this machine as of the last read. They may change while the proxy runs. Thread-safe. */
public final class OwnAddresses {
    private final Supplier<Set<IpAddress>> source;
    private volatile Set<IpAddress> addresses = Set.of();

    /** Uses the addresses of the network interfaces. */
    public OwnAddresses() {
        this(OwnAddresses::ofInterfaces);
    }

    OwnAddresses(Supplier<Set<IpAddress>> source) {
        this.source = source;
    }

    /** Reads the addresses again from the system. Must not run on event loops. */
    public void read() {
        addresses = source.get();
    }

    boolean contains(IpAddress address) {
        return addresses.contains(address);
    }

    private static Set<IpAddress> ofInterfaces() {
        try {
            Set<IpAddress> own = new HashSet<>();
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .map(InetAddress::getAddress)
                    .forEach(bytes -> own.add(IpAddress.of(bytes)));
            return Set.copyOf(own);
        } catch (SocketException e) {
            // A request to this machine itself is then not detected by its address, but the Via field still ends the
            // loop.
            return Set.of();
        }
    }
}
