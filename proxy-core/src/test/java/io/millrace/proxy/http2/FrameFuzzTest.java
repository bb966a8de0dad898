package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.proxy.FuzzInputs;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Fuzz test with arbitrary bytes after a client's preface. The reader throws only its own exception, reports the same
 * events wherever the bytes are split, and keeps each field block within its limit.
 */
class FrameFuzzTest {
    private static final int LENGTH_MAX = 8192;
    /** Limit of tested positions in a long input; a short one is split at all positions. */
    private static final int CUTS_MAX = 300;

    private static final int BLOCK_BYTES_MAX = 1024;

    @FuzzTest(maxDuration = "30s")
    void readsTheSameHoweverItIsCut(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            check(bytes, 4);
        }
    }

    /** Runs the stored inputs, split at every position. */
    @TestFactory
    Stream<DynamicTest> keptInputsReadTheSameCutAnywhere() throws IOException {
        return FuzzInputs.of(getClass(), "readsTheSameHoweverItIsCut").entrySet().stream()
                .map(input -> DynamicTest.dynamicTest(input.getKey(), () -> check(input.getValue(), CUTS_MAX)));
    }

    private static void check(byte[] bytes, int cutsMax) {
        String whole = read(bytes, bytes.length);
        int step = Math.max(1, bytes.length / cutsMax);
        for (int cut = 1; cut < bytes.length; cut += step) {
            assertEquals(whole, read(bytes, cut), "cut");
        }
        assertEquals(whole, read(bytes, 1), "byte by byte");
    }

    /**
     * Returns the events of a reader that receives the bytes up to the position and then the rest; with 1, each byte
     * separately.
     */
    private static String read(byte[] bytes, int cut) {
        Transcript transcript = new Transcript();
        FrameReader reader = new FrameReader(transcript, new FrameReader.BlockBuffer());
        ByteBuf in = Unpooled.buffer(bytes.length + 1);
        try {
            for (int at = 0; at < bytes.length; ) {
                int next = cut == 1 ? at + 1 : at < cut ? cut : bytes.length;
                in.writeBytes(bytes, at, next - at);
                at = next;
                int before = -1;
                while (reader.next(in, BLOCK_BYTES_MAX)) {
                    assertTrue(in.readerIndex() >= before, "the reader goes backwards");
                    before = in.readerIndex();
                }
            }
            transcript.events.add("rest " + reader.isInBlock() + reader.isInData());
        } catch (Http2Exception e) {
            assertEquals(Http2Exception.CONNECTION, e.streamId(), "an error of a stream left the reader");
            transcript.events.add("end " + e.code());
        } finally {
            in.release();
        }
        return transcript.text();
    }

    /** Events in order; content in pieces is one event. */
    private static final class Transcript implements FrameReader.Receiver {
        private final List<String> events = new ArrayList<>();
        private final StringBuilder content = new StringBuilder();
        private long expected;
        private long received;

        private String text() {
            return String.join("\n", events) + "\n" + content;
        }

        @Override
        public void onData(int streamId, int length, boolean endStream) throws Http2Exception {
            events.add("data " + streamId + " " + length + endStream);
            content.setLength(0);
            expected = length;
            received = 0;
            // The receiver refuses some frames, like that of a connection, before and within their content.
            if (streamId % 3 == 0) {
                throw Http2Exception.stream(streamId, ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "over");
            }
        }

        @Override
        public void onContent(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
            received += length;
            assertTrue(length > 0 && received <= expected, "more content than the frame has");
            byte[] bytes = new byte[length];
            in.getBytes(index, bytes);
            content.append(HexFormat.of().formatHex(bytes));
        }

        @Override
        public void onDataEnd(int streamId, boolean endStream) throws Http2Exception {
            events.add("content " + content + " " + endStream);
            content.setLength(0);
            if (streamId % 5 == 0) {
                throw Http2Exception.stream(streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "length");
            }
        }

        @Override
        public void onHeaders(
                int streamId, byte[] block, int length, boolean endStream, @Nullable Http2Exception error) {
            assertTrue(length <= Math.max(BLOCK_BYTES_MAX, Frames.PAYLOAD_BYTES_MAX), "a block over its limit");
            events.add("headers " + streamId + " " + HexFormat.of().formatHex(Arrays.copyOf(block, length)) + endStream
                    + (error == null ? "" : error.code()));
        }

        @Override
        public void onReset(int streamId, long code) {
            events.add("reset " + streamId + " " + code);
        }

        @Override
        public void onSetting(int identifier, long value) {
            events.add("setting " + identifier + " " + value);
        }

        @Override
        public void onSettingsEnd() {
            events.add("settings");
        }

        @Override
        public void onSettingsAcknowledged() {
            events.add("acknowledged");
        }

        @Override
        public void onPing(long opaque) {
            events.add("ping " + opaque);
        }

        @Override
        public void onWindowUpdate(int streamId, int increment) {
            assertTrue(increment > 0, "no increment");
            events.add("window " + streamId + " " + increment);
        }

        @Override
        public void onGoAway(int lastStreamId, long code) {
            events.add("goaway");
        }

        @Override
        public void onPriorityUpdate(int streamId, ByteBuf in, int index, int length) {
            StreamPriority priority = new StreamPriority();
            priority.read(in, index, length);
            assertTrue(priority.urgency() >= 0 && priority.urgency() < StreamPriority.URGENCIES, "an urgency");
            events.add("priority " + streamId + " " + priority.urgency() + priority.isIncremental());
        }

        @Override
        public void onIgnoredFrame() {
            events.add("idle");
        }

        @Override
        public void onStreamError(Http2Exception error) {
            events.add("error " + error.streamId() + " " + error.code());
        }
    }
}
