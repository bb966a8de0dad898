package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.hpack.HuffmanCode;
import io.millrace.proxy.http2.hpack.StaticTable;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An HTTP/2 client that sends the frames of a test. */
public final class Http2Client implements AutoCloseable {
    public static final int DATA = Frames.DATA;
    public static final int HEADERS = Frames.HEADERS;
    public static final int PRIORITY = Frames.PRIORITY;
    public static final int RST_STREAM = Frames.RST_STREAM;
    public static final int SETTINGS = Frames.SETTINGS;
    public static final int PING = Frames.PING;
    public static final int GOAWAY = Frames.GOAWAY;
    public static final int WINDOW_UPDATE = Frames.WINDOW_UPDATE;
    public static final int CONTINUATION = Frames.CONTINUATION;
    public static final int PRIORITY_UPDATE = Frames.PRIORITY_UPDATE;
    public static final int END_STREAM = Frames.END_STREAM;
    public static final int ACK = Frames.ACK;
    public static final int END_HEADERS = Frames.END_HEADERS;

    private static final int WAIT_MILLIS = 20_000;
    private static final int HEADER_TABLE = 4096;

    /** A received frame. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Frame(int type, int flags, int streamId, byte[] payload) {
        /** Returns the name of the error code of RST_STREAM or GOAWAY. */
        public String error() {
            int code = ByteBuffer.wrap(payload).getInt(type == GOAWAY ? 4 : 0);
            for (ErrorCode known : ErrorCode.values()) {
                if (known.code() == code) {
                    return known.name();
                }
            }
            return "error " + code;
        }
    }

    /** A whole response. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Response(int status, String fields, byte[] content, String trailers) {
        public String text() {
            return new String(content, StandardCharsets.ISO_8859_1);
        }

        /** Returns the first value of a field; null if there is none. */
        public String field(String name) {
            for (String line : fields.split("\n", -1)) {
                if (line.startsWith(name.toLowerCase(Locale.ROOT) + ": ")) {
                    return line.substring(name.length() + 2);
                }
            }
            return null;
        }
    }

    private final Socket socket;
    private final DataInputStream in;

    /** Connects without TLS, and sends preface and settings. */
    public Http2Client(InetSocketAddress address) throws IOException {
        this(connected(address));
    }

    /** Uses a connected socket, for TLS. */
    public Http2Client(Socket connected) throws IOException {
        socket = connected;
        socket.setSoTimeout(WAIT_MILLIS);
        InputStream stream = socket.getInputStream();
        in = new DataInputStream(new java.io.BufferedInputStream(stream, 64 * 1024));
        send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0, new byte[0]);
    }

    private static Socket connected(InetSocketAddress address) throws IOException {
        Socket fresh = new Socket();
        fresh.setTcpNoDelay(true);
        fresh.connect(address, WAIT_MILLIS);
        return fresh;
    }

    public Http2Client send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    public Http2Client frame(int type, int flags, int streamId, byte[] payload) throws IOException {
        return send(bytes(type, flags, streamId, payload));
    }

    /** A frame's bytes. */
    public static byte[] bytes(int type, int flags, int streamId, byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
        frame.put((byte) (payload.length >>> 16)).putShort((short) payload.length);
        frame.put((byte) type).put((byte) flags).putInt(streamId).put(payload);
        return frame.array();
    }

    /** Sends a request of alternating names and values. */
    public Http2Client headers(int streamId, boolean endStream, String... fields) throws IOException {
        return frame(HEADERS, END_HEADERS | (endStream ? END_STREAM : 0), streamId, block(fields));
    }

    /** Sends a GET without further fields. */
    public Http2Client get(int streamId, String path, String... more) throws IOException {
        return headers(streamId, true, request("GET", path, more));
    }

    /** Returns the fields of a request. */
    public static String[] request(String method, String path, String... more) {
        List<String> all = new ArrayList<>(
                List.of(":method", method, ":scheme", "http", ":authority", "test.example", ":path", path));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    public Http2Client data(int streamId, boolean endStream, byte[] content) throws IOException {
        return frame(DATA, endStream ? END_STREAM : 0, streamId, content);
    }

    /** Returns four bytes of payload. */
    public static byte[] number(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    /** One setting. */
    public static byte[] setting(int identifier, int value) {
        return ByteBuffer.allocate(6).putShort((short) identifier).putInt(value).array();
    }

    /** Returns a field block without tables and Huffman code; characters are ISO-8859-1. */
    public static byte[] block(String... fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < fields.length; i += 2) {
            out.write(0);
            string(out, fields[i]);
            string(out, fields[i + 1]);
        }
        return out.toByteArray();
    }

    private static void string(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        int rest = bytes.length - 127;
        out.write(Math.min(bytes.length, 127));
        if (rest >= 0) {
            while (rest >= 128) {
                out.write((rest & 0x7f) | 0x80);
                rest >>>= 7;
            }
            out.write(rest);
        }
        out.writeBytes(bytes);
    }

    /** Returns the next frame; null after the end of the connection. */
    public Frame read() throws IOException {
        try {
            int first = in.readInt();
            int length = first >>> 8;
            int flags = in.readUnsignedByte();
            int streamId = in.readInt();
            byte[] payload = new byte[length];
            in.readFully(payload);
            return new Frame(first & 0xff, flags, streamId, payload);
        } catch (EOFException | SocketException e) {
            return null;
        }
    }

    /** Returns the next frame of a type, and skips others. */
    public Frame await(int type) throws IOException {
        Frame frame = read();
        while (frame != null && frame.type() != type) {
            frame = read();
        }
        if (frame == null) {
            throw new IOException("the connection ended before a frame of type " + type);
        }
        return frame;
    }

    /**
     * Returns the server's reaction to a violation: the error and its scope, a status, or the end of the connection.
     */
    public String outcome() throws IOException {
        for (Frame frame = read(); frame != null; frame = read()) {
            switch (frame.type()) {
                case RST_STREAM -> {
                    return "stream " + frame.error();
                }
                case GOAWAY -> {
                    return "connection " + frame.error();
                }
                case HEADERS -> {
                    return "status " + status(decode(frame.payload()));
                }
                default -> {
                    // Settings and acknowledgements are skipped.
                }
            }
        }
        return "end";
    }

    /** Returns the whole response of a stream. Skips frames of other streams, and keeps the windows open. */
    public Response response(int streamId) throws IOException {
        String fields = "";
        String trailers = "";
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        while (true) {
            Frame frame = read();
            if (frame == null || (frame.type() == GOAWAY && !frame.error().equals("NO_ERROR"))) {
                throw new IOException(
                        "the connection ended within a response: " + (frame == null ? "" : frame.error()));
            }
            if (frame.type() == DATA && frame.payload().length > 0) {
                frame(WINDOW_UPDATE, 0, 0, number(frame.payload().length));
            }
            if (frame.streamId() != streamId) {
                continue;
            }
            if (frame.type() == RST_STREAM) {
                throw new IOException("reset: " + frame.error());
            }
            boolean last = (frame.flags() & END_STREAM) != 0 && (frame.type() == DATA || frame.type() == HEADERS);
            if (frame.type() == HEADERS) {
                String block = decode(frame.payload());
                if (fields.isEmpty()) {
                    // Interim responses are tested elsewhere.
                    fields = status(block) < 200 ? "" : block;
                } else {
                    trailers = block;
                }
            } else if (frame.type() == DATA) {
                content.writeBytes(frame.payload());
                if (!last && frame.payload().length > 0) {
                    frame(WINDOW_UPDATE, 0, streamId, number(frame.payload().length));
                }
            }
            if (last) {
                return new Response(status(fields), fields, content.toByteArray(), trailers);
            }
        }
    }

    /** Returns the status in a decoded block. */
    public static int status(String block) {
        return Integer.parseInt(block.substring(9, 12));
    }

    /** Decodes a block of this server, which uses no dynamic table, to lines of names and values. */
    public static String decode(byte[] block) {
        StringBuilder out = new StringBuilder();
        ByteBuffer in = ByteBuffer.wrap(block);
        while (in.hasRemaining()) {
            int b = in.get(in.position()) & 0xff;
            if ((b & 0x80) != 0) {
                int index = integer(in, 7);
                line(out, StaticTable.name(index), StaticTable.value(index));
            } else if ((b & 0x20) != 0 && (b & 0x40) == 0) {
                integer(in, 5);
            } else {
                int index = integer(in, 4);
                byte[] name = index == 0 ? text(in) : StaticTable.name(index);
                line(out, name, text(in));
            }
        }
        return out.toString();
    }

    private static void line(StringBuilder out, byte[] name, byte[] value) {
        out.append(new String(name, StandardCharsets.ISO_8859_1)).append(": ");
        out.append(new String(value, StandardCharsets.ISO_8859_1)).append('\n');
    }

    private static int integer(ByteBuffer in, int prefix) {
        int max = (1 << prefix) - 1;
        int value = in.get() & max;
        int shift = 0;
        while (value >= max) {
            int b = in.get();
            value += (b & 0x7f) << shift;
            shift += 7;
            if (b >= 0) {
                break;
            }
        }
        return value;
    }

    private static byte[] text(ByteBuffer in) {
        boolean huffman = (in.get(in.position()) & 0x80) != 0;
        byte[] bytes = new byte[integer(in, 7)];
        in.get(bytes);
        if (!huffman) {
            return bytes;
        }
        byte[] decoded = new byte[HEADER_TABLE + HuffmanCode.decodedMax(bytes.length)];
        int end = HuffmanCode.decode(bytes, 0, bytes.length, decoded, 0);
        if (end == HuffmanCode.MALFORMED) {
            throw new IllegalStateException("the server sent no Huffman code");
        }
        return java.util.Arrays.copyOf(decoded, end);
    }

    /** Ends the connection with a reset. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
