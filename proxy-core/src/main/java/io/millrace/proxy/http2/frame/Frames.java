package io.millrace.proxy.http2.frame;

import io.netty.buffer.ByteBuf;

/**
 * The layout of HTTP/2 frames, with methods that write them (RFC 9113 s4.1, s6).
 *
 * <pre>
 * +---------------+----------+-----------+---------------------+
 * | length (24)   | type (8) | flags (8) | stream id (31 of 32)|
 * +---------------+----------+-----------+---------------------+
 * </pre>
 *
 * <p>Thread-safe: no state.
 */
public final class Frames {
    public static final int HEADER_BYTES = 9;
    /** Offset of the flags in a frame header. */
    public static final int FLAGS_OFFSET = 4;
    /** Payload limit of frames in both directions: the smallest allowed value of SETTINGS_MAX_FRAME_SIZE. */
    public static final int PAYLOAD_BYTES_MAX = 16384;

    public static final int WINDOW_MAX = Integer.MAX_VALUE;
    public static final int WINDOW_DEFAULT = 65535;

    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int PRIORITY = 2;
    public static final int RST_STREAM = 3;
    public static final int SETTINGS = 4;
    public static final int PUSH_PROMISE = 5;
    public static final int PING = 6;
    public static final int GOAWAY = 7;
    public static final int WINDOW_UPDATE = 8;
    public static final int CONTINUATION = 9;
    /** Frame type of RFC 9218 s7.1. */
    public static final int PRIORITY_UPDATE = 0x10;

    public static final int ACK = 1;
    public static final int END_STREAM = 1;
    public static final int END_HEADERS = 4;
    public static final int PADDED = 8;
    public static final int WITH_PRIORITY = 0x20;

    public static final int SETTING_HEADER_TABLE_SIZE = 1;
    public static final int SETTING_ENABLE_PUSH = 2;
    public static final int SETTING_MAX_CONCURRENT_STREAMS = 3;
    public static final int SETTING_INITIAL_WINDOW_SIZE = 4;
    public static final int SETTING_MAX_FRAME_SIZE = 5;
    public static final int SETTING_MAX_HEADER_LIST_SIZE = 6;
    /** Setting of RFC 8441 s3. */
    public static final int SETTING_ENABLE_CONNECT_PROTOCOL = 8;
    /** Setting of RFC 9218 s2.1. */
    public static final int SETTING_NO_RFC7540_PRIORITIES = 9;

    private Frames() {}

    /** Appends a frame header. */
    public static void header(ByteBuf out, int length, int type, int flags, int streamId) {
        out.writeMedium(length);
        out.writeShort(type << 8 | flags);
        out.writeInt(streamId);
    }

    /**
     * Appends a complete field block. Writes a HEADERS frame, then CONTINUATION frames if the block is longer
     * than a frame.
     */
    public static void headers(ByteBuf out, int streamId, byte[] block, int length, boolean endStream) {
        int first = Math.min(length, PAYLOAD_BYTES_MAX);
        int flags = (endStream ? END_STREAM : 0) | (first == length ? END_HEADERS : 0);
        header(out, first, HEADERS, flags, streamId);
        out.writeBytes(block, 0, first);
        for (int at = first; at < length; ) {
            int next = Math.min(length - at, PAYLOAD_BYTES_MAX);
            header(out, next, CONTINUATION, at + next == length ? END_HEADERS : 0, streamId);
            out.writeBytes(block, at, next);
            at += next;
        }
    }

    public static void rstStream(ByteBuf out, int streamId, ErrorCode code) {
        header(out, 4, RST_STREAM, 0, streamId);
        out.writeInt(code.code());
    }

    public static void windowUpdate(ByteBuf out, int streamId, int increment) {
        header(out, 4, WINDOW_UPDATE, 0, streamId);
        out.writeInt(increment);
    }

    public static void goAway(ByteBuf out, int lastStreamId, ErrorCode code) {
        header(out, 8, GOAWAY, 0, 0);
        out.writeInt(lastStreamId);
        out.writeInt(code.code());
    }

    public static void settingsAck(ByteBuf out) {
        header(out, 0, SETTINGS, ACK, 0);
    }

    public static void pingAck(ByteBuf out, long opaque) {
        header(out, 8, PING, ACK, 0);
        out.writeLong(opaque);
    }

    /** Appends one setting of a SETTINGS frame. */
    public static void setting(ByteBuf out, int identifier, int value) {
        out.writeShort(identifier);
        out.writeInt(value);
    }
}
