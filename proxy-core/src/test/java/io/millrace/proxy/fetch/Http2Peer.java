package io.millrace.proxy.fetch;

import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** The origin's end of one HTTP/2 connection, with raw frames. */
final class Http2Peer {
    private static final int PREFACE_BYTES = 24;

    /** A received frame. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Frame(int type, int flags, int stream, byte[] payload) {
        boolean endsStream() {
            return (flags & Frames.END_STREAM) != 0;
        }

        int number() {
            return ByteBuffer.wrap(payload).getInt() & Integer.MAX_VALUE;
        }
    }

    /** The head of a request. */
    record Request(int stream, Map<String, String> fields, boolean endsStream) {
        String path() {
            return fields.get(":path");
        }
    }

    /** Collects the fields of a block. */
    private static final class Fields implements HpackDecoder.Receiver {
        final Map<String, String> fields = new LinkedHashMap<>();

        @Override
        public void add(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
            fields.merge(
                    new String(name, nameStart, nameLength, StandardCharsets.ISO_8859_1),
                    new String(value, valueStart, valueLength, StandardCharsets.ISO_8859_1),
                    (first, second) -> first + ", " + second);
        }

        @Override
        public byte[] text(int size) {
            return new byte[size];
        }
    }

    private final ScriptedOrigin.Peer peer;
    private final DataInputStream in;
    private final HpackDecoder decoder = new HpackDecoder();
    /** Values of the proxy's SETTINGS, by identifier. */
    final Map<Integer, Integer> settings = new LinkedHashMap<>();

    private Http2Peer(ScriptedOrigin.Peer peer) throws IOException {
        this.peer = peer;
        in = new DataInputStream(peer.socket().getInputStream());
    }

    /** Reads the preface and sends settings: alternating identifiers and values. */
    static Http2Peer begin(ScriptedOrigin.Peer peer, int... settings) throws IOException {
        Http2Peer made = new Http2Peer(peer);
        String preface = new String(made.in.readNBytes(PREFACE_BYTES), StandardCharsets.US_ASCII);
        if (!preface.equals("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) {
            throw new AssertionError("preface: " + preface);
        }
        made.settings(settings);
        return made;
    }

    /** Like {@link #begin}, after the preface was read. */
    static Http2Peer afterPreface(ScriptedOrigin.Peer peer) throws IOException {
        Http2Peer made = new Http2Peer(peer);
        made.settings();
        return made;
    }

    void settings(int... settings) throws IOException {
        ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
        for (int i = 0; i < settings.length; i += 2) {
            payload.putShort((short) settings[i]).putInt(settings[i + 1]);
        }
        frame(Frames.SETTINGS, 0, 0, payload.array());
    }

    /** Returns true if bytes of the proxy are available. */
    boolean isReadable() throws IOException {
        return in.available() > 0;
    }

    /** Returns the next frame of any type; null at the end of the connection. */
    Frame next() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        int length = first << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt() & Integer.MAX_VALUE;
        byte[] payload = in.readNBytes(length);
        if (type == Frames.SETTINGS && (flags & Frames.ACK) == 0) {
            for (ByteBuffer each = ByteBuffer.wrap(payload); each.hasRemaining(); ) {
                settings.put((int) each.getShort(), each.getInt());
            }
            frame(Frames.SETTINGS, Frames.ACK, 0, new byte[0]);
        }
        return new Frame(type, flags, stream, payload);
    }

    /** Returns the next frame of that type and skips others; null at the end of the connection. */
    Frame next(int type) throws IOException {
        Frame frame;
        while ((frame = next()) != null && frame.type() != type) {
            // The frame is skipped.
        }
        return frame;
    }

    /** Returns the next request; null at the end of the connection. */
    Request nextRequest() throws IOException, Http2Exception {
        Frame frame = next(Frames.HEADERS);
        return frame == null ? null : request(frame);
    }

    Request request(Frame headers) throws Http2Exception {
        Fields fields = new Fields();
        decoder.decode(headers.payload(), 0, headers.payload().length, fields);
        return new Request(headers.stream(), fields.fields, headers.endsStream());
    }

    /** Returns the content of a stream up to its end. */
    String content(int stream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Frame frame;
        do {
            frame = next(Frames.DATA);
            if (frame.stream() == stream) {
                all.writeBytes(frame.payload());
            }
        } while (frame.stream() != stream || !frame.endsStream());
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(Frames.HEADER_BYTES + payload.length);
        frame.putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload);
        peer.send(frame.array());
    }

    /** Sends a field block of alternating names and values, as literals. */
    void headers(int stream, boolean endStream, String... fields) throws IOException {
        int flags = Frames.END_HEADERS | (endStream ? Frames.END_STREAM : 0);
        frame(Frames.HEADERS, flags, stream, block(fields));
    }

    static byte[] block(String... fields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (int i = 0; i < fields.length; i += 2) {
            block.write(0);
            string(fields[i], block);
            string(fields[i + 1], block);
        }
        return block.toByteArray();
    }

    private static void string(String text, ByteArrayOutputStream to) {
        int rest = text.length() - 127;
        to.write(Math.min(text.length(), 127));
        if (rest >= 0) {
            for (; rest >= 128; rest >>>= 7) {
                to.write((rest & 127) | 128);
            }
            to.write(rest);
        }
        to.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    void data(int stream, String content, boolean endStream) throws IOException {
        frame(Frames.DATA, endStream ? Frames.END_STREAM : 0, stream, content.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** A whole response. */
    void respond(int stream, String content) throws IOException {
        headers(stream, false, ":status", "200", "content-length", String.valueOf(content.length()));
        data(stream, content, true);
    }

    void reset(int stream, int code) throws IOException {
        frame(Frames.RST_STREAM, 0, stream, ByteBuffer.allocate(4).putInt(code).array());
    }

    void goAway(int lastStream, int code) throws IOException {
        frame(
                Frames.GOAWAY,
                0,
                0,
                ByteBuffer.allocate(8).putInt(lastStream).putInt(code).array());
    }

    void windowUpdate(int stream, int increment) throws IOException {
        frame(
                Frames.WINDOW_UPDATE,
                0,
                stream,
                ByteBuffer.allocate(4).putInt(increment).array());
    }

    /** Answers every request with its path, until the connection ends. */
    void echo() throws IOException, Http2Exception {
        Request request;
        while ((request = nextRequest()) != null) {
            if (!request.endsStream()) {
                content(request.stream());
            }
            respond(request.stream(), request.path());
        }
    }
}
