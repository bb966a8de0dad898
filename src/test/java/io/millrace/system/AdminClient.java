package io.millrace.system;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A client of the admin HTTP API on a Unix socket, with one connection per request. Immutable. */
record AdminClient(Path socket) {

    /** A complete response of the admin API. */
    record Answer(int status, String text) {

        Json json() {
            if (status != 200) {
                throw new AssertionError("status " + status + ": " + text);
            }
            return Json.parse(text);
        }
    }

    Answer get(String target) throws IOException {
        return send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }

    Answer post(String target, String json) throws IOException {
        return send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\nContent-Length: "
                + json.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + json);
    }

    private Answer send(String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            Wire wire = new Wire(Channels.newInputStream(channel));
            Wire.Head head = wire.head();
            if (head == null) {
                throw new EOFException("no answer on " + socket);
            }
            int status = RawResponse.statusOf(head);
            byte[] body = wire.body(head, Wire.ofResponse(head, status, false)).readAllBytes();
            return new Answer(status, new String(body, StandardCharsets.UTF_8));
        }
    }
}
