package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.warc.WarcReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the file that {@code millctl cache export} writes. */
final class CacheExportTest {
    private static final String HEAD =
            Base64.getEncoder().encodeToString("HTTP/1.1 204 No Content\r\n".getBytes(StandardCharsets.ISO_8859_1));

    @TempDir
    private Path directory;

    private Run export(Path out, String... more) throws IOException {
        Path socket = directory.resolve("admin.sock");
        List<String> answers = List.of(
                ScriptedAdmin.response(200, "{\"name\":\"millrace\",\"version\":\"0.1.0\"}"),
                ScriptedAdmin.response(
                        200,
                        "{\"objects\":[{\"url\":\"http://a.example/x?y\",\"key\":\"aA\",\"whole\":true}],"
                                + "\"next\":null,\"complete\":true}"),
                ScriptedAdmin.response(
                        200,
                        "{\"url\":\"http://a.example/x?y\",\"version\":\"v\",\"length\":0,\"head\":\"" + HEAD
                                + "\",\"varies\":false,\"request_fields\":[],\"requested_at_ms\":1767225600000,"
                                + "\"received_at_ms\":1767225600100,\"now_ms\":1767225700000,\"age_seconds\":100,"
                                + "\"freshness_lifetime_seconds\":600,\"tags\":\"\"}"));
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(), directory, directory, null, false, new ByteArrayInputStream(new byte[0]));
        List<String> arguments = new ArrayList<>(List.of(
                "cache", "export", "--host", "a.example", "--out", out.toString(), "--admin", socket.toString()));
        arguments.addAll(List.of(more));
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket, answers)) {
            Run run = Run.of(environment, arguments.toArray(String[]::new));
            assertEquals(3, admin.requests().size(), run.toString());
            return run;
        } finally {
            Files.deleteIfExists(socket);
        }
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void onlyTheOwnerReadsTheFileAndPreparedFilesAreNotWritten() throws IOException {
        Path victim = Files.writeString(directory.resolve("victim"), "kept");
        Files.createSymbolicLink(directory.resolve("out.warc.part"), victim);
        Path out = directory.resolve("out.warc");
        Run run = export(out);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("kept", Files.readString(victim));
        assertEquals("rw-------", mode(out));
        assertEquals(List.of("out.warc", "out.warc.part", "victim"), names());
    }

    @Test
    void aRequestIsWrittenInFrontOfEveryResponse() throws IOException {
        Path out = directory.resolve("out.warc");
        export(out);
        try (WarcReader warc = new WarcReader(Files.newInputStream(out))) {
            assertEquals("warcinfo", next(warc).field("warc-type"));
            WarcReader.Head request = next(warc);
            assertEquals("request", request.field("warc-type"));
            String text = new String(warc.readFully(1000), StandardCharsets.ISO_8859_1);
            assertEquals("GET /x?y HTTP/1.1\r\nHost: a.example\r\n\r\n", text);
            WarcReader.Head response = next(warc);
            assertEquals("response", response.field("warc-type"));
            assertEquals(request.field("warc-record-id"), response.field("warc-concurrent-to"));
            assertEquals(response.field("warc-record-id"), request.field("warc-concurrent-to"));
        }
    }

    private static WarcReader.Head next(WarcReader warc) throws IOException {
        return Objects.requireNonNull(warc.next());
    }

    @Test
    void forceReplacesALinkAndNotItsTarget() throws IOException {
        Path victim = Files.writeString(directory.resolve("victim"), "kept");
        Path out = Files.createSymbolicLink(directory.resolve("out.warc"), victim);
        Run run = export(out, "--force");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("kept", Files.readString(victim));
        assertFalse(Files.isSymbolicLink(out));
        assertTrue(Files.size(out) > 0);
    }
}
