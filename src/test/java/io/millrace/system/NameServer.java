package io.millrace.system;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A name server on loopback, over UDP and TCP. The first label of a name selects an invalid behaviour: {@code silent},
 * {@code unknown}, {@code refused}, {@code garbage}, {@code huge} (2000 addresses, over TCP), {@code spoofed} (a
 * foreign answer before its own), {@code slow} (until {@link #release}). Any other name is 127.0.0.1 at once. Service
 * records are those of {@link #service}.
 */
final class NameServer implements AutoCloseable {
    private static final int HEADER_BYTES = 12;
    private static final int WAIT_SECONDS = 20;
    private static final int NXDOMAIN = 3;
    private static final int REFUSED = 5;
    private static final int HUGE = 2000;
    private static final int A = 1;
    private static final int SRV = 33;
    private static final int RECORD_HEAD_BYTES = 12;

    private final DatagramSocket datagrams;
    private final ServerSocket streams;
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();
    /** Names of services, and the data of their records. */
    private final Map<String, List<byte[]>> services = new ConcurrentHashMap<>();

    private final CountDownLatch released = new CountDownLatch(1);

    NameServer() throws IOException {
        DatagramSocket bound = null;
        ServerSocket listening = null;
        while (listening == null) {
            bound = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            try {
                listening = new ServerSocket(bound.getLocalPort(), 50, InetAddress.getLoopbackAddress());
            } catch (BindException e) {
                // Another process uses that port over TCP, so another one is tried.
                bound.close();
            }
        }
        datagrams = bound;
        streams = listening;
        start(this::serveDatagrams);
        start(this::serveStreams);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "name-server");
        thread.setDaemon(true);
        thread.start();
    }

    /** Address and port. */
    String address() {
        return "127.0.0.1:" + datagrams.getLocalPort();
    }

    /** Returns whether the name was queried, with any type. */
    boolean wasAsked(String name) {
        return asked.contains(name);
    }

    /** Adds a record of a service such as {@code _http._tcp.shop.test} (RFC 2782). */
    void service(String name, int priority, String host, int port) {
        ByteBuffer data = ByteBuffer.allocate(8 + host.length());
        data.putShort((short) priority).putShort((short) 1).putShort((short) port);
        for (String label : host.split("\\.", -1)) {
            data.put((byte) label.length()).put(label.getBytes(StandardCharsets.US_ASCII));
        }
        services.computeIfAbsent(name, unused -> new CopyOnWriteArrayList<>())
                .add(data.put((byte) 0).array());
    }

    /** Answers queries for slow names from now on. */
    void release() {
        released.countDown();
    }

    private void serveDatagrams() {
        byte[] buffer = new byte[1500];
        while (!datagrams.isClosed()) {
            try {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                datagrams.receive(packet);
                byte[] query = Arrays.copyOf(packet.getData(), packet.getLength());
                if (name(query).startsWith("slow.")) {
                    start(() -> answerLater(query, packet));
                } else {
                    answer(query, packet);
                }
            } catch (IOException e) {
                // Closed.
            }
        }
    }

    private void answerLater(byte[] query, DatagramPacket to) {
        try {
            asked.add(name(query));
            if (released.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
                send(addresses(query, 0, 1), to);
            }
        } catch (IOException | InterruptedException e) {
            // Closed.
        }
    }

    private void answer(byte[] query, DatagramPacket to) throws IOException {
        String name = name(query);
        asked.add(name);
        if (type(query) == SRV) {
            send(records(query, SRV, services.getOrDefault(name, List.of())), to);
            return;
        }
        switch (name.substring(0, name.indexOf('.'))) {
            case "silent" -> {}
            case "unknown" -> send(code(query, NXDOMAIN, false), to);
            case "refused" -> send(code(query, REFUSED, false), to);
            case "huge" -> send(code(query, 0, true), to);
            case "garbage" -> {
                byte[] garbage = new byte[40];
                Arrays.fill(garbage, (byte) 0xff);
                System.arraycopy(query, 0, garbage, 0, 2);
                send(garbage, to);
            }
            case "spoofed" -> {
                byte[] forged = addresses(query, 9, 1);
                forged[1] ^= 1;
                send(forged, to);
                send(addresses(query, 0, 1), to);
            }
            default -> send(addresses(query, 0, 1), to);
        }
    }

    private void send(byte[] answer, DatagramPacket to) throws IOException {
        datagrams.send(new DatagramPacket(answer, answer.length, to.getSocketAddress()));
    }

    private void serveStreams() {
        while (!streams.isClosed()) {
            try (Socket client = streams.accept()) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                byte[] query = new byte[in.readUnsignedShort()];
                in.readFully(query);
                byte[] answer = addresses(query, 0, HUGE);
                DataOutputStream out = new DataOutputStream(client.getOutputStream());
                out.writeShort(answer.length);
                out.write(answer);
                out.flush();
            } catch (IOException e) {
                // The server was closed, or a client has disconnected.
            }
        }
    }

    private static String name(byte[] query) {
        StringBuilder name = new StringBuilder();
        for (int at = HEADER_BYTES; query[at] != 0; at += query[at] + 1) {
            name.append(new String(query, at + 1, query[at], StandardCharsets.US_ASCII))
                    .append('.');
        }
        name.setLength(name.length() - 1);
        return name.toString();
    }

    private static int questionEnd(byte[] query) {
        int at = HEADER_BYTES;
        while (query[at] != 0) {
            at += query[at] + 1;
        }
        return at + 5;
    }

    private static byte[] code(byte[] query, int code, boolean truncated) {
        int end = questionEnd(query);
        byte[] answer = Arrays.copyOf(query, end);
        ByteBuffer.wrap(answer, 2, 10)
                .putShort((short) (0x8180 | code | (truncated ? 0x0200 : 0)))
                .putShort((short) 1)
                .putInt(0)
                .putShort((short) 0);
        return answer;
    }

    private static int type(byte[] query) {
        return query[questionEnd(query) - 3];
    }

    /**
     * Returns an answer with this many addresses for type A, the first one 127.0.0.1 by default; none for other types.
     */
    private static byte[] addresses(byte[] query, int lastOctet, int count) {
        List<byte[]> addresses = new ArrayList<>();
        for (int i = 0; i < count && type(query) == A; i++) {
            boolean isFirst = i == 0;
            addresses.add(new byte[] {
                127, (byte) (isFirst ? 0 : 1), (byte) (i / 250), (byte) (isFirst ? Math.max(1, lastOctet) : 1 + i % 250)
            });
        }
        return records(query, A, addresses);
    }

    /** Returns an answer with records of the queried name. */
    private static byte[] records(byte[] query, int type, List<byte[]> data) {
        byte[] head = code(query, 0, false);
        int length = head.length;
        for (byte[] each : data) {
            length += RECORD_HEAD_BYTES + each.length;
        }
        ByteBuffer out = ByteBuffer.allocate(length).put(head).putShort(6, (short) data.size());
        for (byte[] each : data) {
            out.putShort((short) 0xc00c).putShort((short) type).putShort((short) 1);
            out.putInt(60).putShort((short) each.length).put(each);
        }
        return out.array();
    }

    @Override
    public void close() throws IOException {
        datagrams.close();
        streams.close();
    }
}
