package io.millrace.launcher.sockets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.LaunchException;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListeningSocketsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void bindsAGroupToOnePort() throws Exception {
        try (ListeningSockets sockets = ListeningSockets.open(Map.of("127.0.0.1:0", ANY_PORT), 3, Map.of())) {
            assertEquals(3, sockets.descriptors().size());
            assertEquals(3, sockets.listeners().get(0).count());
            connect(port(sockets, 0));
        }
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
                ListeningSockets second = first.with(new TreeMap<>(Map.of("a", ANY_PORT, "b", ANY_PORT)), 2)) {
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

            assertThrows(LaunchException.class, () -> held.with(changed, 1));
            connect(port(held, 0));
        }
    }

    @Test
    void saysThatAnotherAddressHasThePort() throws Exception {
        try (ListeningSockets held = ListeningSockets.open(Map.of("a", ANY_PORT), 2, Map.of())) {
            InetSocketAddress taken = new InetSocketAddress(InetAddress.getLoopbackAddress(), port(held, 0));
            Map<String, InetSocketAddress> changed = new TreeMap<>(Map.of("a", ANY_PORT, "b", taken));

            LaunchException refused = assertThrows(LaunchException.class, () -> held.with(changed, 2));
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

    private static int port(ListeningSockets sockets, int index) {
        String bound = sockets.listeners().get(index).boundAddress();
        return Integer.parseInt(bound.substring(bound.lastIndexOf(':') + 1));
    }

    private static void connect(int port) throws IOException {
        new Socket(InetAddress.getLoopbackAddress(), port).close();
    }
}
