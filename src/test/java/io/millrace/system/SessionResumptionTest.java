package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that clients resume TLS sessions after a roll and after a kill of the worker: successors have the same ticket
 * keys.
 */
@Tag("nightly")
class SessionResumptionTest {
    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    @TempDir
    Path directory;

    @Test
    void sessionsOutliveTheWorkerThatBeganThem() throws Exception {
        SelfSignedCertificate written = SelfSignedCertificate.write(directory, "www.example.com");
        Path certificate = written.certificate();
        int port = FreePorts.next();
        Path config = Files.writeString(
                directory.resolve("millrace.yaml"),
                "listen: [{address: '127.0.0.1:" + port + "', tls: {}}]\ntls: {certificates: [{certificate: "
                        + certificate + ", key: " + written.key()
                        + "}]}\nremap: [{redirect: /, to: 'http://www.example.com/'}]\n");
        MillraceProcess proxy = product.launch()
                .listeningByFile(port)
                .config(config)
                .shortWarmUp()
                .start();
        SSLContext client = client(certificate);
        assertEquals(false, isResumed(client, port), "the first connection");
        proxy.millctl("server", "restart").succeeds();
        assertEquals(true, isResumed(client, port), "after a roll");
        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
        assertEquals(true, isResumed(client, port), "after kill -9");
    }

    private static SSLContext client(Path certificate) throws Exception {
        Certificate trusted;
        try (InputStream in = Files.newInputStream(certificate)) {
            trusted = CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("site", trusted);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /** Sends one request on a new connection; returns whether its session began on an earlier one. */
    private static boolean isResumed(SSLContext client, int port) throws Exception {
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        try (SSLSocket socket =
                (SSLSocket) client.getSocketFactory().createSocket(plain, "www.example.com", port, true)) {
            socket.startHandshake();
            boolean resumed = socket.getSession().getValue("seen") != null;
            socket.getSession().putValue("seen", "yes");
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertEquals("HTTP/1.1 301", answer.substring(0, 12), answer);
            return resumed;
        }
    }
}
