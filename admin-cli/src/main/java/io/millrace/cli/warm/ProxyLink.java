package io.millrace.cli.warm;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Sends GET requests to a listener of the proxy. The Host field and the TLS server name (SNI) are those of the
 * requested URL. A connection is reused for the next request if that is possible. Confined to one thread, except
 * {@link #abort}. Blocks.
 */
public final class ProxyLink implements AutoCloseable {
    /** Time limit of a whole response, longer than a large download from a local proxy takes. */
    private static final Duration RESPONSE_TIME_MAX = Duration.ofMinutes(5);

    private static final int CONNECT_MILLIS = 5000;

    private final List<String> fields;
    private final int waitMillis;
    private volatile @Nullable Socket socket;
    private volatile boolean isAborted;
    private @Nullable ReplyReader reader;
    private @Nullable Endpoint peer;
    private String peerHost = "";

    /** Thrown if the proxy does not accept connections, so that further requests are useless. */
    static final class UnreachableException extends IOException {
        UnreachableException(Endpoint endpoint, String why) {
            super("no connection to " + endpoint + ": " + why);
        }
    }

    /**
     * Creates a link without a connection.
     *
     * @param fields lines {@code Name: value} for every request
     * @param wait longest wait for further bytes
     */
    public ProxyLink(List<String> fields, Duration wait) {
        this.fields = List.copyOf(fields);
        this.waitMillis = (int) Math.min(Integer.MAX_VALUE, wait.toMillis());
    }

    /**
     * Requests a URL and reads the whole response.
     *
     * @param further more fields for this request
     * @param into receives the content of a response with status 200; null to discard it
     * @throws UnreachableException if there is no connection
     * @throws IOException if the response is not complete
     */
    ProxyReply get(Endpoint endpoint, WarmUrl url, List<String> further, @Nullable OutputStream into)
            throws IOException {
        byte[] request = request(url, further).getBytes(StandardCharsets.ISO_8859_1);
        boolean isReused = socket != null && endpoint.equals(peer) && isFor(url, endpoint);
        if (!isReused) {
            connect(endpoint, url);
        }
        try {
            return exchange(request, into);
        } catch (IOException e) {
            ReplyReader read = reader;
            boolean wasIdle = isReused && read != null && !read.hasStarted() && !isAborted;
            close();
            if (!wasIdle || e instanceof SocketTimeoutException) {
                throw e;
            }
        }
        // The proxy has closed the idle connection since the previous request.
        connect(endpoint, url);
        try {
            return exchange(request, into);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns true if the open connection may carry a request for a URL. A TLS connection is for one server name. */
    private boolean isFor(WarmUrl url, Endpoint endpoint) {
        return !endpoint.secure() || url.host().equals(peerHost);
    }

    private String request(WarmUrl url, List<String> further) {
        StringBuilder head = new StringBuilder(256);
        head.append("GET ").append(url.target()).append(" HTTP/1.1\r\nHost: ").append(url.authority());
        head.append("\r\n");
        boolean hasAgent = false;
        boolean hasAccept = false;
        for (List<String> lines : List.of(fields, further)) {
            for (String line : lines) {
                head.append(line).append("\r\n");
                hasAgent |= line.regionMatches(true, 0, "user-agent:", 0, 11);
                hasAccept |= line.regionMatches(true, 0, "accept:", 0, 7);
            }
        }
        head.append(hasAgent ? "" : "User-Agent: millctl\r\n").append(hasAccept ? "" : "Accept: */*\r\n");
        return head.append("\r\n").toString();
    }

    private ProxyReply exchange(byte[] request, @Nullable OutputStream into) throws IOException {
        Socket open = socket;
        ReplyReader read = reader;
        if (open == null || read == null) {
            throw new EOFException("the connection was closed");
        }
        read.begin(System.nanoTime() + RESPONSE_TIME_MAX.toNanos());
        open.getOutputStream().write(request);
        ProxyReply reply = read.read(into);
        if (!read.isReusable()) {
            close();
        }
        return reply;
    }

    private void connect(Endpoint endpoint, WarmUrl url) throws IOException {
        close();
        Socket plain = new Socket();
        socket = plain;
        if (isAborted) {
            close();
            throw new EOFException("the run was stopped");
        }
        try {
            plain.connect(endpoint.address(), CONNECT_MILLIS);
        } catch (ConnectException | NoRouteToHostException | SocketTimeoutException e) {
            close();
            throw new UnreachableException(endpoint, String.valueOf(e.getMessage()));
        }
        plain.setSoTimeout(waitMillis);
        plain.setTcpNoDelay(true);
        Socket used = endpoint.secure() ? secured(plain, endpoint, url) : plain;
        socket = used;
        reader = new ReplyReader(used.getInputStream());
        peer = endpoint;
        peerHost = url.host();
    }

    private static Socket secured(Socket plain, Endpoint endpoint, WarmUrl url) throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, endpoint.isVerified() ? null : new TrustManager[] {new AnyCertificate()}, null);
            InetSocketAddress address = endpoint.address();
            SSLSocket secure =
                    (SSLSocket) context.getSocketFactory().createSocket(plain, url.host(), address.getPort(), true);
            SSLParameters parameters = secure.getSSLParameters();
            try {
                parameters.setServerNames(List.of(new SNIHostName(url.host())));
            } catch (IllegalArgumentException e) {
                // An IP address is not permitted as server name (RFC 6066 section 3).
                parameters.setServerNames(List.of());
            }
            if (endpoint.isVerified()) {
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
            }
            secure.setSSLParameters(parameters);
            secure.startHandshake();
            return secure;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS: " + e.getMessage(), e);
        }
    }

    /** Closes the connection from another thread: a request in progress fails, and no further one begins. */
    void abort() {
        isAborted = true;
        closeQuietly(socket);
    }

    @Override
    public void close() {
        closeQuietly(socket);
        socket = null;
        reader = null;
        peer = null;
    }

    private static void closeQuietly(@Nullable Socket open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The connection is not used any more.
            }
        }
    }

    /** Accepts every certificate. Used only on loopback, where the peer is this machine. */
    private static final class AnyCertificate extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket peer) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket peer) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
