package io.millrace.launcher.sockets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListeningSocketsTest {
    private static final int SOL_IP = 0;
    private static final int IP_TRANSPARENT = 19;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void bindsAGroupToOnePort() throws Exception {
        try (ListeningSockets sockets = ListeningSockets.open(Map.of("127.0.0.1:0", ANY_PORT), 3, Map.of())) {
            assertEquals(3, sockets.descriptors().size());
            assertEquals(3, sockets.listeners().get(0).count());
            connect(port(sockets, 0));
        }
    }

    /** The option applies to the sockets that a running worker shares, so that a change needs no new socket. */
    @Test
    void transparencyIsSetAndClearedOnTheSameSockets() throws Exception {
        String name = "127.0.0.1:0";
        try (ListeningSockets sockets = ListeningSockets.open(Map.of(name, ANY_PORT), 2, Map.of())) {
            try {
                sockets.applyTransparency(Map.of(name, Transparency.IN));
            } catch (LaunchException e) {
                assertTrue(e.getMessage().startsWith(name + " cannot be transparent"), e::getMessage);
                assumeTrue(false, e.getMessage());
            }
            assertEquals(List.of(1, 1), transparencies(sockets));
            ListeningSockets again = sockets.with(Map.of(name, ANY_PORT));
            again.applyTransparency(Map.of(name, Transparency.OUT));
            assertEquals(List.of(0, 0), transparencies(sockets));
        }
    }

    private static List<Integer> transparencies(ListeningSockets sockets) throws IOException {
        List<Integer> options = new ArrayList<>();
        for (FileDescriptor each : sockets.descriptors()) {
            options.add(new io.netty.channel.unix.Socket(each.intValue()).getIntOpt(SOL_IP, IP_TRANSPARENT));
        }
        return options;
    }

    @Test
    void refusesAPortThatAnotherProcessSharesWithoutAsking() throws IOException {
        try (ServerSocket taken = new ServerSocket()) {
            taken.setOption(java.net.StandardSocketOptions.SO_REUSEPORT, true);
            taken.bind(ANY_PORT);
            InetSocketAddress address = (InetSocketAddress) taken.getLocalSocketAddress();

            LaunchException refused = assertThrows(
                    LaunchException.class, () -> ListeningSockets.open(Map.of("here", address), 2, Map.of()));
            assertTrue(refused.getMessage().startsWith("here is in use by java (pid "), refused::getMessage);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-13 | ports below 1024 need root or CAP_NET_BIND_SERVICE; start the service of systemd",
                "-13 | sysctl net.ipv4.ip_unprivileged_port_start=1",
                "-98 | find it as root: ss -ltnp 'sport = :1'; stop it, or choose another address with listen",
                "-99 | is not an address of this machine; `ip address` lists them"
            })
    void everyErrorOfABindHasARemedy(int error, String remedy) {
        InetSocketAddress nobodys = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        String message = ListeningSockets.bindFailure(":1", nobodys, new Errors.NativeIoException("bind", error, false))
                .getMessage();
        assertTrue(message.startsWith(":1 "), message);
        assertTrue(message.contains(remedy), message);
    }

    @Test
    void keepsTheSocketsThatAChangeLeavesAlone() throws Exception {
        try (ListeningSockets first = ListeningSockets.open(Map.of("a", ANY_PORT), 2, Map.of());
                ListeningSockets second = first.with(new TreeMap<>(Map.of("a", ANY_PORT, "b", ANY_PORT)))) {
            assertEquals(first.listeners().get(0), second.listeners().get(0));
            int dropped = port(second, 1);
            second.closeExcept(first);

            connect(port(first, 0));
            assertThrows(ConnectException.class, () -> connect(dropped));
            assertTrue(first.descriptors().stream().allMatch(FileDescriptor::isOpen));
        }
    }

    @Test
    void leavesNothingBoundWhenOneAddressFails() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ListeningSockets held = ListeningSockets.open(Map.of("a", ANY_PORT), 1, Map.of())) {
            Map<String, InetSocketAddress> changed =
                    new TreeMap<>(Map.of("a", ANY_PORT, "b", (InetSocketAddress) taken.getLocalSocketAddress()));

            assertThrows(LaunchException.class, () -> held.with(changed));
            connect(port(held, 0));
        }
    }

    @Test
    void saysThatAnotherAddressHasThePort() throws Exception {
        try (ListeningSockets held = ListeningSockets.open(Map.of("a", ANY_PORT), 2, Map.of())) {
            InetSocketAddress taken = new InetSocketAddress(InetAddress.getLoopbackAddress(), port(held, 0));
            Map<String, InetSocketAddress> changed = new TreeMap<>(Map.of("a", ANY_PORT, "b", taken));

            LaunchException refused = assertThrows(LaunchException.class, () -> held.with(changed));
            assertTrue(
                    refused.getMessage().endsWith("another address in listen uses the same port"), refused::getMessage);
        }
    }

    @Test
    void checksAPortWithoutTakingIt() throws Exception {
        InetSocketAddress address;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = (InetSocketAddress) taken.getLocalSocketAddress();
            InetSocketAddress inUse = address;
            assertThrows(LaunchException.class, () -> ListeningSockets.checkFree("here", inUse, 0));
        }
        ListeningSockets.checkFree("here", address, 0);
        try (ServerSocket again = new ServerSocket()) {
            again.bind(address);
            assertTrue(again.isBound());
        }
    }

    @Test
    void aUnixSocketIsOneSocketForAllLoopsAndItsFileFollowsTheConfiguration(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("http.sock");
        String name = "unix:" + path;
        try (ListeningSockets first =
                ListeningSockets.open(Map.of(name, new UnixAddress(path, 0600, null)), 3, Map.of())) {
            assertEquals(3, first.descriptors().size());
            assertEquals(1, Set.copyOf(first.descriptors()).size());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            connect(path);

            LaunchException refused = assertThrows(
                    LaunchException.class,
                    () -> ListeningSockets.open(Map.of(name, new UnixAddress(path, 0600, null)), 3, Map.of()));
            assertTrue(refused.getMessage().contains("is in use by another process"), refused::getMessage);

            ListeningSockets other = first.with(Map.of(name, new UnixAddress(path, 0666, null)));
            assertEquals("rw-rw-rw-", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            first.closeExcept(other);
            connect(path);

            Files.delete(path);
            ListeningSockets again = other.with(Map.of(name, new UnixAddress(path, 0600, null)));
            other.closeExcept(again);
            connect(path);

            ListeningSockets without = again.with(Map.of("a", ANY_PORT));
            assertEquals(3, without.descriptors().size(), "as many as at the start");
            again.closeExcept(without);
            assertFalse(Files.exists(path));
            without.close();
        }
    }

    @Test
    void anAdoptedUnixSocketIsNotBoundAgainAndOneOfTheServiceManagerKeepsItsFile(@TempDir Path directory)
            throws Exception {
        Path path = directory.resolve("http.sock");
        String name = "unix:" + path;
        UnixAddress address = new UnixAddress(path, 0600, null);
        ListenerSockets listener = new ListenerSockets(name, name, 2);
        ListeningSockets adopted =
                ListeningSockets.open(Map.of(name, address), 2, Map.of(listener, List.of(address.bind(16))));
        connect(path);
        adopted.close();
        assertFalse(Files.exists(path));

        ListeningSockets passed = ListeningSockets.open(
                Map.of(name, address), 2, Map.of(listener, List.of(address.bind(16))), Set.of(name));
        passed.close();
        assertTrue(Files.exists(path));
    }

    @Test
    void aDirectoryThatDoesNotExistIsNamed(@TempDir Path directory) {
        Path path = directory.resolve("none/http.sock");
        LaunchException refused = assertThrows(
                LaunchException.class,
                () -> ListeningSockets.open(Map.of("here", new UnixAddress(path, 0600, null)), 1, Map.of()));
        assertTrue(refused.getMessage().endsWith(path.getParent() + " does not exist"), refused::getMessage);
        LaunchException unknown = assertThrows(
                LaunchException.class,
                () -> ListeningSockets.open(
                        Map.of("here", new UnixAddress(directory.resolve("a"), 0600, "no-such-user")), 1, Map.of()));
        assertTrue(unknown.getMessage().contains("has no user or group no-such-user"), unknown::getMessage);
    }

    private static void connect(Path path) throws IOException {
        SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
    }

    private static int port(ListeningSockets sockets, int index) {
        String bound = sockets.listeners().get(index).boundAddress();
        return Integer.parseInt(bound.substring(bound.lastIndexOf(':') + 1));
    }

    private static void connect(int port) throws IOException {
        new Socket(InetAddress.getLoopbackAddress(), port).close();
    }
}
