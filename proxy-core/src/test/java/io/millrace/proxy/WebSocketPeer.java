package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;

/**
 * The part of WebSocket that tests need: the two heads of the handshake, and frames of either side (RFC 6455 s4, s5.2).
 */
final class WebSocketPeer {
    static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;
    private static final byte[] MASK = {0x37, (byte) 0xfa, 0x21, 0x3d};

    /** One frame, unmasked. */
    static final class Frame {
        private final int opcode;
        private final byte[] payload;

        Frame(int opcode, byte[] payload) {
            this.opcode = opcode;
            this.payload = payload;
        }

        int opcode() {
            return opcode;
        }

        byte[] payload() {
            return payload;
        }

        String text() {
            return new String(payload, StandardCharsets.UTF_8);
        }
    }

    private WebSocketPeer() {}

    /** Returns a client's request, with extra field lines that each end in CRLF. */
    static String request(String path, String... fields) {
        return "GET " + path
                + " HTTP/1.1\r\nHost: test.example\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + "\r\n" + String.join("", fields) + "\r\n";
    }

    /** Returns the head that answers a request's key. */
    static String accepted(String head) throws GeneralSecurityException {
        String key = RawClient.field(head, "sec-websocket-key");
        byte[] digest = MessageDigest.getInstance("SHA-1")
                .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII));
        return "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                + Base64.getEncoder().encodeToString(digest) + "\r\n\r\n";
    }

    /** Returns a frame masked as a client's must be. */
    static byte[] clientFrame(int opcode, byte[] payload) {
        return frame(opcode, payload, true);
    }

    static byte[] serverFrame(int opcode, byte[] payload) {
        return frame(opcode, payload, false);
    }

    private static byte[] frame(int opcode, byte[] payload, boolean masked) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(payload.length + 14);
        int mask = masked ? 0x80 : 0;
        out.write(0x80 | opcode);
        if (payload.length < 126) {
            out.write(mask | payload.length);
        } else if (payload.length < 1 << 16) {
            out.write(mask | 126);
            out.write(payload.length >>> 8);
            out.write(payload.length);
        } else {
            out.write(mask | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                out.write((int) ((long) payload.length >>> shift));
            }
        }
        if (masked) {
            out.writeBytes(MASK);
        }
        for (int i = 0; i < payload.length; i++) {
            out.write(masked ? payload[i] ^ MASK[i & 3] : payload[i]);
        }
        return out.toByteArray();
    }

    /** The next frame. */
    static Frame read(RawInput in, boolean fromClient) throws IOException {
        byte[] start = in.read(2);
        assertTrue((start[0] & 0x80) != 0, "a fragment");
        assertEquals(fromClient, (start[1] & 0x80) != 0, "masked");
        long length = start[1] & 0x7f;
        int extended = length == 126 ? 2 : length == 127 ? 8 : 0;
        if (extended > 0) {
            length = 0;
            for (byte b : in.read(extended)) {
                length = length << 8 | (b & 0xff);
            }
        }
        byte[] mask = fromClient ? in.read(4) : new byte[4];
        byte[] payload = in.read(Math.toIntExact(length));
        for (int i = 0; i < payload.length; i++) {
            payload[i] ^= mask[i & 3];
        }
        return new Frame(start[0] & 0xf, payload);
    }

    /**
     * A script of an origin that performs the handshake, sends every message back, answers pings, and closes when
     * requested.
     */
    static void echo(RawOrigin.Exchange request) throws Exception {
        request.send(accepted(request.head()));
        Frame frame;
        do {
            frame = read(request.in(), true);
            request.send(serverFrame(frame.opcode() == PING ? PONG : frame.opcode(), frame.payload()));
        } while (frame.opcode() != CLOSE);
        request.socket().close();
    }
}
