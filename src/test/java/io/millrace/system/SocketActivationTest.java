package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests listening sockets from a service manager, by sd_listen_fds(3). */
class SocketActivationTest {
    private static final int REQUESTS = 50;

    /** Executes the command after port and mode, with a listening socket as descriptor 3. */
    private static final String MANAGER = """
            import os, socket, sys
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(("127.0.0.1", int(sys.argv[1])))
            made.listen(128)
            made.setblocking(sys.argv[2] == "blocking")
            os.dup2(made.fileno(), 3)
            if made.fileno() == 3:
                os.set_inheritable(3, True)
            os.environ["LISTEN_FDS"] = "1"
            os.environ["LISTEN_PID"] = str(os.getpid())
            os.execv(sys.argv[3], sys.argv[3:])
            """;

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @BeforeAll
    static void plant() throws IOException {
        Files.writeString(nginx.root().resolve("page"), "planted");
    }

    @Tag("nightly")
    @Test
    void oneSocketServesAllLoopsAndOutlivesWorkerAndLauncher() throws Exception {
        int port = PackedProduct.freePort();
        MillraceProcess proxy = product.launch()
                .command(manager(port, "nonblocking"))
                .origin(nginx.url())
                .shortWarmUp()
                .set("worker.event_loops", "3")
                .port(port)
                .start();
        assertServes(port);
        long first = proxy.worker().pid();
        assertTrue(oomScore(first) > oomScore(proxy.pid()), "the kernel should take the worker first");
        proxy.killWorker();
        assertServes(port);
        proxy.awaitWorkerAfter(first);

        long second = proxy.worker().pid();
        proxy.killLauncher();
        assertServes(port);
        MillraceProcess next = product.launch()
                .origin(nginx.url())
                .shortWarmUp()
                .port(port)
                .state(proxy.state())
                .start();
        next.awaitWorkerAfter(second);
        assertServes(port);
    }

    @Test
    void aSocketThatListenDoesNotNameIsRefused() {
        int port = PackedProduct.freePort();
        assertRefused(
                port,
                "nonblocking",
                PackedProduct.freePort(),
                "127.0.0.1:" + port + ", but listen has only 127.0.0.1:");
    }

    @Test
    void aSocketThatBlocksIsRefused() {
        int port = PackedProduct.freePort();
        assertRefused(
                port,
                "blocking",
                port,
                "127.0.0.1:" + port + ", is in blocking mode: set NonBlocking=yes in the service unit");
    }

    @Test
    void workersThatBindForThemselvesHaveNoUseForIt() {
        int port = PackedProduct.freePort();
        assertRefused(port, "nonblocking", port, "the workers bind their own sockets", "--set", "worker.transport=nio");
    }

    private static void assertRefused(int passed, String mode, int listen, String reason, String... more) {
        List<String> line = new ArrayList<>(List.of(manager(passed, mode)));
        Path state = product.newDirectory();
        line.addAll(List.of("run", "--origin", nginx.url(), "--state", state.toString()));
        line.addAll(List.of("--listen", "127.0.0.1:" + listen));
        line.addAll(List.of(more));
        Command refused = Command.run(state, line);
        assertEquals(1, refused.exitCode(), refused::toString);
        assertTrue(refused.err().contains(reason), refused::toString);
    }

    private static String[] manager(int port, String mode) {
        String millrace = product.home().resolve("bin/millrace").toString();
        return new String[] {"python3", "-c", MANAGER, Integer.toString(port), mode, millrace};
    }

    private static int oomScore(long pid) throws IOException {
        return Integer.parseInt(Files.readString(Path.of("/proc", Long.toString(pid), "oom_score_adj"))
                .strip());
    }

    private static void assertServes(int port) throws IOException {
        for (int i = 0; i < REQUESTS; i++) {
            RawResponse response = RawClient.fetch(port, "/page");
            assertEquals("planted", response.text(), response::toString);
        }
    }
}
