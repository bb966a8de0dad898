package io.millrace.launcher.sockets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sockets of this process are used in place of sockets of a service manager. */
class InheritedSocketsTest {
    private static final int LOOPS = 3;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_V6ONLY = 26;

    /** A socket factory for one address family, instead of Netty's for both. */
    private static final class OfFamily extends Socket {
        OfFamily(SocketProtocolFamily family) {
            super(newSocketStream0(family));
        }
    }

    private final List<FileDescriptor> made = new ArrayList<>();
    private int port;

    @BeforeAll
    static void loadNativeSockets() {
        Epoll.ensureAvailability();
        assumeTrue(Socket.isIPv6Preferred(), "this machine has no IPv6");
    }

    @AfterEach
    void close() {
        ListeningSockets.closeAll(made);
    }

    /** Returns sockets on a port that the system chooses for the first of them. */
    private Socket listening(SocketProtocolFamily family, String ip, boolean onlyIpv6) throws IOException {
        Socket socket = new OfFamily(family);
        made.add(socket);
        if (onlyIpv6) {
            socket.setIntOpt(IPPROTO_IPV6, IPV6_V6ONLY, 1);
        }
        socket.bind(new InetSocketAddress(InetAddress.getByName(ip), port));
        socket.listen(16);
        port = socket.localAddress().getPort();
        return socket;
    }

    private Map<String, InetSocketAddress> listen(String... ips) throws IOException {
        Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
        for (String ip : ips) {
            InetSocketAddress address =
                    ip.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(InetAddress.getByName(ip), port);
            addresses.put((ip.indexOf(':') >= 0 ? "[" + ip + "]" : ip) + ":" + port, address);
        }
        return addresses;
    }

    private Map<String, List<FileDescriptor>> taken(List<Socket> passed, String... ips) throws Exception {
        Map<String, List<FileDescriptor>> taken = new LinkedHashMap<>();
        InheritedSockets.of(passed)
                .take(listen(ips), LOOPS, Map.of())
                .forEach((listener, sockets) -> taken.put(listener.address(), sockets));
        return taken;
    }

    @Test
    void oneSocketForEveryAddressIsGivenToOneOfTwoNamesOfIt() throws Exception {
        Socket both = listening(SocketProtocolFamily.INET6, "::", false);

        assertEquals(Map.of("[::]:" + port, List.of(both)), taken(List.of(both), "", "::"));
        assertEquals(Map.of(":" + port, List.of(both)), taken(List.of(both), "0.0.0.0", ""));
        LaunchException refused = assertThrows(
                LaunchException.class,
                () -> ListeningSockets.open(
                        listen("", "::"),
                        LOOPS,
                        InheritedSockets.of(List.of(both)).take(listen("", "::"), LOOPS, Map.of())));
        assertTrue(refused.getMessage().endsWith("another address in listen uses the same port"), refused::getMessage);
    }

    @Test
    void socketsOfBothFamiliesGoToTheirOwnAddresses() throws Exception {
        Socket four = listening(SocketProtocolFamily.INET, "0.0.0.0", false);
        Socket six = listening(SocketProtocolFamily.INET6, "::", true);

        assertEquals(
                Map.of("0.0.0.0:" + port, List.of(four), "[::]:" + port, List.of(six)),
                taken(List.of(six, four), "0.0.0.0", "::"));
        assertEquals(Map.of(":" + port, List.of(six, four)), taken(List.of(six, four), ""));
    }

    @Test
    void aUnixSocketGoesToItsPath(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("http.sock");
        String name = "unix:" + path;
        UnixAddress address = new UnixAddress(path, 0600, null);
        Socket passed = address.bind(16);
        made.add(passed);
        InheritedSockets inherited = InheritedSockets.of(List.of(passed));
        assertEquals(
                Map.of(new ListenerSockets(name, name, LOOPS), List.of(passed)),
                inherited.take(Map.of(name, address), LOOPS, Map.of()));
        assertEquals(Set.of(name), inherited.names(Map.of(name, address)));
        LaunchException refused = assertThrows(
                LaunchException.class, () -> inherited.take(Map.of(":80", new InetSocketAddress(80)), LOOPS, Map.of()));
        assertTrue(refused.getMessage().contains("a socket for " + name), refused::getMessage);
    }

    @Test
    void socketsReturnedByAnEarlierWorkerAreClosed() throws Exception {
        Socket passed = listening(SocketProtocolFamily.INET, "127.0.0.1", false);
        Socket held = listening(SocketProtocolFamily.INET6, "::1", false);
        ListenerSockets listener = new ListenerSockets("127.0.0.1:" + port, "127.0.0.1:" + port, LOOPS);
        Map<ListenerSockets, List<FileDescriptor>> before = Map.of(listener, List.of(held));

        assertEquals(before, InheritedSockets.of(List.of(passed)).take(listen("127.0.0.1"), LOOPS, before));
        assertTrue(held.isOpen() && !passed.isOpen());
    }
}
