package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * Sends syslog messages over TCP, or over TLS (RFC 5425). The length of each message is sent before the message (octet
 * counting, RFC 6587 s3.4.1). The receiver's certificate must be valid for the configured host. Certificate files are
 * read for each connection, so that a renewed certificate needs no reload. Confined to one thread, except
 * {@link #close}.
 */
final class SyslogStream implements MessageSender {
    /** Time limit for connecting, and for each read during the TLS handshake. */
    static final int CONNECT_MILLIS = 5000;

    /**
     * Read timeout of {@link #check}, which reads only to detect that the receiver has closed the connection. Receivers
     * normally send nothing.
     */
    private static final int CHECK_MILLIS = 1;

    /** Limit of reads in one {@link #check}, in case a receiver sends bytes or TLS alerts. */
    private static final int READS_MAX = 16;

    private final SyslogConfig config;
    /** Receives the bytes that {@link #check} reads and ignores. */
    private final byte[] ignored = new byte[256];
    /** Buffer of messages that are not yet written, each after its length. */
    private final byte[] frames = new byte[80 << 10];
    /** Number of used bytes in {@link #frames}. */
    private int frameBytes;

    /** Seconds that a close waits for a blocked write of another thread, before it omits the TLS close_notify. */
    private static final int LINGER_SECONDS = 1;

    /** The connected TCP socket; with TLS, the socket below the TLS socket. */
    private volatile @Nullable Socket connection;

    /** The socket to which messages are written: the TLS socket, or the TCP socket without TLS. */
    private volatile @Nullable Socket socket;

    SyslogStream(SyslogConfig config) {
        this.config = config;
    }

    @Override
    public String description() {
        return config.address().toString();
    }

    @Override
    public boolean isOpen() {
        return connection != null && socket != null;
    }

    @Override
    public void open() throws IOException {
        SyslogAddress address = config.address();
        frameBytes = 0;
        Socket opened = new Socket();
        connection = opened;
        try {
            opened.setKeepAlive(true);
            opened.connect(new InetSocketAddress(address.host(), address.port()), CONNECT_MILLIS);
            opened.setSoTimeout(CONNECT_MILLIS);
            opened.setSoLinger(true, LINGER_SECONDS);
            socket = address.protocol() == SyslogAddress.Protocol.TLS ? secured(opened) : opened;
            opened.setSoTimeout(CHECK_MILLIS);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private Socket secured(Socket opened) throws IOException {
        SSLSocket secure = (SSLSocket) context()
                .getSocketFactory()
                .createSocket(opened, config.address().host(), config.address().port(), true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return secure;
    }

    private SSLContext context() throws IOException {
        SslContextBuilder builder =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).protocols("TLSv1.3", "TLSv1.2");
        Path caFile = config.caFile();
        Path certificate = config.certificate();
        Path key = config.key();
        try {
            if (caFile != null) {
                builder.trustManager(caFile.toFile());
            }
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
            return ((JdkSslContext) builder.build()).context();
        } catch (IllegalArgumentException e) {
            throw new IOException("a certificate file of syslog cannot be used: " + e.getMessage(), e);
        }
    }

    @Override
    public void check(long nowMillis) throws IOException {
        Socket open = socket;
        if (open == null) {
            return;
        }
        try {
            for (int reads = 0; reads < READS_MAX; reads++) {
                if (open.getInputStream().read(ignored) < 0) {
                    throw new EOFException("the receiver closed the connection");
                }
            }
        } catch (SocketTimeoutException e) {
            // The connection is open, and the receiver sent nothing.
        }
    }

    @Override
    public boolean isBuffered() {
        return true;
    }

    @Override
    public void send(byte[] bytes, int offset, int count) throws IOException {
        byte[] head = (count + " ").getBytes(StandardCharsets.US_ASCII);
        if (frameBytes + head.length + count > frames.length) {
            flush();
        }
        System.arraycopy(head, 0, frames, frameBytes, head.length);
        System.arraycopy(bytes, offset, frames, frameBytes + head.length, count);
        frameBytes += head.length + count;
    }

    @Override
    public void flush() throws IOException {
        Socket open = socket;
        if (open == null) {
            throw new IOException("closed: " + config.address());
        }
        open.getOutputStream().write(frames, 0, frameBytes);
        frameBytes = 0;
    }

    @Override
    public void close() {
        Socket secure = socket;
        Socket open = connection;
        socket = null;
        connection = null;
        close(secure);
        close(open);
    }

    private static void close(@Nullable Socket open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The socket is closed anyway.
            }
        }
    }
}
