package io.millrace.launcher.sockets;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.net.TransparentSockets;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening sockets of the launcher. An address has a single socket, or a SO_REUSEPORT group with one socket for
 * each event loop of the worker. A Unix socket is always a single one. Only workers accept connections. Never call
 * shutdown(2) on a socket, because this would end listening in every process that shares it.
 *
 * <p>Immutable, except for {@link #close}.
 */
public final class ListeningSockets implements AutoCloseable {
    /** Limit of waiting connections for each socket. The kernel setting net.core.somaxconn may lower it. */
    private static final int BACKLOG = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(ListeningSockets.class);

    private static final Path PROC = Path.of("/proc");

    private static final int EACCES = -13;
    private static final int EADDRINUSE = -98;
    private static final int EADDRNOTAVAIL = -99;

    /**
     * The sockets of an address.
     *
     * @param file the file of a Unix socket that a launcher has bound; null for other sockets
     */
    private record Group(ListenerSockets listener, List<FileDescriptor> sockets, UnixAddress.@Nullable File file) {}

    /** Number of sockets that an address gets when it is bound. */
    private final int perAddress;

    private final List<Group> groups;

    private ListeningSockets(int perAddress, List<Group> groups) {
        this.perAddress = perAddress;
        this.groups = List.copyOf(groups);
    }

    /**
     * Binds {@code perAddress} sockets for every address that {@code adopted} does not contain. None of the sockets
     * belongs to the service manager.
     */
    public static ListeningSockets open(
            Map<String, ? extends SocketAddress> addresses,
            int perAddress,
            Map<ListenerSockets, List<FileDescriptor>> adopted)
            throws LaunchException {
        return open(addresses, perAddress, adopted, Set.of());
    }

    /**
     * Binds {@code perAddress} sockets for every address that {@code adopted} does not contain.
     *
     * @param addresses the socket address for each configured address
     * @param inherited names of the addresses in {@code adopted} whose sockets the service manager owns
     * @param adopted descriptors by configured address, from a worker of an earlier launcher or from systemd. If an
     *     address has fewer descriptors than its count, event loops share them. This method takes ownership of all
     *     descriptors, and closes those that no address needs
     * @throws LaunchException if an address cannot be bound; the message contains the address and, if known, the
     *     process that uses it
     */
    public static ListeningSockets open(
            Map<String, ? extends SocketAddress> addresses,
            int perAddress,
            Map<ListenerSockets, List<FileDescriptor>> adopted,
            Set<String> inherited)
            throws LaunchException {
        List<Group> existing = new ArrayList<>();
        adopted.forEach((listener, sockets) -> {
            SocketAddress at = addresses.get(listener.address());
            UnixAddress boundByLauncher =
                    at instanceof UnixAddress unix && !inherited.contains(listener.address()) ? unix : null;
            UnixAddress.File file = boundByLauncher == null ? null : boundByLauncher.file();
            if (boundByLauncher != null && file == null) {
                // No client can reach a socket without a file, so it is bound again.
                closeAll(sockets);
            } else {
                existing.add(new Group(listener, List.copyOf(sockets), file));
            }
        });
        ListeningSockets holding = new ListeningSockets(perAddress, existing);
        ListeningSockets opened = holding.with(addresses);
        holding.closeExcept(opened);
        return opened;
    }

    /**
     * Returns sockets for {@code addresses}. Uses the sockets that this object already has for an address. For other
     * addresses, binds as many new sockets for each address as {@link #open} was told. A Unix socket whose file was
     * deleted is bound again. Does not close sockets.
     *
     * @throws LaunchException if an address cannot be bound; the new sockets of this call are closed then
     */
    public ListeningSockets with(Map<String, ? extends SocketAddress> addresses) throws LaunchException {
        List<Group> changed = new ArrayList<>();
        try {
            for (Map.Entry<String, ? extends SocketAddress> address : addresses.entrySet()) {
                @Nullable Group existing = groupOf(address.getKey());
                if (existing == null || isLost(existing)) {
                    changed.add(bindGroup(address.getKey(), address.getValue(), perAddress));
                } else {
                    applyRights(existing, address.getValue());
                    changed.add(existing);
                }
            }
            return new ListeningSockets(perAddress, changed);
        } catch (LaunchException e) {
            new ListeningSockets(perAddress, changed).closeExcept(this);
            throw e;
        }
    }

    /**
     * Sets or clears IP_TRANSPARENT, the option of transparent proxies, on the sockets of each address. All processes
     * share the sockets, so the setting applies to running workers too.
     *
     * @param modes by configured address
     * @throws LaunchException if this process may not set the option
     */
    public void applyTransparency(Map<String, Transparency> modes) throws LaunchException {
        for (Group group : groups) {
            String address = group.listener().address();
            if (!address.startsWith(ListenAddress.UNIX)) {
                try {
                    TransparentSockets.apply(address, modes.getOrDefault(address, Transparency.OFF), group.sockets());
                } catch (IOException e) {
                    throw new LaunchException(String.valueOf(e.getMessage()));
                }
            }
        }
    }

    private @Nullable Group groupOf(String address) {
        for (Group group : groups) {
            if (group.listener().address().equals(address)) {
                return group;
            }
        }
        return null;
    }

    /** Returns true if no client can reach a Unix socket, because its file was deleted. */
    private static boolean isLost(Group group) {
        UnixAddress.File file = group.file();
        return file != null && file.isLost();
    }

    /** Sets mode and owner of a Unix socket that a launcher has bound: its configuration may have changed. */
    private static void applyRights(Group existing, SocketAddress at) throws LaunchException {
        if (existing.file() != null && at instanceof UnixAddress unix) {
            try {
                unix.applyRights();
            } catch (IOException e) {
                throw new LaunchException(String.valueOf(e.getMessage()));
            }
        }
    }

    private static Group bindGroup(String address, SocketAddress at, int count) throws LaunchException {
        Epoll.ensureAvailability();
        return at instanceof UnixAddress unix
                ? bindUnix(address, unix, count)
                : bindTcp(address, (InetSocketAddress) at, count);
    }

    private static Group bindUnix(String address, UnixAddress at, int count) throws LaunchException {
        try {
            Socket socket = at.bind(BACKLOG);
            return new Group(new ListenerSockets(address, address, count), List.of(socket), at.file());
        } catch (IOException e) {
            throw new LaunchException(String.valueOf(e.getMessage()));
        }
    }

    private static Group bindTcp(String address, InetSocketAddress at, int count) throws LaunchException {
        List<FileDescriptor> sockets = new ArrayList<>(count);
        try {
            InetSocketAddress bound = at;
            if (count > 1) {
                // SO_REUSEPORT would permit a port that another process of the same user has bound. Binding without
                // this option first detects such a process.
                try (PlainBind plain = new PlainBind(at)) {
                    bound = withPort(at, plain.port());
                }
            }
            for (int i = 0; i < count; i++) {
                Socket socket = Socket.newSocketStream();
                sockets.add(socket);
                socket.setReuseAddress(true);
                if (count > 1) {
                    socket.setReusePort(true);
                }
                socket.bind(bound);
                socket.listen(BACKLOG);
                bound = withPort(at, socket.localAddress().getPort());
            }
            return new Group(new ListenerSockets(address, text(bound), count), List.copyOf(sockets), null);
        } catch (IOException e) {
            closeAll(sockets);
            throw bindFailure(address, at, e);
        }
    }

    /**
     * Checks that an address can be bound, without keeping it bound. Used if workers bind their own sockets.
     *
     * @param leaving process that may still use the address, because it will exit before a worker binds it; 0 for none
     * @throws LaunchException if the address cannot be bound; the message contains, if known, the process that uses the
     *     address
     */
    public static void checkFree(String address, InetSocketAddress at, long leaving) throws LaunchException {
        try (java.net.Socket probe = new java.net.Socket()) {
            probe.setReuseAddress(true);
            probe.bind(at);
        } catch (IOException e) {
            Optional<PortOwner> owner = PortOwner.find(PROC, at.getPort());
            if (leaving > 0 && owner.map(PortOwner::pid).orElse(leaving) == leaving) {
                return;
            }
            throw owner.map(found -> inUse(address, found))
                    .orElse(new LaunchException(address + " cannot be bound: " + e.getMessage()));
        }
    }

    private static LaunchException inUse(String address, PortOwner owner) {
        boolean isOwn = owner.pid() == ProcessHandle.current().pid();
        return new LaunchException(address + " is in use by " + owner.command() + " (pid " + owner.pid() + ")"
                + (isOwn
                        ? ", which is this launcher: another address in listen uses the same port"
                        : "; stop that process, or choose another address with listen or --listen"));
    }

    /** Converts an error of bind(2) to an exception whose message names the remedy. */
    static LaunchException bindFailure(String address, InetSocketAddress at, IOException cause) {
        int error = cause instanceof Errors.NativeIoException known ? known.expectedErr() : 0;
        if (error == EADDRINUSE) {
            return PortOwner.find(PROC, at.getPort())
                    .map(owner -> inUse(address, owner))
                    .orElse(new LaunchException(
                            address + " is in use by a process of another user; find it as root: ss -ltnp 'sport = :"
                                    + at.getPort() + "'; stop it, or choose another address with listen or --listen"));
        }
        if (error == EACCES) {
            return new LaunchException(
                    address + " cannot be bound by this user: ports below 1024 need root or CAP_NET_BIND_SERVICE;"
                            + " start the service of systemd, choose a port from 1024 on, or permit it to every user:"
                            + " sysctl net.ipv4.ip_unprivileged_port_start=" + at.getPort());
        }
        if (error == EADDRNOTAVAIL) {
            return new LaunchException(
                    address + " is not an address of this machine; `ip address` lists them, and :PORT listens on all");
        }
        return new LaunchException(address + " cannot be bound: " + cause.getMessage());
    }

    /** The listeners in the format that is sent to the worker. The descriptors are in the same order. */
    public List<ListenerSockets> listeners() {
        return groups.stream().map(Group::listener).toList();
    }

    /**
     * All descriptors in the order of {@link #listeners()}, owned by this object. A descriptor that event loops share
     * is repeated, so that each listener has as many descriptors as its count.
     */
    public List<FileDescriptor> descriptors() {
        return groups.stream().flatMap(ListeningSockets::repeatedDescriptors).toList();
    }

    private static Stream<FileDescriptor> repeatedDescriptors(Group group) {
        List<FileDescriptor> sockets = group.sockets();
        return IntStream.range(0, group.listener().count()).mapToObj(i -> sockets.get(i % sockets.size()));
    }

    @Override
    public void close() {
        closeExcept(null);
    }

    /**
     * Closes the sockets that {@code other} does not share. Deletes the files of Unix sockets for addresses that {@code
     * other} does not contain. Idempotent.
     */
    public void closeExcept(@Nullable ListeningSockets other) {
        for (Group group : groups) {
            if (other == null || !other.groups.contains(group)) {
                UnixAddress.File file = group.file();
                if (file != null
                        && (other == null || other.groupOf(group.listener().address()) == null)) {
                    file.delete();
                }
                closeAll(group.sockets());
            }
        }
    }

    /** Closes all descriptors; failures are only logged. */
    public static void closeAll(List<FileDescriptor> descriptors) {
        for (FileDescriptor descriptor : descriptors) {
            try {
                descriptor.close();
            } catch (IOException e) {
                // close(2) frees the descriptor even if it returns an error.
                LOG.debug("an error occurred while a listening socket was closed", e);
            }
        }
    }

    private static InetSocketAddress withPort(InetSocketAddress address, int port) {
        return new InetSocketAddress(address.getAddress(), port);
    }

    static String text(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        if (ip.isAnyLocalAddress()) {
            return ":" + address.getPort();
        }
        String host = ip.getHostAddress();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /** A socket that binds an address without SO_REUSEPORT, and occupies it until it is closed. */
    private static final class PlainBind implements AutoCloseable {
        private final Socket socket = Socket.newSocketStream();

        PlainBind(InetSocketAddress address) throws IOException {
            try {
                socket.setReuseAddress(true);
                socket.bind(address);
            } catch (IOException e) {
                close();
                throw e;
            }
        }

        int port() {
            return socket.localAddress().getPort();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
