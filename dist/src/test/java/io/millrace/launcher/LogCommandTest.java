package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.AccessLog;
import io.millrace.proxy.observe.log.AccessLogConfig;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/** Tests {@code millrace log cat} with files that the access log has written. */
class LogCommandTest {
    private static final String HIT =
            "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://www.example.com/0 - NONE/- text/html\n";

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StringWriter err = new StringWriter();
    private Path file;

    @BeforeEach
    void writeLog() {
        file = directory.resolve("access.blog");
        write(AccessLogFormat.BINARY, 0, 200);
        write(AccessLogFormat.BINARY, 1, 404);
    }

    private void write(AccessLogFormat format, int number, int status) {
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(LogCommandTest.class), Long.MAX_VALUE, () -> 0);
        try (AccessLog log = AccessLog.start(AccessLogConfig.toFile(file, format), faults)) {
            AccessLogRing ring = log.loopRing();
            AccessLogRecord record = ring.claim();
            record.receivedAtMillis(1_700_000_000_123L)
                    .durationNanos(4_900_000)
                    .client(new byte[] {(byte) 192, 0, 2, 7}, 0, 4)
                    .status(status)
                    .sentBytes(464, 1256)
                    .cache(CacheResult.HIT)
                    .fromRam()
                    .text(LogField.METHOD, "GET")
                    .text(LogField.URL, "http://www.example.com/" + number)
                    .text(LogField.CONTENT_TYPE, "text/html; charset=utf-8");
            ring.publish();
        }
    }

    private int run(byte[] input, String... arguments) {
        CommandLine line = LauncherMain.commandLine(
                "none", new ByteArrayInputStream(input), new PrintStream(out, false, StandardCharsets.UTF_8));
        return line.setOut(new PrintWriter(err, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private int cat(String... options) {
        String[] arguments = new String[options.length + 3];
        arguments[0] = "log";
        arguments[1] = "cat";
        System.arraycopy(options, 0, arguments, 2, options.length);
        arguments[options.length + 2] = file.toString();
        return run(new byte[0], arguments);
    }

    private String printed() {
        String text = out.toString(StandardCharsets.UTF_8);
        out.reset();
        return text;
    }

    @Test
    void printsSquidByDefaultAndEachOtherFormat() {
        assertEquals(ExitCode.OK, cat(), err::toString);
        String both = printed();
        assertTrue(both.startsWith(HIT) && both.lines().count() == 2, both);
        assertEquals(ExitCode.OK, cat("--format", "%<chi> %<{Accept}cqh> %<pssc>"), err::toString);
        assertEquals("192.0.2.7 - 200\n192.0.2.7 - 404\n", printed());
        assertEquals(ExitCode.OK, cat("--format", "json"), err::toString);
        assertTrue(printed().contains("\"body_bytes\":1256,"));
    }

    @Test
    void printsTheRequestsOfAnExpression() {
        assertEquals(ExitCode.OK, cat("--where", "status == 200 && duration > 4ms"), err::toString);
        assertEquals(HIT, printed());
    }

    @Test
    void readsCompressedFilesAndStandardInput() throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        assertEquals(ExitCode.OK, run(bytes, "log", "cat", "-"), err::toString);
        assertTrue(printed().startsWith(HIT));
        file = directory.resolve("access.blog.gz");
        try (GZIPOutputStream compressed = new GZIPOutputStream(Files.newOutputStream(file))) {
            compressed.write(bytes);
        }
        assertEquals(ExitCode.OK, cat(), err::toString);
        assertTrue(printed().startsWith(HIT));
    }

    @Test
    void aDamagedBlockIsAWarningWithItsPositionAndTheExitCode() throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        long intact = Files.size(file);
        write(AccessLogFormat.BINARY, 2, 200);
        bytes[bytes.length - 1] ^= 1;
        byte[] all = Files.readAllBytes(file);
        System.arraycopy(bytes, 0, all, 0, (int) intact);
        Files.write(file, all);
        assertEquals(ExitCode.FAILED, cat());
        assertEquals(
                List.of("/0", "/2"),
                printed().lines().map(LogCommandTest::pathOf).toList());
        assertTrue(
                err.toString().matches("millrace: " + file + ": at byte \\d+: \\d+ bytes are not a valid block\n"),
                err::toString);
    }

    @Test
    void aFileThatCannotBeReadDoesNotStopTheOthers() throws IOException {
        String whole = file.toString();
        Path missing = directory.resolve("missing.blog");
        Path cut = directory.resolve("cut.blog.gz");
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(Files.readAllBytes(file));
        }
        Files.write(cut, Arrays.copyOf(compressed.toByteArray(), compressed.size() - 4));
        assertEquals(ExitCode.FAILED, run(new byte[0], "log", "cat", cut.toString(), whole, missing.toString(), whole));
        assertEquals(
                List.of("/0", "/1", "/0", "/1", "/0", "/1"),
                printed().lines().map(LogCommandTest::pathOf).toList());
        assertTrue(
                err.toString().matches("millrace: " + cut + ": .*\nmillrace: " + missing + ": no such file\n"),
                err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.FAILED, run(new byte[0], "log", "cat", "--fields", missing.toString(), whole));
        assertTrue(printed().startsWith("time time\n"), err::toString);
    }

    private static String pathOf(String line) {
        return line.replaceFirst(".*www.example.com(/\\d+).*", "$1");
    }

    @Test
    void printsTheFieldsOfTheFile() throws Exception {
        file = directory.resolve("few.blog");
        write(AccessLogFormat.binary(List.of("chi", "pssc", "{Accept}cqh")), 0, 200);
        assertEquals(ExitCode.OK, cat("--fields"), err::toString);
        assertEquals("time time\nclient address\nstatus number\n{Accept}cqh text\n", printed());
    }

    @Test
    void wrongArgumentsAreNamed() {
        assertEquals(ExitCode.USAGE, cat("--format", "binary"));
        assertTrue(err.toString().contains("; expected squid, combined, common, json or a template"), err::toString);
        assertEquals(ExitCode.USAGE, cat("--format", "%<nonsense>"));
        assertEquals(ExitCode.USAGE, cat("--where", "stauts == 1"));
        assertEquals(ExitCode.USAGE, cat("--follow", "other.blog"));
        file = directory.resolve("missing.blog");
        assertEquals(ExitCode.FAILED, cat());
        assertEquals(
                List.of(
                        "millrace: --format: 'binary' cannot be printed",
                        "millrace: --format: 'nonsense' at character 1 is not a log field",
                        "millrace: --where: position 1:1: unknown field 'stauts'",
                        "millrace: --follow needs one log that is not compressed",
                        "millrace: " + file + ": no such file"),
                err.toString()
                        .lines()
                        .map(line -> line.replaceFirst(" \\(did.*|; .*", ""))
                        .toList());
    }
}
