package io.millrace.system;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * HTTP/2 clients by prior knowledge, each with many concurrent requests, that obey GOAWAY (RFC 9113 s6.8). A request
 * above the last id that the server names is sent on the next connection; any other must be answered.
 *
 * <p>Thread-safe.
 */
final class Http2Load implements AutoCloseable {
    private static final int STREAMS = 20;
    private static final int WAIT_MILLIS = 30_000;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int ACK = 1;
    /** The first byte of a field block with the status 200 (RFC 7541 appendix A). */
    private static final int STATUS_200 = 0x88;

    private final int port;
    private final byte[] block;
    private final int contentLength;
    private final List<Thread> threads = new ArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final AtomicLong answers = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong retried = new AtomicLong();
    private volatile boolean stopped;
    private volatile boolean killing;

    /** Requests one path, whose response has this many bytes of content. */
    Http2Load(int port, String path, int contentLength) {
        this.port = port;
        this.contentLength = contentLength;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String field : List.of(":method", "GET", ":scheme", "http", ":authority", "test.example", ":path", path)) {
            if (field.startsWith(":")) {
                out.write(0);
            }
            out.write(field.length());
            out.writeBytes(field.getBytes(StandardCharsets.US_ASCII));
        }
        block = out.toByteArray();
    }

    void start(int clients) {
        for (int i = 0; i < clients; i++) {
            Thread thread = new Thread(this::run, "http2-load-" + i);
            thread.start();
            threads.add(thread);
        }
    }

    /** Announces that a worker is killed until {@link #killed}: its requests are lost, but no connection is refused. */
    void killing() {
        killing = true;
    }

    /** From now on faults count again. */
    void killed() {
        killing = false;
    }

    long connections() {
        return connections.get();
    }

    /** Waits until this many further responses have arrived, complete and correct. */
    void awaitMoreAnswers(long more) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
        for (long wanted = answers.get() + more; answers.get() < wanted && System.nanoTime() < end; ) {
            LockSupport.parkNanos(5_000_000);
        }
        if (System.nanoTime() >= end) {
            faults.add("fewer than " + more + " answers in " + WAIT_MILLIS + " ms");
        }
    }

    /** Ends the load. Returns the errors. */
    List<String> stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(WAIT_MILLIS);
        }
        return faults;
    }

    @Override
    public void close() throws IOException {
        try {
            stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public String toString() {
        return answers + " answers on " + connections + " connections, " + retried + " requests sent again";
    }

    private void run() {
        while (!stopped && faults.size() < 20) {
            try (Connection connection = new Connection()) {
                connections.incrementAndGet();
                connection.serve();
            } catch (ConnectException e) {
                faults.add("refused: " + e.getMessage());
            } catch (IOException e) {
                if (!killing) {
                    faults.add(e.toString());
                }
            }
        }
    }

    /** One connection. Confined to its thread. */
    private final class Connection implements AutoCloseable {
        private final Socket socket = new Socket();
        private final DataInputStream in;
        /** Received content by stream. */
        private final Map<Integer, Integer> open = new HashMap<>();

        private int nextId = 1;
        private int lastId = Integer.MAX_VALUE;
        private boolean ending;

        Connection() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(WAIT_MILLIS);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), WAIT_MILLIS);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            // SETTINGS_INITIAL_WINDOW_SIZE and the connection's window.
            out.writeBytes(frame(
                    SETTINGS,
                    0,
                    0,
                    ByteBuffer.allocate(6).putShort((short) 4).putInt(1 << 30).array()));
            out.writeBytes(frame(
                    WINDOW_UPDATE, 0, 0, ByteBuffer.allocate(4).putInt(1 << 30).array()));
            send(out.toByteArray());
        }

        private byte[] frame(int type, int flags, int streamId, byte... payload) {
            ByteBuffer bytes = ByteBuffer.allocate(9 + payload.length);
            bytes.put((byte) (payload.length >>> 16)).putShort((short) payload.length);
            bytes.put((byte) type).put((byte) flags).putInt(streamId).put(payload);
            return bytes.array();
        }

        private void send(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        void serve() throws IOException {
            int content = 0;
            while (true) {
                while (!stopped && !ending && open.size() < STREAMS) {
                    open.put(nextId, -1);
                    send(frame(HEADERS, END_STREAM | END_HEADERS, nextId, block));
                    nextId += 2;
                }
                if (open.isEmpty()) {
                    return;
                }
                int first = in.read();
                if (first < 0) {
                    throw new IOException("closed with " + open.keySet() + " unanswered, last id " + lastId);
                }
                int length = (first << 16) | in.readUnsignedShort();
                int type = in.readUnsignedByte();
                int flags = in.readUnsignedByte();
                int streamId = in.readInt();
                byte[] payload = new byte[length];
                in.readFully(payload);
                content += type == DATA ? length : 0;
                if (content > 1 << 29) {
                    send(frame(
                            WINDOW_UPDATE,
                            0,
                            0,
                            ByteBuffer.allocate(4).putInt(content).array()));
                    content = 0;
                }
                onFrame(type, flags, streamId, payload);
            }
        }

        private void onFrame(int type, int flags, int streamId, byte[] payload) throws IOException {
            switch (type) {
                case SETTINGS -> {
                    if ((flags & ACK) == 0) {
                        send(frame(SETTINGS, ACK, 0));
                    }
                }
                case GOAWAY -> {
                    ending = true;
                    lastId = ByteBuffer.wrap(payload).getInt();
                    if (ByteBuffer.wrap(payload).getInt(4) != 0) {
                        throw new IOException(
                                "GOAWAY with error " + ByteBuffer.wrap(payload).getInt(4));
                    }
                    int before = open.size();
                    open.keySet().removeIf(id -> id > lastId);
                    retried.addAndGet(before - open.size());
                }
                case RST_STREAM ->
                    throw new IOException(
                            "RST_STREAM " + ByteBuffer.wrap(payload).getInt());
                case HEADERS -> {
                    if ((payload[0] & 0xff) != STATUS_200) {
                        throw new IOException("another status than 200");
                    }
                    open.replace(streamId, 0);
                    endIfLast(flags, streamId);
                }
                case DATA -> {
                    open.computeIfPresent(streamId, (id, bytes) -> bytes + payload.length);
                    endIfLast(flags, streamId);
                }
                default -> {
                    // A client that only reads responses needs nothing here.
                }
            }
        }

        private void endIfLast(int flags, int streamId) throws IOException {
            if ((flags & END_STREAM) != 0) {
                Integer bytes = open.remove(streamId);
                if (bytes != null && bytes != contentLength) {
                    throw new IOException("a response of " + bytes + " bytes instead of " + contentLength);
                }
                answers.incrementAndGet();
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
