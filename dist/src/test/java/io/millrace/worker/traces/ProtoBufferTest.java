package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.opentelemetry.proto.common.v1.AnyValue;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the primitive encodings against those of Google's library. */
class ProtoBufferTest {
    private static final int BYTES_VALUE = 7;

    private static byte[] written(ProtoBuffer buffer) {
        return Arrays.copyOf(buffer.bytes(), buffer.end());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 127, 128, 16_383, 16_384, 1L << 31, 1L << 62, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void numbersAreThoseOfTheLibrary(long value) throws Exception {
        ProtoBuffer buffer = new ProtoBuffer(0);
        buffer.varint(value);
        byte[] expected = new byte[CodedOutputStream.computeUInt64SizeNoTag(value)];
        CodedOutputStream.newInstance(expected).writeUInt64NoTag(value);
        assertArrayEquals(expected, written(buffer));
        assertEquals(expected.length, ProtoBuffer.varintLength(value));
    }

    /** Messages move by a byte if their length takes one or three bytes. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 129, 16_383, 16_384, 100_000})
    void messagesHaveTheShortestLength(int length) {
        byte[] content = new byte[length];
        Arrays.fill(content, (byte) 'x');
        ProtoBuffer buffer = new ProtoBuffer(0);
        int message = buffer.beginMessage(BYTES_VALUE);
        buffer.raw(content);
        buffer.endMessage(message);
        AnyValue expected = AnyValue.newBuilder()
                .setBytesValue(ByteString.copyFrom(content))
                .build();
        assertArrayEquals(expected.toByteArray(), written(buffer));
    }

    /** The length is counted eight bytes at a time. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "\u00e9",
                "12345678",
                "1234567\u00ff",
                "\u0080bcdefghi\u00e9",
                "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9x"
            })
    void textsAreUtf8(String text) {
        byte[] latin1 = ("<" + text + ">").getBytes(StandardCharsets.ISO_8859_1);
        ProtoBuffer buffer = new ProtoBuffer(0);
        int utf8Length = ProtoBuffer.utf8Length(latin1, 1, text.length());
        buffer.text(1, latin1, 1, text.length(), utf8Length);
        assertArrayEquals(AnyValue.newBuilder().setStringValue(text).build().toByteArray(), written(buffer));
    }
}
