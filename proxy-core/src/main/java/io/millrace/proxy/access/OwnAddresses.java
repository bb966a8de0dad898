package io.millrace.proxy.access;

import io.millrace.proxy.http.IpAddress;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** The addresses of this machine, as they were when they were read last: addresses come and go while a proxy runs. Thread-safe. */
public final class OwnAddresses {
    private final Supplier<Set<IpAddress>> machine;
    private volatile Set<IpAddress> addresses = Set.of();

    /** Those of the network's interfaces. */
    public OwnAddresses() {
        this(OwnAddresses::ofInterfaces);
    }

    OwnAddresses(Supplier<Set<IpAddress>> machine) {
        this.machine = machine;
    }

    /** Reads them again. Asks the system; not for event loops. */
    public void read() {
        addresses = machine.get();
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
            // Via still ends a circle.
            return Set.of();
        }
    }
}
