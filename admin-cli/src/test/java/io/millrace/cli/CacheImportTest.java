package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code millctl cache import} if its temporary files cannot be written. */
final class CacheImportTest {
    /** More than a response may have without a temporary file. */
    private static final int LENGTH = 2 << 20;

    @TempDir
    private Path directory;

    private static String record(String type, String id, String more, String block) {
        return "WARC/1.1\r\nWARC-Type: " + type + "\r\nWARC-Record-ID: " + id + "\r\n" + more
                + "WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/" + id + "\r\n"
                + "Content-Type: application/http; msgtype=" + type + "\r\nContent-Length: " + block.length()
                + "\r\n\r\n" + block + "\r\n\r\n";
    }

    private static String response(String content) {
        return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n" + content;
    }

    @Test
    void onlyTheResponseThatNeedsATemporaryFileIsLeftOut() throws IOException {
        Path file = Files.writeString(
                directory.resolve("in.warc"),
                record("response", "long", "", response("x".repeat(LENGTH)))
                        + record("request", "1", "WARC-Concurrent-To: long\r\n", "GET /long HTTP/1.1\r\n\r\n")
                        + record("response", "short", "", response("x"))
                        + record("request", "2", "WARC-Concurrent-To: short\r\n", "GET /short HTTP/1.1\r\n\r\n"));
        Path socket = directory.resolve("admin.sock");
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(), directory, directory, null, false, new ByteArrayInputStream(new byte[0]));
        List<String> answers =
                List.of(ScriptedAdmin.response(200, "{\"upload\":null,\"stored\":true,\"reason\":null}"));
        String before = System.setProperty(
                "java.io.tmpdir", directory.resolve("missing").toString());
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket, answers)) {
            Run run = Run.of(environment, "cache", "import", file.toString(), "--admin", socket.toString());
            assertTrue(run.out().contains("imported 1 of 2 responses"), run.toString());
            assertTrue(run.out().contains("left out: 1  temporary-file"), run.toString());
            assertTrue(run.err().contains("  " + directory.resolve("missing") + ": no such file"), run.toString());
            assertEquals(0, run.exitCode(), run.toString());
            assertEquals(1, admin.requests().size(), run.toString());
        } finally {
            System.setProperty("java.io.tmpdir", before);
        }
    }
}
