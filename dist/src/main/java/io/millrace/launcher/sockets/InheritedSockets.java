package io.millrace.launcher.sockets;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The listening sockets that systemd has bound and passed to the launcher (sd_listen_fds(3)). The variable {@code
 * LISTEN_FDS} contains the number of descriptors. The first descriptor is 3. If there are fewer sockets than event
 * loops, the loops share a socket. A new connection then wakes all these loops, and the first loop accepts it.
 *
 * <p>Immutable. The caller of {@link #take} owns the sockets in its result.
 */
public final class InheritedSockets {
    static final InheritedSockets NONE = new InheritedSockets(List.of());

    /** First descriptor number, SD_LISTEN_FDS_START. */
    private static final int FIRST_DESCRIPTOR = 3;

    private static final int SOL_SOCKET = 1;
    private static final int SO_ACCEPTCONN = 30;

    /** Flag of open(2), in the flags line of fdinfo. */
    private static final int O_NONBLOCK = 04000;

    /** Socket option with the address family (socket(7)), and the family of Unix sockets. */
    private static final int SO_DOMAIN = 39;

    private static final int AF_UNIX = 1;

    private record Inherited(Socket socket, SocketAddress address) {
        String text() {
            return address instanceof InetSocketAddress ip
                    ? ListeningSockets.text(ip)
                    : ListenAddress.UNIX + ((DomainSocketAddress) address).path();
        }
    }

    private final List<Inherited> sockets;

    private InheritedSockets(List<Inherited> sockets) {
        this.sockets = List.copyOf(sockets);
    }

    /**
     * Returns the sockets that {@code environment} declares for the process {@code pid}.
     *
     * @throws LaunchException if a descriptor is not a listening TCP or Unix socket, or is in blocking mode
     */
    public static InheritedSockets of(Map<String, String> environment, long pid) throws LaunchException {
        String count = environment.getOrDefault("LISTEN_FDS", "");
        if (count.isEmpty() || !environment.getOrDefault("LISTEN_PID", "").equals(Long.toString(pid))) {
            return NONE;
        }
        List<Socket> passed = new ArrayList<>();
        int last = FIRST_DESCRIPTOR + number(count);
        for (int descriptor = FIRST_DESCRIPTOR; descriptor < last; descriptor++) {
            passed.add(new Socket(descriptor));
        }
        return of(passed);
    }

    /**
     * Wraps descriptors of listening sockets.
     *
     * @throws LaunchException if one of {@code passed} is not a listening TCP or Unix socket, or is in blocking mode
     */
    public static InheritedSockets of(List<Socket> passed) throws LaunchException {
        List<Inherited> sockets = new ArrayList<>();
        for (Socket socket : passed) {
            sockets.add(listening(socket));
        }
        return new InheritedSockets(sockets);
    }

    /** Returns true if there are no sockets. */
    public boolean isEmpty() {
        return sockets.isEmpty();
    }

    private static int number(String count) throws LaunchException {
        try {
            return Integer.parseInt(count);
        } catch (NumberFormatException e) {
            throw new LaunchException("LISTEN_FDS=" + count + " is not a number");
        }
    }

    private static Inherited listening(Socket socket) throws LaunchException {
        int descriptor = socket.intValue();
        String name = "descriptor " + descriptor + " of the service manager (LISTEN_FDS)";
        try {
            @Nullable
            SocketAddress address = socket.getIntOpt(SOL_SOCKET, SO_DOMAIN) == AF_UNIX
                    ? socket.localDomainSocketAddress()
                    : socket.localAddress();
            if (address == null || socket.getIntOpt(SOL_SOCKET, SO_ACCEPTCONN) == 0) {
                throw new LaunchException(name + " is not a listening TCP or Unix socket");
            }
            Inherited found = new Inherited(socket, address);
            if ((flags(descriptor) & O_NONBLOCK) == 0) {
                throw new LaunchException(
                        name + ", " + found.text() + ", is in blocking mode: set NonBlocking=yes in the service unit");
            }
            return found;
        } catch (IOException e) {
            throw new LaunchException(name + " is not a listening TCP or Unix socket: " + e.getMessage());
        }
    }

    private static int flags(int descriptor) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(descriptor)))) {
            if (line.startsWith("flags:")) {
                return Integer.parseInt(line.substring("flags:".length()).strip(), 8);
            }
        }
        throw new IOException("fdinfo contains no flags");
    }

    /**
     * Adds the inherited sockets to {@code adopted}, and returns the result. Closes inherited sockets for addresses in
     * {@code adopted}: an earlier worker has returned the same sockets.
     *
     * @param addresses the socket address for each configured address
     * @param perAddress number of event loops that accept at each address
     * @param adopted sockets that an adopted worker has returned
     * @throws LaunchException if a socket is bound to none of these addresses, because its clients would not be served
     */
    public Map<ListenerSockets, List<FileDescriptor>> take(
            Map<String, ? extends SocketAddress> addresses,
            int perAddress,
            Map<ListenerSockets, List<FileDescriptor>> adopted)
            throws LaunchException {
        Map<String, List<FileDescriptor>> passed = new LinkedHashMap<>();
        for (Inherited inherited : sockets) {
            passed.computeIfAbsent(addressFor(inherited, addresses), name -> new ArrayList<>())
                    .add(inherited.socket());
        }
        Map<ListenerSockets, List<FileDescriptor>> all = new LinkedHashMap<>(adopted);
        addresses.forEach((name, address) -> {
            List<FileDescriptor> descriptors = passed.getOrDefault(name, List.of());
            if (adopted.keySet().stream()
                    .anyMatch(listener -> listener.address().equals(name))) {
                ListeningSockets.closeAll(descriptors);
            } else if (!descriptors.isEmpty()) {
                int count = Math.max(perAddress, descriptors.size());
                String bound = address instanceof InetSocketAddress ip ? ListeningSockets.text(ip) : name;
                all.put(new ListenerSockets(name, bound, count), descriptors);
            }
        });
        return all;
    }

    /**
     * Returns the configured addresses whose sockets the service manager owns.
     *
     * @throws LaunchException if a socket is bound to none of {@code addresses}
     */
    public Set<String> names(Map<String, ? extends SocketAddress> addresses) throws LaunchException {
        Set<String> names = new HashSet<>();
        for (Inherited inherited : sockets) {
            names.add(addressFor(inherited, addresses));
        }
        return names;
    }

    /**
     * Returns the configured address that matches a socket best. A socket belongs to one address only: if it belonged
     * to two, removing one of them would close the socket for both.
     */
    private static String addressFor(Inherited inherited, Map<String, ? extends SocketAddress> addresses)
            throws LaunchException {
        return addresses.entrySet().stream()
                .filter(address -> matches(inherited, address.getValue()))
                .min(Comparator.comparingInt(address -> distance(inherited, address)))
                .map(Map.Entry::getKey)
                .orElseThrow(() -> new LaunchException("the service manager passed a socket for "
                        + inherited.text() + ", but listen has only "
                        + String.join(", ", addresses.keySet())));
    }

    /**
     * Returns how well a configured address matches a socket; 0 is best. The same IP address is better than an address
     * such as {@code :80}, which means all addresses.
     */
    private static int distance(Inherited inherited, Map.Entry<String, ? extends SocketAddress> address) {
        if (address.getKey().startsWith(":")) {
            return 1;
        }
        return address.getValue() instanceof InetSocketAddress at
                        && inherited.address() instanceof InetSocketAddress bound
                        && !at.getAddress().equals(bound.getAddress())
                ? 2
                : 0;
    }

    private static boolean matches(Inherited inherited, SocketAddress configured) {
        if (configured instanceof UnixAddress unix) {
            return inherited.address() instanceof DomainSocketAddress socket
                    && Path.of(socket.path()).normalize().equals(unix.path());
        }
        return inherited.address() instanceof InetSocketAddress bound
                && configured instanceof InetSocketAddress address
                && matches(bound, address);
    }

    private static boolean matches(InetSocketAddress bound, InetSocketAddress address) {
        return bound.getPort() == address.getPort()
                && (bound.getAddress().isAnyLocalAddress()
                        ? address.getAddress().isAnyLocalAddress()
                        : bound.getAddress().equals(address.getAddress()));
    }
}
