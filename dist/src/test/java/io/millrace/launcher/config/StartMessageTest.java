package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ListenerSockets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StartMessageTest {
    private static final WorkerStatus EPOLL =
            new WorkerStatus(2, WorkerState.READY, 1, 0, new ControlMessage.Ready("epoll", "BoringSSL", "17.0.15"));

    @Test
    void saysAllOfTheDemoInTenLines() {
        List<String> lines = message(true, true).lines(1, EPOLL, "http://127.0.0.1:4/ui/#code=x");

        assertTrue(lines.size() <= 10, lines::toString);
        String text = String.join("\n", lines);
        for (String part : List.of(
                "listens on :8080",
                "remap    / to http://127.0.0.1:9000/",
                "/var/cache/m (2 GiB)",
                "RAM 64 MiB",
                "/var/log/m/access.log",
                "command line",
                "/run/m/admin.sock",
                "JDK 17.0.15, epoll, TLS BoringSSL; launcher 1, worker 2",
                "curl -si http://localhost:8080/ ",
                "curl -si http://localhost:8080/slow ",
                "Dashboard, one login within 2 minutes: http://127.0.0.1:4/ui/#code=x")) {
            assertTrue(text.contains(part), () -> part + " in\n" + text);
        }
    }

    @Test
    void saysThatRestartsRefuseConnectionsWithoutEpoll() {
        WorkerStatus nio =
                new WorkerStatus(2, WorkerState.READY, 1, 0, new ControlMessage.Ready("nio", "JDK", "17.0.15"));

        assertTrue(String.join("\n", message(false, false).lines(1, nio, null))
                .contains("connections are refused during a restart"));
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "1023, 1023 B", "1024, 1 KiB", "1536, 1.5 KiB", "6318718976, 5.8 GiB", "1073741824, 1 GiB"})
    void writesSizesInTheirLargestUnit(long bytes, String text) {
        assertEquals(text, StartMessage.size(bytes));
    }

    private static StartMessage message(boolean keepsSockets, boolean demo) {
        ProxyConfig config = ProxyConfig.builder()
                .listen(":8080")
                .map("/", "http://127.0.0.1:9000")
                .storage(Path.of("/var/cache/m"), 2L << 30)
                .set("cache.ram_size", "64MiB")
                .set("log.access.path", "/var/log/m/access.log")
                .build();
        return new StartMessage(
                config,
                "command line",
                List.of(new ListenerSockets(":8080", ":8080", 2)),
                Path.of("/run/m/admin.sock"),
                keepsSockets,
                demo);
    }
}
