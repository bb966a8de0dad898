package io.millrace.proxy.http2.frame;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits the bytes of a peer into frames, and checks each frame (RFC 9113 s4, s6).
 *
 * <p>Passes on the payload of DATA frames as it arrives. Passes on all other frames when they are complete.
 *
 * <p>Confined to one event loop.
 */
public final class FrameReader {
    /** Limit of CONTINUATION frames in one field block that are shorter than the largest frame size. */
    private static final int SMALL_FRAMES_MAX = 16;

    private static final byte[] NOTHING = {};

    /** Receives the frames. Buffer positions refer to the buffer being read. */
    public interface Receiver {
        /** Begins a DATA frame. {@code length} includes padding and counts for flow control. */
        void onData(int streamId, int length, boolean endStream) throws Http2Exception;

        /** Receives content of the current DATA frame. The buffer is borrowed. */
        void onContent(int streamId, ByteBuf in, int index, int length) throws Http2Exception;

        /** Ends the current DATA frame. */
        void onDataEnd(int streamId, boolean endStream) throws Http2Exception;

        /**
         * Receives a complete field block. The block is borrowed.
         *
         * @param error an error of the stream that was already found; null for none
         */
        void onHeaders(int streamId, byte[] block, int length, boolean endStream, @Nullable Http2Exception error)
                throws Http2Exception;

        /** Receives a RST_STREAM frame. */
        void onReset(int streamId, long code) throws Http2Exception;

        /** Receives one setting of a SETTINGS frame. {@link #onSettingsEnd} follows the last setting of a frame. */
        void onSetting(int identifier, long value) throws Http2Exception;

        /** Ends a SETTINGS frame, which must be acknowledged. */
        void onSettingsEnd() throws Http2Exception;

        /** Receives the acknowledgement of SETTINGS: the peer has applied the settings that this proxy sent. */
        void onSettingsAcknowledged() throws Http2Exception;

        /** Receives a PING frame, which must be answered. */
        void onPing(long opaque) throws Http2Exception;

        /** Receives a WINDOW_UPDATE frame for a stream, or for the connection if {@code streamId} is 0. */
        void onWindowUpdate(int streamId, int increment) throws Http2Exception;

        /**
         * Receives a GOAWAY frame: the peer accepts no new streams but continues existing ones.
         *
         * @param lastStreamId the last stream begun by this proxy that the peer has processed or may process
         */
        void onGoAway(int lastStreamId, long code) throws Http2Exception;

        /** Receives a PRIORITY_UPDATE frame (RFC 9218 s7.1). */
        void onPriorityUpdate(int streamId, ByteBuf in, int index, int length) throws Http2Exception;

        /** Receives a frame that needs no action: an unknown type, PRIORITY, or the acknowledgement of a PING. */
        void onIgnoredFrame() throws Http2Exception;

        /** Receives an error of one stream, which the reader found. */
        void onStreamError(Http2Exception error) throws Http2Exception;
    }

    private final Receiver receiver;
    private final BlockBuffer block;

    private boolean anyFrame;
    /** True within a DATA frame, which the next fields describe. */
    private boolean inData;

    /** True if the rest of the DATA frame is ignored, because its stream has failed. */
    private boolean dataDropped;

    private int dataStream;
    private int dataLeft;
    private int paddingLeft;
    private boolean dataEndsStream;

    /** The stream of the current field block; 0 for none. */
    private int blockStream;

    private boolean blockEndsStream;
    private byte[] blockBytes = NOTHING;
    private int blockLength;
    private int smallFrames;
    private @Nullable Http2Exception blockError;

    /** A buffer for a field block that fits in one frame. One instance per event loop. */
    public static final class BlockBuffer {
        private final byte[] bytes = new byte[Frames.PAYLOAD_BYTES_MAX];
    }

    /** Creates the reader of one connection. The buffer is shared by all readers of an event loop. */
    public FrameReader(Receiver receiver, BlockBuffer block) {
        this.receiver = receiver;
        this.block = block;
    }

    /** Returns true if the peer has sent a part of a field block. */
    public boolean isInBlock() {
        return blockStream != 0;
    }

    /** Returns true if the peer has sent a part of a DATA frame. */
    public boolean isInData() {
        return inData;
    }

    /**
     * Reads the next frame, or a part of a DATA frame.
     *
     * @param in borrowed; the reader index moves past the bytes read
     * @param blockBytesMax limit of a field block in encoded form
     * @return false if more bytes are needed
     * @throws Http2Exception for an error of the connection
     */
    public boolean next(ByteBuf in, int blockBytesMax) throws Http2Exception {
        if (inData) {
            return content(in);
        }
        if (in.readableBytes() < Frames.HEADER_BYTES) {
            return false;
        }
        int at = in.readerIndex();
        int length = in.getUnsignedMedium(at);
        int type = in.getUnsignedByte(at + 3);
        int flags = in.getUnsignedByte(at + 4);
        int streamId = in.getInt(at + 5) & Integer.MAX_VALUE;
        check(length, type, streamId);
        // Content is passed on as it arrives, so only the padding length of a DATA frame must have arrived.
        int payloadBytesNeeded = type == Frames.DATA ? ((flags & Frames.PADDED) == 0 || length == 0 ? 0 : 1) : length;
        if (in.readableBytes() < Frames.HEADER_BYTES + payloadBytesNeeded) {
            return false;
        }
        anyFrame = true;
        in.skipBytes(Frames.HEADER_BYTES);
        int end = in.readerIndex() + payloadBytesNeeded;
        try {
            if (type == Frames.DATA) {
                beginData(in, length, flags, streamId);
            } else {
                frame(in, length, type, flags, streamId, blockBytesMax);
            }
        } catch (Http2Exception e) {
            if (e.streamId() == Http2Exception.CONNECTION) {
                throw e;
            }
            dataDropped = true;
            receiver.onStreamError(e);
        } finally {
            in.readerIndex(end);
        }
        return true;
    }

    private void check(int length, int type, int streamId) throws Http2Exception {
        if (length > Frames.PAYLOAD_BYTES_MAX) {
            throw size("a frame longer than SETTINGS_MAX_FRAME_SIZE");
        }
        if (!anyFrame && type != Frames.SETTINGS) {
            throw protocol("the first frame is not SETTINGS");
        }
        if (blockStream != 0 && (type != Frames.CONTINUATION || streamId != blockStream)) {
            throw protocol("another frame within a field block");
        }
    }

    private void beginData(ByteBuf in, int length, int flags, int streamId) throws Http2Exception {
        if (streamId == 0) {
            throw protocol("DATA on stream 0");
        }
        boolean padded = (flags & Frames.PADDED) != 0;
        int padding = 0;
        if (padded) {
            if (length == 0) {
                throw size("DATA without its padding length");
            }
            padding = in.getUnsignedByte(in.readerIndex());
            if (padding >= length) {
                throw protocol("padding longer than its frame");
            }
        }
        inData = true;
        dataDropped = false;
        dataStream = streamId;
        dataEndsStream = (flags & Frames.END_STREAM) != 0;
        paddingLeft = padding;
        dataLeft = length - padding - (padded ? 1 : 0);
        receiver.onData(streamId, length, dataEndsStream);
    }

    private boolean content(ByteBuf in) throws Http2Exception {
        int taken = Math.min(dataLeft, in.readableBytes());
        if (taken > 0) {
            int index = in.readerIndex();
            in.skipBytes(taken);
            dataLeft -= taken;
            if (!dataDropped) {
                try {
                    receiver.onContent(dataStream, in, index, taken);
                } catch (Http2Exception e) {
                    streamError(e);
                }
            }
        }
        int skipped = Math.min(paddingLeft, in.readableBytes());
        in.skipBytes(skipped);
        paddingLeft -= skipped;
        if (dataLeft > 0 || paddingLeft > 0) {
            return false;
        }
        inData = false;
        if (!dataDropped) {
            try {
                receiver.onDataEnd(dataStream, dataEndsStream);
            } catch (Http2Exception e) {
                streamError(e);
            }
        }
        return true;
    }

    private void streamError(Http2Exception e) throws Http2Exception {
        if (e.streamId() == Http2Exception.CONNECTION) {
            throw e;
        }
        dataDropped = true;
        receiver.onStreamError(e);
    }

    private void frame(ByteBuf in, int length, int type, int flags, int streamId, int blockBytesMax)
            throws Http2Exception {
        int at = in.readerIndex();
        switch (type) {
            case Frames.HEADERS -> headers(in, at, length, flags, streamId, blockBytesMax);
            case Frames.CONTINUATION -> continuation(in, at, length, flags, streamId, blockBytesMax);
            case Frames.PRIORITY -> priority(in, at, length, streamId);
            case Frames.RST_STREAM -> {
                requireStream(streamId, "RST_STREAM on stream 0");
                requireLength(length, 4, "RST_STREAM");
                receiver.onReset(streamId, in.getUnsignedInt(at));
            }
            case Frames.SETTINGS -> settings(in, at, length, flags, streamId);
            case Frames.PUSH_PROMISE -> throw protocol("PUSH_PROMISE although push is disabled");
            case Frames.PING -> ping(in, at, length, flags, streamId);
            case Frames.GOAWAY -> {
                requireConnection(streamId, "GOAWAY on a stream");
                if (length < 8) {
                    throw size("GOAWAY with an invalid length");
                }
                receiver.onGoAway(in.getInt(at) & Integer.MAX_VALUE, in.getUnsignedInt(at + 4));
            }
            case Frames.WINDOW_UPDATE -> windowUpdate(in, at, length, streamId);
            case Frames.PRIORITY_UPDATE -> {
                requireConnection(streamId, "PRIORITY_UPDATE on a stream");
                if (length < 4) {
                    throw size("PRIORITY_UPDATE with an invalid length");
                }
                int prioritized = in.getInt(at) & Integer.MAX_VALUE;
                requireStream(prioritized, "PRIORITY_UPDATE for stream 0");
                receiver.onPriorityUpdate(prioritized, in, at + 4, length - 4);
            }
            default -> receiver.onIgnoredFrame();
        }
    }

    private void headers(ByteBuf in, int at, int length, int flags, int streamId, int blockBytesMax)
            throws Http2Exception {
        requireStream(streamId, "HEADERS on stream 0");
        int from = at;
        int bytesLeft = length;
        int padding = 0;
        if ((flags & Frames.PADDED) != 0) {
            if (bytesLeft < 1) {
                throw size("HEADERS without its padding length");
            }
            padding = in.getUnsignedByte(from);
            from++;
            bytesLeft--;
        }
        Http2Exception error = null;
        if ((flags & Frames.WITH_PRIORITY) != 0) {
            if (bytesLeft < 5) {
                throw size("HEADERS without its priority fields");
            }
            if ((in.getInt(from) & Integer.MAX_VALUE) == streamId) {
                error = Http2Exception.stream(
                        streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "a stream that depends on itself");
            }
            from += 5;
            bytesLeft -= 5;
        }
        if (padding > bytesLeft) {
            throw protocol("padding longer than its frame");
        }
        bytesLeft -= padding;
        boolean endsStream = (flags & Frames.END_STREAM) != 0;
        if ((flags & Frames.END_HEADERS) != 0) {
            in.getBytes(from, block.bytes, 0, bytesLeft);
            receiver.onHeaders(streamId, block.bytes, bytesLeft, endsStream, error);
            return;
        }
        blockStream = streamId;
        blockEndsStream = endsStream;
        blockError = error;
        blockLength = 0;
        smallFrames = 0;
        append(in, from, bytesLeft, blockBytesMax);
    }

    private void continuation(ByteBuf in, int at, int length, int flags, int streamId, int blockBytesMax)
            throws Http2Exception {
        if (blockStream == 0) {
            throw protocol("CONTINUATION without HEADERS");
        }
        if (length < Frames.PAYLOAD_BYTES_MAX && ++smallFrames > SMALL_FRAMES_MAX) {
            throw Http2Exception.connection(
                    ErrorCode.ENHANCE_YOUR_CALM, Http2Fault.CONTINUATION, "too many frames in a field block");
        }
        append(in, at, length, blockBytesMax);
        if ((flags & Frames.END_HEADERS) != 0) {
            byte[] bytes = blockBytes;
            blockBytes = NOTHING;
            blockStream = 0;
            receiver.onHeaders(streamId, bytes, blockLength, blockEndsStream, blockError);
        }
    }

    private void append(ByteBuf in, int from, int length, int blockBytesMax) throws Http2Exception {
        if (blockLength + length > blockBytesMax) {
            throw Http2Exception.connection(
                    ErrorCode.ENHANCE_YOUR_CALM, Http2Fault.CONTINUATION, "a field block longer than the limit");
        }
        if (blockLength + length > blockBytes.length) {
            blockBytes = Arrays.copyOf(blockBytes, Math.max(blockLength + length, 2 * blockBytes.length));
        }
        in.getBytes(from, blockBytes, blockLength, length);
        blockLength += length;
    }

    private void priority(ByteBuf in, int at, int length, int streamId) throws Http2Exception {
        requireStream(streamId, "PRIORITY on stream 0");
        if (length != 5) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.FRAME_SIZE_ERROR, Http2Fault.FRAME_SIZE, "PRIORITY with an invalid length");
        }
        if ((in.getInt(at) & Integer.MAX_VALUE) == streamId) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "a stream that depends on itself");
        }
        receiver.onIgnoredFrame();
    }

    private void settings(ByteBuf in, int at, int length, int flags, int streamId) throws Http2Exception {
        requireConnection(streamId, "SETTINGS on a stream");
        if ((flags & Frames.ACK) != 0) {
            if (length != 0) {
                throw size("an acknowledgement of SETTINGS with a payload");
            }
            receiver.onSettingsAcknowledged();
            return;
        }
        if (length % 6 != 0) {
            throw size("SETTINGS with an invalid length");
        }
        for (int i = at; i < at + length; i += 6) {
            receiver.onSetting(in.getUnsignedShort(i), in.getUnsignedInt(i + 2));
        }
        receiver.onSettingsEnd();
    }

    private void ping(ByteBuf in, int at, int length, int flags, int streamId) throws Http2Exception {
        requireConnection(streamId, "PING on a stream");
        requireLength(length, 8, "PING");
        if ((flags & Frames.ACK) == 0) {
            receiver.onPing(in.getLong(at));
        } else {
            receiver.onIgnoredFrame();
        }
    }

    private void windowUpdate(ByteBuf in, int at, int length, int streamId) throws Http2Exception {
        requireLength(length, 4, "WINDOW_UPDATE");
        int increment = in.getInt(at) & Integer.MAX_VALUE;
        if (increment == 0) {
            String what = "WINDOW_UPDATE with an increment of 0";
            throw streamId == 0
                    ? protocol(what)
                    : Http2Exception.stream(streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, what);
        }
        receiver.onWindowUpdate(streamId, increment);
    }

    private static void requireStream(int streamId, String problem) throws Http2Exception {
        if (streamId == 0) {
            throw protocol(problem);
        }
    }

    private static void requireConnection(int streamId, String problem) throws Http2Exception {
        if (streamId != 0) {
            throw protocol(problem);
        }
    }

    private static void requireLength(int actual, int expected, String frame) throws Http2Exception {
        if (actual != expected) {
            throw size(frame.concat(" with an invalid length"));
        }
    }

    private static Http2Exception protocol(String what) {
        return Http2Exception.connection(ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, what);
    }

    private static Http2Exception size(String what) {
        return Http2Exception.connection(ErrorCode.FRAME_SIZE_ERROR, Http2Fault.FRAME_SIZE, what);
    }
}
