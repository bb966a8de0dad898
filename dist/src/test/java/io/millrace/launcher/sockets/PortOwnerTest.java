package io.millrace.launcher.sockets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PortOwnerTest {
    private static final String TABLE = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0
               1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0
               2: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 4713 1 0
            """;

    @TempDir
    Path proc;

    @Test
    void findsListeningSocketsOfThePortOnly() throws IOException {
        Path table = Files.writeString(proc.resolve("tcp"), TABLE);

        assertEquals(Set.of("socket:[4711]"), PortOwner.listeningSockets(table, 8080));
        assertEquals(Set.of(), PortOwner.listeningSockets(table, 80));
    }

    @Test
    void findsTheProcessThatHoldsTheSocket() throws IOException {
        Files.createDirectories(proc.resolve("net"));
        Files.writeString(proc.resolve("net/tcp"), TABLE);
        process(17, "sshd", "socket:[1]");
        process(42, "nginx", "socket:[4711]");

        assertEquals(Optional.of(new PortOwner(42, "nginx")), PortOwner.find(proc, 8080));
        assertEquals(Optional.empty(), PortOwner.find(proc, 8081));
    }

    @Test
    void findsThisProcess() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertEquals(
                    Optional.of(ProcessHandle.current().pid()),
                    PortOwner.find(Path.of("/proc"), socket.getLocalPort()).map(PortOwner::pid));
        }
    }

    private void process(long pid, String command, String link) throws IOException {
        Path process = Files.createDirectories(proc.resolve(Long.toString(pid)));
        Files.writeString(process.resolve("comm"), command + "\n");
        Files.createSymbolicLink(Files.createDirectory(process.resolve("fd")).resolve("3"), Path.of(link));
    }
}
