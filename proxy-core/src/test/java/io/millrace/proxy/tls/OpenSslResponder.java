package io.millrace.proxy.tls;

import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** OpenSSL's responder ({@code openssl ocsp}), for the certificates of a test authority. */
public final class OpenSslResponder implements AutoCloseable {
    private final Process process;

    private OpenSslResponder(Process process) {
        this.process = process;
    }

    /** Returns a port without a listener. */
    public static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    /**
     * Starts it and waits until it prints that it accepts: a connection without a request would block it.
     *
     * @param status V for valid certificates, R for revoked ones
     */
    public static OpenSslResponder start(
            TestAuthority authority, Path directory, int port, char status, int validMinutes, Made... certificates)
            throws IOException {
        Made issuer = authority.issuing();
        Path certificate = Files.writeString(directory.resolve("issuer.pem"), issuer.chainPem());
        Path key = Files.writeString(directory.resolve("issuer.key"), issuer.keyPem());
        StringBuilder index = new StringBuilder();
        for (Made each : certificates) {
            String serial = each.certificate().getSerialNumber().toString(16).toUpperCase(Locale.ROOT);
            index.append(status)
                    .append("\t491231000000Z\t")
                    .append(status == 'R' ? "260101000000Z" : "")
                    .append('\t')
                    .append(serial.length() % 2 == 0 ? "" : "0")
                    .append(serial)
                    .append("\tunknown\t/CN=")
                    .append(serial)
                    .append('\n');
        }
        Path log = directory.resolve("ocsp.log");
        Path list = Files.writeString(directory.resolve("index.txt"), index);
        Process process = new ProcessBuilder(
                        "openssl",
                        "ocsp",
                        "-port",
                        Integer.toString(port),
                        "-index",
                        list.toString(),
                        "-CA",
                        certificate.toString(),
                        "-rsigner",
                        certificate.toString(),
                        "-rkey",
                        key.toString(),
                        "-nmin",
                        Integer.toString(validMinutes),
                        "-ignore_err")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Awaitility.await("the responder")
                .atMost(20, TimeUnit.SECONDS)
                .until(() -> says(log, "waiting for OCSP client connections"));
        return new OpenSslResponder(process);
    }

    private static boolean says(Path log, String text) throws IOException {
        return Files.readString(log).contains(text);
    }

    /** Requests the staple of a server; returns the output of {@code openssl s_client -status}. */
    public static String status(int port, String name, Path authorities, String... more) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                "openssl",
                "s_client",
                "-status",
                "-connect",
                "127.0.0.1:" + port,
                "-servername",
                name,
                "-CAfile",
                authorities.toString());
        builder.command().addAll(List.of(more));
        Process client = builder.redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .start();
        return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
