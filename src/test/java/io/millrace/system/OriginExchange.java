package io.millrace.system;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One request at a {@link ScriptedOrigin} and the means to answer it, byte by byte. Confined to one thread. */
final class OriginExchange {

    private final OriginRequest request;
    private final int number;
    private final Socket socket;
    private final OutputStream out;
    private boolean closed;

    OriginExchange(OriginRequest request, int number, Socket socket) throws IOException {
        this.request = request;
        this.number = number;
        this.socket = socket;
        this.out = socket.getOutputStream();
    }

    OriginRequest request() {
        return request;
    }

    /** Returns the number of this request among those for its path, beginning with 1. */
    int number() {
        return number;
    }

    /** Returns the address from which the proxy has connected. */
    String peer() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Sends a complete response with {@code Content-Length}; to HEAD without the body. */
    void answer(int status, String body, String... fieldLines) throws IOException {
        answer(status, body.getBytes(StandardCharsets.UTF_8), fieldLines);
    }

    void answer(int status, byte[] body, String... fieldLines) throws IOException {
        StringBuilder head = headText(status, fieldLines);
        if (status != 304 && status != 204) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        byte[] headBytes = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
        boolean bodiless = request.method().equals("HEAD") || status == 304 || status == 204;
        byte[] message = new byte[headBytes.length + (bodiless ? 0 : body.length)];
        System.arraycopy(headBytes, 0, message, 0, headBytes.length);
        System.arraycopy(body, 0, message, headBytes.length, message.length - headBytes.length);
        write(message);
    }

    /** Sends a head with only these field lines; the script sends the rest. */
    void head(int status, String... fieldLines) throws IOException {
        write(headText(status, fieldLines).append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    private static StringBuilder headText(int status, String... fieldLines) {
        StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" Scripted\r\n");
        for (String line : fieldLines) {
            head.append(line).append("\r\n");
        }
        return head;
    }

    void chunk(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        write(Integer.toHexString(bytes.length) + "\r\n" + text + "\r\n");
    }

    void lastChunk() throws IOException {
        write("0\r\n\r\n");
    }

    void write(String text) throws IOException {
        write(text.getBytes(StandardCharsets.UTF_8));
    }

    void write(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Ends the connection with FIN. */
    void close() throws IOException {
        closed = true;
        socket.close();
    }

    boolean isClosed() {
        return closed;
    }
}
