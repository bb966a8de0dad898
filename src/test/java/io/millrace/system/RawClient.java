package io.millrace.system;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/**
 * One client connection that sends exactly the given bytes and reads the responses strictly. Every read ends after
 * {@value #READ_TIMEOUT_MILLIS} ms, so that a proxy that never answers fails the test. Confined to one thread.
 */
final class RawClient implements AutoCloseable {

    static final int READ_TIMEOUT_MILLIS = 20_000;

    private final Socket socket;
    private final Wire wire;

    private RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        this.wire = new Wire(socket.getInputStream());
    }

    static RawClient connect(int port) throws IOException {
        return connect(new InetSocketAddress(0), port);
    }

    /** Connects from an address of this machine, such as 127.0.0.2. */
    static RawClient connect(String local, int port) throws IOException {
        return connect(new InetSocketAddress(local, 0), port);
    }

    private static RawClient connect(InetSocketAddress local, int port) throws IOException {
        Socket socket = new Socket();
        try {
            if (!local.getAddress().isAnyLocalAddress()) {
                socket.bind(local);
            }
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), READ_TIMEOUT_MILLIS);
            return new RawClient(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends one GET on a new connection. */
    static RawResponse fetch(int port, String target, String... fieldLines) throws IOException {
        try (RawClient client = connect(port)) {
            return client.get(target, fieldLines).response();
        }
    }

    RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        return this;
    }

    /** Sends a request without a body, with a Host field for this address. */
    RawClient request(String method, String target, String... fieldLines) throws IOException {
        return send(requestText(method, target, fieldLines));
    }

    RawClient get(String target, String... fieldLines) throws IOException {
        return request("GET", target, fieldLines);
    }

    /** Sends a request with a body of known length. */
    RawClient request(String method, String target, byte[] body, String... fieldLines) throws IOException {
        String[] lines = new String[fieldLines.length + 1];
        System.arraycopy(fieldLines, 0, lines, 1, fieldLines.length);
        lines[0] = "Content-Length: " + body.length;
        return send(requestText(method, target, lines)).send(body);
    }

    private String requestText(String method, String target, String... fieldLines) {
        StringBuilder text = new StringBuilder(method)
                .append(' ')
                .append(target)
                .append(" HTTP/1.1\r\nHost: 127.0.0.1:")
                .append(socket.getPort())
                .append("\r\n");
        for (String line : fieldLines) {
            text.append(line).append("\r\n");
        }
        return text.append("\r\n").toString();
    }

    /** Reads the next response to a request other than HEAD. */
    RawResponse response() throws IOException {
        return response(false);
    }

    RawResponse responseToHead() throws IOException {
        return response(true);
    }

    private RawResponse response(boolean toHead) throws IOException {
        Wire.Head head = head();
        Wire.Framing framing = Wire.ofResponse(head, RawResponse.statusOf(head), toHead);
        return new RawResponse(head, wire.body(head, framing).readAllBytes());
    }

    /** Reads the next response head; {@link #body} returns the following content. */
    Wire.Head head() throws IOException {
        Wire.Head head = wire.head();
        if (head == null) {
            throw new EOFException("the connection ends where an answer was due");
        }
        return head;
    }

    /** Returns the body after the head of a response to a request other than HEAD, readable as it arrives. */
    InputStream body(Wire.Head head) throws IOException {
        return wire.body(head, Wire.ofResponse(head, RawResponse.statusOf(head), false));
    }

    /** Returns true if only the end of the connection follows, by FIN or reset. */
    boolean reachesEnd() throws IOException {
        try {
            return wire.read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    /** Shuts down the sending side, and continues to read. */
    void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
