package io.millrace.proxy.observe.log.target;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests messages to syslog receivers and journald over real sockets. */
class MessageTargetTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("syslog");

    @TempDir
    Path directory;

    private static ByteBuffer lines(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static SyslogConfig config(String address, Path caFile, Path certificate, Path key) throws Exception {
        return new SyslogConfig(
                SyslogAddress.parse(address),
                SyslogFacility.LOCAL0,
                SyslogSeverity.INFO,
                "millrace",
                caFile,
                certificate,
                key);
    }

    private static MessageTarget syslog(String address) throws Exception {
        return MessageTarget.syslog(config(address, null, null, null));
    }

    private static void writeAll(MessageTarget target, ByteBuffer lines) throws IOException {
        while (lines.hasRemaining()) {
            target.write(lines);
        }
    }

    @Test
    void eachLineIsOneDatagramWithoutItsLineFeed() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.udp()) {
            MessageTarget target = syslog(receiver.address());
            target.maintain(0);
            writeAll(target, lines("<134>1 one\n<134>1 two\n"));
            assertEquals("<134>1 one", receiver.next());
            assertEquals("<134>1 two", receiver.next());
            target.close();
        }
    }

    @Test
    void aLongMessageIsCutAtTheLimit() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.udp()) {
            MessageTarget target = syslog(receiver.address());
            target.maintain(0);
            writeAll(target, lines("x".repeat(20_000) + "\nend\n"));
            assertEquals("x".repeat(MessageTarget.SYSLOG_BYTES_MAX), receiver.next());
            assertEquals("end", receiver.next());
            target.close();
        }
    }

    @Test
    void aPortWithoutReceiverIsReportedByUdpToo() throws Exception {
        int port;
        try (FakeSyslog receiver = FakeSyslog.udp()) {
            port = receiver.port();
        }
        MessageTarget target = syslog("udp://127.0.0.1:" + port);
        target.maintain(0);
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1_000_000; i++) {
                writeAll(target, lines("one\n"));
            }
        });
        target.close();
    }

    @Test
    void messagesOnAConnectionHaveTheirLengthInFront() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            MessageTarget target = syslog("tcp://127.0.0.1:" + server.getLocalPort());
            target.maintain(0);
            try (Socket connection = server.accept()) {
                writeAll(target, lines("<134>1 one\nsecond\n"));
                assertEquals(
                        "10 <134>1 one6 second",
                        new String(
                                connection.getInputStream().readNBytes("10 <134>1 one6 second".length()),
                                StandardCharsets.ISO_8859_1));
            }
            target.close();
        }
    }

    @Test
    void manyMessagesArriveInOrder() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.tcp(0)) {
            MessageTarget target = syslog(receiver.address());
            target.maintain(0);
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 20_000; i++) {
                text.append("message ").append(i).append('\n');
            }
            writeAll(target, lines(text.toString()));
            for (int i = 0; i < 20_000; i++) {
                assertEquals("message " + i, receiver.next());
            }
            target.close();
        }
    }

    @Test
    void aConnectionThatTheReceiverClosedIsOpenedAgain() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.tcp(0)) {
            MessageTarget target = syslog(receiver.address());
            target.maintain(0);
            writeAll(target, lines("one\n"));
            assertEquals("one", receiver.next());
            receiver.connections().get(0).close();
            IOException closed = assertThrows(IOException.class, () -> {
                while (true) {
                    target.maintain(0);
                }
            });
            assertTrue(String.valueOf(closed.getMessage()).contains("closed"), closed::toString);
            target.close();
            target.maintain(0);
            writeAll(target, lines("two\n"));
            assertEquals("two", receiver.next());
            target.close();
        }
    }

    @Test
    void tlsChecksTheReceiversNameAndIssuer() throws Exception {
        Path own = Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        Path other = Files.writeString(directory.resolve("other.pem"), new TestAuthority("other").rootPem());
        try (FakeSyslog receiver = FakeSyslog.tls(AUTHORITY)) {
            MessageTarget target = MessageTarget.syslog(config(receiver.address(), own, null, null));
            target.maintain(0);
            target.maintain(0);
            writeAll(target, lines("one\n"));
            assertEquals("one", receiver.next());
            assertEquals("nobody", receiver.peer());
            target.close();

            MessageTarget wrong = MessageTarget.syslog(config(receiver.address(), other, null, null));
            assertThrows(SSLHandshakeException.class, () -> wrong.maintain(0));
            assertFalse(wrong.description().isEmpty());
            MessageTarget name = MessageTarget.syslog(config("tls://127.0.0.1:" + receiver.port(), own, null, null));
            assertThrows(SSLHandshakeException.class, () -> name.maintain(0));
        }
    }

    @Test
    void tlsShowsTheProxysCertificate() throws Exception {
        Path ca = Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        Made client = AUTHORITY.issue("proxy.example");
        Path certificate = Files.writeString(directory.resolve("proxy.pem"), client.chainPem());
        Path key = Files.writeString(directory.resolve("proxy.key"), client.keyPem());
        try (FakeSyslog receiver = FakeSyslog.tls(AUTHORITY)) {
            MessageTarget target = MessageTarget.syslog(config(receiver.address(), ca, certificate, key));
            target.maintain(0);
            writeAll(target, lines("one\n"));
            assertEquals("one", receiver.next());
            assertTrue(receiver.peer().contains("proxy.example"), receiver::peer);
            target.close();
        }
    }

    @Test
    void aMissingCertificateFileIsAnErrorWithItsName() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.tls(AUTHORITY)) {
            MessageTarget target =
                    MessageTarget.syslog(config(receiver.address(), directory.resolve("missing.pem"), null, null));
            IOException problem = assertThrows(IOException.class, () -> target.maintain(0));
            assertTrue(String.valueOf(problem.getMessage()).contains("missing.pem"), problem::toString);
        }
    }

    @Test
    void eachLineIsOneEntryOfJournald() throws Exception {
        assumeTrue(Epoll.isAvailable());
        Path path = directory.resolve("journal");
        try (FakeJournald journald = new FakeJournald(path)) {
            MessageTarget target =
                    MessageTarget.journald(new JournaldConfig(path, SyslogSeverity.NOTICE, "edge"), "errors", 10);
            target.maintain(0);
            writeAll(target, lines("first line\n" + "x".repeat(60_000) + "\n"));
            assertEquals(
                    "MESSAGE=first line\nPRIORITY=5\nSYSLOG_IDENTIFIER=edge\nMILLRACE_LOG=errors\n"
                            + "MILLRACE_SAMPLE=10\n",
                    journald.next());
            assertTrue(journald.next().startsWith("MESSAGE=" + "x".repeat(MessageTarget.JOURNALD_BYTES_MAX) + "\n"));
            target.close();
        }
    }

    @Test
    void withoutJournaldTheErrorSaysWhatToDo() {
        assumeTrue(Epoll.isAvailable());
        MessageTarget target = MessageTarget.journald(
                new JournaldConfig(directory.resolve("none"), SyslogSeverity.INFO, "millrace"), "all", 1);
        IOException problem = assertThrows(NoSuchFileException.class, () -> target.maintain(0));
        assertTrue(String.valueOf(problem.getMessage()).contains("use the target syslog or stdout"));
    }
}
