package io.millrace.proxy.fill;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A body that an origin sends in pieces. */
final class OriginPieces {
    private final List<ByteBuf> handedIn = new ArrayList<>();

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return bytes;
    }

    void feed(ResponseTee tee, byte[] body, int pieceLength) {
        for (int position = 0; position < body.length; position += pieceLength) {
            tee.content(piece(Arrays.copyOfRange(body, position, Math.min(body.length, position + pieceLength))));
        }
    }

    ByteBuf piece(byte[] bytes) {
        ByteBuf buffer = Unpooled.directBuffer(bytes.length).writeBytes(bytes);
        handedIn.add(buffer);
        return buffer;
    }

    void assertAllReleased() {
        for (ByteBuf buffer : handedIn) {
            assertEquals(0, buffer.refCnt(), "a piece was not released");
        }
    }
}
