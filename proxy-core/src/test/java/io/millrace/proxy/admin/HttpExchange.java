package io.millrace.proxy.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Requests written byte by byte to a real socket, and the responses as they come. Confined to one thread. */
final class HttpExchange implements AutoCloseable {
    private final SocketChannel channel;
    private byte[] unread = {};

    /** A response: status, lower-cased fields, content. */
    record Response(int status, Map<String, String> fields, String body) {}

    private HttpExchange(SocketChannel channel) {
        this.channel = channel;
    }

    static HttpExchange connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(socket));
        return new HttpExchange(channel);
    }

    static HttpExchange connect(SocketAddress address) throws IOException {
        return new HttpExchange(SocketChannel.open(address));
    }

    static Response get(Path socket, String target) throws IOException {
        try (HttpExchange exchange = connect(socket)) {
            return exchange.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
                    .read();
        }
    }

    static Response post(Path socket, String target, String body) throws IOException {
        try (HttpExchange exchange = connect(socket)) {
            return exchange.send("POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length()
                            + "\r\n\r\n" + body)
                    .read();
        }
    }

    HttpExchange send(String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        return this;
    }

    Response read() throws IOException {
        return read(true);
    }

    /** Reads the response to a HEAD request, which has no content whatever its length field says. */
    Response readHead() throws IOException {
        return read(false);
    }

    private Response read(boolean hasContent) throws IOException {
        int end = indexOfEmptyLine();
        while (end < 0) {
            readMore();
            end = indexOfEmptyLine();
        }
        String[] lines = text(0, end).split("\r\n", -1);
        Map<String, String> fields = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            fields.put(
                    lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
                    lines[i].substring(colon + 1).strip());
        }
        int start = end + 4;
        int length = hasContent ? Integer.parseInt(fields.getOrDefault("content-length", "0")) : 0;
        while (unread.length < start + length) {
            readMore();
        }
        String body = text(start, start + length);
        unread = java.util.Arrays.copyOfRange(unread, start + length, unread.length);
        return new Response(Integer.parseInt(lines[0].substring(9, 12)), fields, body);
    }

    /** Whether the other side has closed and nothing is left to read. */
    boolean isAtEnd() throws IOException {
        return unread.length == 0 && channel.read(ByteBuffer.allocate(1)) < 0;
    }

    private String text(int from, int to) {
        return new String(unread, from, to - from, StandardCharsets.UTF_8);
    }

    private int indexOfEmptyLine() {
        return new String(unread, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
    }

    private void readMore() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        if (channel.read(buffer) < 0) {
            throw new IOException("closed after " + text(0, unread.length));
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(unread);
        all.write(buffer.array(), 0, buffer.position());
        unread = all.toByteArray();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
