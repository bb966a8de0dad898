package io.millrace.proxy.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.OpenSslCertificateCompressionAlgorithm;
import io.netty.handler.ssl.OpenSslCertificateCompressionConfig;
import io.netty.handler.ssl.OpenSslCertificateCompressionConfig.AlgorithmMode;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Inflater;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests compressed certificates (RFC 8879), with a BoringSSL client. */
class ZlibCertificatesTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("zlib");

    @TempDir
    Path directory;

    /** A client that counts the inflated certificates. */
    private static final class Inflating implements OpenSslCertificateCompressionAlgorithm {
        final AtomicInteger messages = new AtomicInteger();

        @Override
        public byte[] compress(SSLEngine engine, byte[] message) {
            throw new IllegalStateException("clients compress nothing here");
        }

        @Override
        public byte[] decompress(SSLEngine engine, int uncompressedLength, byte[] compressed) throws Exception {
            messages.incrementAndGet();
            return inflate(compressed, uncompressedLength);
        }

        @Override
        public int algorithmId() {
            return 1;
        }
    }

    private static byte[] inflate(byte[] compressed, int length) throws Exception {
        Inflater inflater = new Inflater();
        inflater.setInput(compressed);
        byte[] out = new byte[length];
        assertEquals(length, inflater.inflate(out));
        inflater.end();
        return out;
    }

    @Test
    void compressedCertificatesCanBeInflatedAndAreCached() throws Exception {
        ZlibCertificates zlib = new ZlibCertificates();
        byte[] noise = new byte[5000];
        new Random(1).nextBytes(noise);
        for (byte[] message : new byte[][] {new byte[0], new byte[3000], noise}) {
            byte[] compressed = zlib.compress(null, message);
            assertArrayEquals(message, inflate(compressed, message.length));
            assertSame(compressed, zlib.compress(null, message.clone()));
        }
    }

    @Test
    void aClientThatAsksGetsACompressedCertificate() throws Exception {
        CertificateFiles files = AUTHORITY.issue("one.example").write(directory, "one");
        ServerCertificate certificate = new CertificateReader().read(files, System.currentTimeMillis());
        Inflating inflating = new Inflating();
        SslContext server = ServerContexts.build(List.of(certificate), ServerTlsConfig.DEFAULTS, false);
        SslContext client = SslContextBuilder.forClient()
                .sslProvider(SslProvider.OPENSSL_REFCNT)
                .trustManager(AUTHORITY.root())
                .endpointIdentificationAlgorithm(null)
                .protocols("TLSv1.3")
                .option(
                        OpenSslContextOption.CERTIFICATE_COMPRESSION_ALGORITHMS,
                        OpenSslCertificateCompressionConfig.newBuilder()
                                .addAlgorithm(inflating, AlgorithmMode.Decompress)
                                .build())
                .build();
        SSLEngine one = server.newEngine(ByteBufAllocator.DEFAULT);
        SSLEngine other = client.newEngine(ByteBufAllocator.DEFAULT, "one.example", 443);
        try {
            handshake(one, other);
            assertEquals(1, inflating.messages.get());
            assertEquals(certificate.x509Chain()[0], other.getSession().getPeerCertificates()[0]);
        } finally {
            for (Object each : new Object[] {one, other, server, client}) {
                ReferenceCountUtil.release(each);
            }
        }
    }

    /** Passes the bytes of each side to the other until both are done. */
    private static void handshake(SSLEngine server, SSLEngine client) throws Exception {
        client.beginHandshake();
        server.beginHandshake();
        for (int round = 0; round < 20; round++) {
            boolean asked = pass(client, server);
            boolean answered = pass(server, client);
            if (!asked && !answered) {
                break;
            }
        }
        assertTrue(server.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING, "the handshake is done");
    }

    private static boolean pass(SSLEngine from, SSLEngine to) throws Exception {
        ByteBuffer wire = ByteBuffer.allocate(64 * 1024);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (true) {
            run(from);
            wire.clear();
            if (from.wrap(ByteBuffer.allocate(0), wire).bytesProduced() == 0) {
                break;
            }
            all.write(wire.array(), 0, wire.position());
        }
        ByteBuffer bytes = ByteBuffer.wrap(all.toByteArray());
        while (bytes.hasRemaining()) {
            int before = bytes.remaining();
            to.unwrap(bytes, ByteBuffer.allocate(64 * 1024));
            run(to);
            if (bytes.remaining() == before) {
                break;
            }
        }
        return all.size() > 0;
    }

    private static void run(SSLEngine engine) {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }
}
