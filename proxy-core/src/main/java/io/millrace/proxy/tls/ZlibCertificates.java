package io.millrace.proxy.tls;

import io.netty.handler.ssl.OpenSslCertificateCompressionAlgorithm;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.Deflater;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Compresses the certificate message of a TLS context with zlib (RFC 8879). Thread-safe.
 *
 * <p>Caches the last result: most handshakes send the same message, and compression takes longer than signing.
 */
final class ZlibCertificates implements OpenSslCertificateCompressionAlgorithm {
    /** The IANA number of zlib (RFC 8879 section 7.3). */
    private static final int ZLIB = 1;

    @SuppressWarnings("ArrayRecordComponent") // instances are never compared
    private record Result(byte[] message, byte[] compressed) {}

    private final AtomicReference<@Nullable Result> last = new AtomicReference<>();

    @Override
    public byte[] compress(SSLEngine engine, byte[] message) {
        Result known = last.get();
        if (known != null && Arrays.equals(known.message, message)) {
            return known.compressed;
        }
        byte[] compressed = deflate(message);
        last.set(new Result(message, compressed));
        return compressed;
    }

    private static byte[] deflate(byte[] message) {
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        try {
            deflater.setInput(message);
            deflater.finish();
            // Enough space for incompressible input, which grows by five bytes per block of 16 KiB and the zlib
            // frame.
            byte[] out = new byte[message.length + 64 + message.length / 1000];
            int length = deflater.deflate(out);
            return Arrays.copyOf(out, length);
        } finally {
            deflater.end();
        }
    }

    /**
     * Always fails, because this server does not offer compression of client certificates. A small message could
     * expand to a large one.
     */
    @Override
    public byte[] decompress(SSLEngine engine, int uncompressedLength, byte[] compressed) throws SSLException {
        throw new SSLException("a compressed client certificate was not offered");
    }

    @Override
    public int algorithmId() {
        return ZLIB;
    }
}
