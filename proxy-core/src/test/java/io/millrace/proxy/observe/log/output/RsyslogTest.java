package io.millrace.proxy.observe.log.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import io.millrace.proxy.observe.log.target.SyslogFacility;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests messages to a real rsyslog, if it is installed ({@code apt install rsyslog rsyslog-openssl}). The properties
 * {@code millrace.test.rsyslogd} and {@code millrace.test.rsyslogd.modules} name another program and its modules.
 */
@Tag("nightly")
class RsyslogTest {
    private static final Path PROGRAM = Path.of(System.getProperty("millrace.test.rsyslogd", "/usr/sbin/rsyslogd"));
    private static final Path MODULES =
            Path.of(System.getProperty("millrace.test.rsyslogd.modules", "/usr/lib/x86_64-linux-gnu/rsyslog"));
    private static final int MESSAGES = 1000;

    @TempDir
    Path directory;

    private Process process;

    @AfterEach
    void stop() {
        if (process != null) {
            process.destroy();
        }
    }

    private static int freeDatagramPort() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            return socket.getLocalPort();
        }
    }

    /** Starts rsyslog with one input. Returns its port. */
    private int start(String protocol) throws IOException, InterruptedException {
        Path portFile = directory.resolve("port");
        List<String> lines = new ArrayList<>();
        int port = 0;
        if (protocol.equals("udp")) {
            port = freeDatagramPort();
            lines.add("module(load=\"imudp\")");
            lines.add("input(type=\"imudp\" port=\"" + port + "\" address=\"127.0.0.1\")");
        } else {
            if (protocol.equals("tls")) {
                lines.add("global(defaultNetstreamDriver=\"ossl\" defaultNetstreamDriverCAFile=\"" + file("ca.pem")
                        + "\" defaultNetstreamDriverCertFile=\"" + file("site.pem")
                        + "\" defaultNetstreamDriverKeyFile=\"" + file("site.key") + "\")");
            }
            lines.add("module(load=\"imtcp\""
                    + (protocol.equals("tls")
                            ? " StreamDriver.Name=\"ossl\" StreamDriver.Mode=\"1\" StreamDriver.AuthMode=\"anon\""
                            : "")
                    + ")");
            lines.add("input(type=\"imtcp\" port=\"0\" address=\"127.0.0.1\" listenPortFileName=\"" + portFile + "\")");
        }
        lines.add("template(name=\"parts\" type=\"string\" string=\"%pri%|%timestamp:::date-rfc3339%|%hostname%"
                + "|%app-name%|%msgid%|%structured-data%|%msg%\\n\")");
        lines.add("action(type=\"omfile\" file=\"" + file("out") + "\" template=\"parts\" flushOnTXEnd=\"on\")");
        Files.write(file("rsyslog.conf"), lines);
        process = new ProcessBuilder(
                        PROGRAM.toString(),
                        "-n",
                        "-f",
                        file("rsyslog.conf").toString(),
                        "-i",
                        file("pid").toString(),
                        "-M",
                        MODULES.toString())
                .redirectErrorStream(true)
                .redirectOutput(file("messages").toFile())
                .start();
        while (port == 0) {
            assertTrue(process.isAlive(), () -> read("messages"));
            String text = read("port");
            port = text.isEmpty() ? 0 : Integer.parseInt(text.strip());
            LockSupport.parkNanos(10_000_000);
        }
        return port;
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    private String read(String name) {
        try {
            return Files.exists(file(name)) ? Files.readString(file(name)) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "tcp", "tls"})
    void rsyslogReadsEveryPartOfAMessage(String protocol) throws Exception {
        assumeTrue(Files.isExecutable(PROGRAM), "SKIPPED: rsyslog is not installed");
        Path caFile = null;
        if (protocol.equals("tls")) {
            assumeTrue(Files.exists(MODULES.resolve("lmnsd_ossl.so")), "SKIPPED: rsyslog-openssl is not installed");
            TestAuthority authority = new TestAuthority("rsyslog");
            Made site = authority.issue("localhost");
            caFile = Files.writeString(file("ca.pem"), authority.rootPem());
            Files.writeString(file("site.pem"), site.chainPem());
            Files.writeString(file("site.key"), site.keyPem());
        }
        String host = protocol.equals("tls") ? "localhost" : "127.0.0.1";
        SyslogConfig config = new SyslogConfig(
                SyslogAddress.parse(protocol + "://" + host + ":" + start(protocol)),
                SyslogFacility.LOCAL0,
                SyslogSeverity.INFO,
                "millrace",
                caFile,
                null,
                null);
        LogOutputConfig log = new LogOutputConfig(
                "remote",
                AccessLogFormat.of("%<cqhm> %<cquc>"),
                null,
                1,
                SampleBy.REQUEST,
                new LogDestination.ToSyslog(config));
        RecordingLogger logger = new RecordingLogger();
        AccessLogs logs = AccessLogs.start(
                List.of(log),
                new FaultLog(logger, Long.MAX_VALUE, () -> 0),
                AccessLogs.ExtensionTargets.NONE,
                System::currentTimeMillis,
                "edge.example");
        AccessLogRing ring = logs.loopRing();
        int sent = 0;
        // A UDP receiver that does not listen yet loses messages, so that the test sends until the first one arrives.
        while (read("out").isEmpty() || sent < MESSAGES) {
            assertTrue(process.isAlive(), () -> read("messages"));
            AccessLogRecord record = ring.claim();
            if (record != null) {
                record.receivedAtMillis(1_700_000_000_123L)
                        .status(503)
                        .text(LogField.METHOD, "GET")
                        .text(LogField.URL, "http://a.example/" + sent++);
                ring.publish();
            }
            LockSupport.parkNanos(sent > MESSAGES ? 1_000_000 : 10_000);
        }
        String last = "http://a.example/" + (sent - 1);
        while (!read("out").contains(last + "\n")) {
            assertTrue(process.isAlive(), () -> read("messages") + logger.lines());
            LockSupport.parkNanos(10_000_000);
        }
        logs.close();
        List<String> lines = Files.readAllLines(file("out"));
        if (!protocol.equals("udp")) {
            assertEquals(sent, lines.size());
        }
        assertEquals(
                "134|2023-11-14T22:13:20.123Z|edge.example|millrace|access|[millrace@32473 log=\"remote\""
                        + " result=\"NONE\" status=\"503\"]|GET " + last,
                lines.get(lines.size() - 1).replace("|134|", "134|").replaceFirst("^.*?134\\|", "134|"));
    }
}
