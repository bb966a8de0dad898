package io.millrace.proxy.tls;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.CertificateRequests;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.netty.buffer.ByteBuf;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Promise;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Handles TLS handshakes that concern automatic certificates (ACME). Answers tls-alpn-01 challenges (RFC 8737).
 * Lets handshakes wait for a certificate that is issued on demand.
 *
 * <p>Thread-safe. Files are read on the executor.
 */
final class AutomaticCertificates {
    /** The application protocol of tls-alpn-01 (RFC 8737 section 6.2). */
    static final String PROTOCOL = "acme-tls/1";

    private static final int ALPN_EXTENSION = 16;

    /**
     * Time by which the time limit of the connection exceeds the wait for a certificate. The wait therefore ends
     * first.
     */
    private static final long MARGIN_MILLIS = 5000;

    private final ScheduledExecutorService executor;
    private final LongSupplier clockMillis;
    private final CertificateRequests requests;
    private final LongAdder challenges = new LongAdder();
    private volatile @Nullable AcmeConfig config;

    /**
     * @param checkFiles makes the certificate store check for new files
     */
    AutomaticCertificates(
            @Nullable AcmeConfig config,
            ScheduledExecutorService executor,
            LongSupplier clockMillis,
            Runnable checkFiles) {
        this.config = config;
        this.executor = executor;
        this.clockMillis = clockMillis;
        this.requests = new CertificateRequests(executor, System::nanoTime, checkFiles);
    }

    void configure(@Nullable AcmeConfig next) {
        config = next;
    }

    /** The number of challenges answered by tls-alpn-01 since the start. */
    long challenges() {
        return challenges.sum();
    }

    /**
     * Returns the time limit for the ClientHello and the selection of a certificate. Includes the wait for a
     * certificate on demand.
     */
    long timeoutMillis(long standardMillis) {
        AcmeConfig now = config;
        AcmeConfig.OnDemand onDemand = now == null ? null : now.onDemand();
        return onDemand == null
                ? standardMillis
                : Math.max(standardMillis, onDemand.waitNanos() / 1_000_000 + MARGIN_MILLIS);
    }

    /** Returns true if a ClientHello must be answered with the certificate of a challenge. */
    boolean isChallenge(@Nullable ByteBuf hello) {
        AcmeConfig now = config;
        return hello != null
                && now != null
                && now.challenge() == AcmeConfig.Challenge.TLS_ALPN_01
                && offersChallenge(hello);
    }

    /** Completes a promise with the TLS context for a name's challenge. The context is retained for the receiver. */
    void provideChallenge(@Nullable String name, Promise<SslContext> promise) {
        AcmeFiles files = AcmeFiles.of(config);
        if (files == null || name == null || !isPlain(name)) {
            promise.tryFailure(new SSLHandshakeException("no ACME challenge for " + name));
            return;
        }
        executor.execute(() -> {
            try {
                Path file = files.alpnCertificates().resolve(name);
                ServerCertificate certificate =
                        new CertificateReader().read(new CertificateFiles(file, file), clockMillis.getAsLong());
                SslContext context = context(certificate);
                challenges.increment();
                if (!promise.trySuccess(context)) {
                    ReferenceCountUtil.release(context);
                }
            } catch (CertificateFault | SSLException | RuntimeException e) {
                promise.tryFailure(new SSLHandshakeException("no ACME challenge for " + name + ": " + e.getMessage()));
            }
        });
    }

    private static SslContext context(ServerCertificate certificate) throws SSLException {
        try {
            return SslContextBuilder.forServer(certificate.privateKey(), certificate.x509Chain())
                    .keyStoreType(ServerCertificate.KEY_STORE_TYPE)
                    .trustManager(ClientTrust.NONE)
                    .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL_REFCNT : SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .applicationProtocolConfig(new ApplicationProtocolConfig(
                            ApplicationProtocolConfig.Protocol.ALPN,
                            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                            PROTOCOL))
                    .build();
        } catch (SSLException e) {
            throw e;
        } catch (Exception e) {
            throw new SSLException(e.getMessage(), e);
        }
    }

    /**
     * Requests a certificate for a name that has none, if the configuration allows it.
     *
     * @param then called once, on another thread, at the end of the wait
     * @return false if no certificate is requested; then {@code then} is not called
     */
    boolean await(@Nullable String name, Runnable then) {
        AcmeConfig now = config;
        if (now == null || name == null || !CertificateRequests.isPossible(now, name)) {
            return false;
        }
        requests.ask(now, name, then);
        return true;
    }

    /** Returns true if the name is safe as a file name: it cannot lead out of its directory. */
    private static boolean isPlain(String name) {
        return !name.isEmpty() && name.indexOf('/') < 0 && name.charAt(0) != '.' && name.indexOf('\0') < 0;
    }

    /**
     * Returns true if a ClientHello offers the protocol of tls-alpn-01.
     *
     * @param hello the body of a ClientHello message (RFC 8446 section 4.1.2); nothing is consumed
     */
    static boolean offersChallenge(ByteBuf hello) {
        int end = hello.writerIndex();
        // The version and random come first, then three vectors: session id, cipher suites, compression methods.
        int at = hello.readerIndex() + 34;
        at = skip(hello, at, 1, end);
        at = skip(hello, at, 2, end);
        at = skip(hello, at, 1, end);
        at += 2;
        while (at + 4 <= end) {
            int type = hello.getUnsignedShort(at);
            int length = hello.getUnsignedShort(at + 2);
            at += 4;
            if (type == ALPN_EXTENSION) {
                return contains(hello, at + 2, Math.min(end, at + length));
            }
            at += length;
        }
        return false;
    }

    /** Returns the position after a vector, which begins with its length; {@code end} if it is truncated. */
    private static int skip(ByteBuf hello, int at, int lengthBytes, int end) {
        if (at + lengthBytes > end) {
            return end;
        }
        return at + lengthBytes + (lengthBytes == 1 ? hello.getUnsignedByte(at) : hello.getUnsignedShort(at));
    }

    private static boolean contains(ByteBuf hello, int from, int end) {
        int at = from;
        while (at < end) {
            int length = hello.getUnsignedByte(at);
            if (length == PROTOCOL.length()
                    && at + 1 + length <= end
                    && PROTOCOL.contentEquals(hello.getCharSequence(at + 1, length, StandardCharsets.US_ASCII))) {
                return true;
            }
            at += 1 + length;
        }
        return false;
    }
}
