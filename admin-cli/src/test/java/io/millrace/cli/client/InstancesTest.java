package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.cli.client.Instances.Candidate;
import io.millrace.cli.client.ScriptedAdmin.End;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InstancesTest {
    @TempDir
    private Path directory;

    private Path run() {
        return directory.resolve("run");
    }

    private Path states() {
        return directory.resolve("states");
    }

    private Path state(String port) throws IOException {
        return Files.createDirectories(states().resolve(port)).resolve("admin.sock");
    }

    private Instances find() {
        return Instances.find(run(), states());
    }

    @Test
    void namesBothPlacesWhenNothingIsThere() {
        assertEquals(
                List.of(
                        new Candidate(run().resolve("admin.sock"), SocketState.ABSENT),
                        new Candidate(states().resolve("*/admin.sock"), SocketState.ABSENT)),
                find().checked());
    }

    @Test
    void tellsTheRunningFromTheDead() throws IOException {
        ScriptedAdmin.on(state("8080"), End.CLOSE).close();
        Files.createDirectories(states().resolve("empty"));
        Files.createDirectories(run());
        try (ScriptedAdmin service = ScriptedAdmin.on(run().resolve("admin.sock"), End.CLOSE);
                ScriptedAdmin own = ScriptedAdmin.on(state("9090"), End.CLOSE)) {
            Instances found = find();
            assertEquals(
                    List.of(
                            new Candidate(run().resolve("admin.sock"), SocketState.LISTENING),
                            new Candidate(state("8080"), SocketState.DEAD),
                            new Candidate(state("9090"), SocketState.LISTENING)),
                    found.checked());
            assertEquals(List.of(run().resolve("admin.sock"), state("9090")), found.running());
            assertEquals(List.of(), service.requests());
            assertEquals(List.of(), own.requests());
        }
    }

    /** A launcher with {@code --state} names its socket in a file; the files of killed launchers are ignored. */
    @Test
    void followsThePointersOfRunningLaunchers() throws IOException {
        Path pointers = Files.createDirectories(states().resolve("running"));
        Path elsewhere = Files.createDirectories(directory.resolve("site")).resolve("admin.sock");
        Path dead = directory.resolve("site").resolve("dead.sock");
        ScriptedAdmin.on(dead, End.CLOSE).close();
        Files.writeString(pointers.resolve("a"), dead + "\n");
        Files.writeString(pointers.resolve("b"), "relative.sock");
        Files.writeString(pointers.resolve("c"), "\0");
        Files.createDirectories(pointers.resolve("d"));
        try (ScriptedAdmin own = ScriptedAdmin.on(elsewhere, End.CLOSE);
                ScriptedAdmin usual = ScriptedAdmin.on(state("9090"), End.CLOSE)) {
            Files.writeString(pointers.resolve("e"), elsewhere + "\n");
            Files.writeString(pointers.resolve("f"), state("9090").toString());
            assertEquals(List.of(state("9090"), elsewhere), find().running(), "each of them once");
            assertEquals(3, find().checked().size(), "the dead one is not named");
            assertEquals(0, own.requests().size() + usual.requests().size());
        }
    }

    @Test
    void countsALauncherThatDoesNotAcceptAsRunning() throws IOException {
        Path socket = state("8080");
        List<SocketChannel> waiting = new ArrayList<>();
        try (ServerSocketChannel stuck = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stuck.bind(UnixDomainSocketAddress.of(socket), 1);
            for (int i = 0; i < 16 && SocketState.of(socket) == SocketState.LISTENING; i++) {
                SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                waiting.add(channel);
                channel.configureBlocking(false);
                if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
                    break;
                }
            }
            assertEquals(SocketState.BUSY, SocketState.of(socket));
            assertEquals(List.of(socket), find().running());
        } finally {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    @Test
    void tellsAForbiddenSocketFromADeadOne() throws IOException {
        Path socket = state("8080");
        ScriptedAdmin.on(socket, End.CLOSE).close();
        assertEquals(SocketState.FORBIDDEN, SocketState.afterFailure(socket, new IOException("Permission denied")));
        assertEquals(SocketState.DEAD, SocketState.afterFailure(socket, new IOException("Connection refused")));
    }
}
