package io.millrace.proxy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A client that sends the bytes of a test and reads the response. A read of more than {@value #WAIT_MILLIS} ms fails.
 */
final class RawClient implements AutoCloseable {
    static final int WAIT_MILLIS = 20_000;

    /** A response as received. */
    static final class Response {
        private final int status;
        private final String head;
        private final byte[] content;

        Response(int status, String head, byte[] content) {
            this.status = status;
            this.head = head;
            this.content = content;
        }

        int status() {
            return status;
        }

        String head() {
            return head;
        }

        byte[] content() {
            return content;
        }

        String text() {
            return new String(content, StandardCharsets.ISO_8859_1);
        }

        /** Returns the first value of a field; null if there is none. */
        String field(String name) {
            return RawClient.field(head, name);
        }
    }

    final Socket socket;
    final RawInput in;

    RawClient(InetSocketAddress address) throws IOException {
        this(address, 0);
    }

    /** With a small receive buffer, the proxy notices a client that does not read. */
    RawClient(InetSocketAddress address, int receiveBytes) throws IOException {
        this(unconnected(receiveBytes), address);
    }

    /** Connects from an address of this machine, such as 127.0.0.2. */
    static RawClient from(String local, InetSocketAddress address) throws IOException {
        Socket fresh = new Socket();
        fresh.bind(new InetSocketAddress(local, 0));
        return new RawClient(fresh, address);
    }

    private RawClient(Socket fresh, InetSocketAddress address) throws IOException {
        socket = fresh;
        socket.connect(address, WAIT_MILLIS);
        socket.setSoTimeout(WAIT_MILLIS);
        socket.setTcpNoDelay(true);
        in = new RawInput(socket.getInputStream());
    }

    /** Uses a connected socket, for TLS. */
    RawClient(Socket connected) throws IOException {
        socket = connected;
        socket.setSoTimeout(WAIT_MILLIS);
        in = new RawInput(socket.getInputStream());
    }

    private static Socket unconnected(int receiveBytes) throws IOException {
        Socket fresh = new Socket();
        if (receiveBytes > 0) {
            fresh.setReceiveBufferSize(receiveBytes);
        }
        return fresh;
    }

    RawClient send(String text) throws IOException {
        return send(RawInput.latin1(text));
    }

    RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    /** Sends a GET in HTTP/1.1, with extra field lines that each end in CRLF. */
    RawClient get(String path, String... fields) throws IOException {
        return send("GET " + path + " HTTP/1.1\r\nHost: test.example\r\n" + String.join("", fields) + "\r\n");
    }

    /** The next head. */
    Response head() throws IOException {
        String head = in.readHead();
        if (head == null) {
            throw new IOException("the connection ended before a response");
        }
        return new Response(Integer.parseInt(head.substring(9, 12)), head, new byte[0]);
    }

    /** Reads the next response to a request other than HEAD. */
    Response response() throws IOException {
        Response head = head();
        return new Response(head.status(), head.head(), content(head));
    }

    /** Reads a line, such as the size of a chunk. */
    String line() throws IOException {
        return in.readLine();
    }

    byte[] content(Response head) throws IOException {
        if (head.status() == 204 || head.status() == 304 || head.status() < 200) {
            return new byte[0];
        }
        String length = head.field("content-length");
        if (length != null) {
            return in.read(Integer.parseInt(length));
        }
        return "chunked".equals(head.field("transfer-encoding")) ? in.readChunked() : in.readToEnd();
    }

    static String field(String head, String name) {
        for (String line : head.lines().toList()) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.substring(0, colon).toLowerCase(Locale.ROOT).equals(name)) {
                return line.substring(colon + 1).trim();
            }
        }
        return null;
    }

    /** Ends the connection with RST. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
