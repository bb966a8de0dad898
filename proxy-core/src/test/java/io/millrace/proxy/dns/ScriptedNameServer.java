package io.millrace.proxy.dns;

import io.netty.util.NetUtil;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A name server on loopback, over UDP and TCP, whose behaviour per name a test sets. The default is NXDOMAIN. */
public final class ScriptedNameServer implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int TYPE_CNAME = 5;
    private static final int TYPE_SRV = 33;
    private static final int HEADER_BYTES = 12;
    private static final int DATAGRAM_BYTES_MAX = 1_232;

    /** The reaction of the server to a query over UDP: any number of datagrams. */
    public interface Reaction {
        List<byte[]> to(Query query);
    }

    /** The data of a service record. */
    public record Service(int priority, int weight, int port, String host) {}

    private final DatagramSocket datagrams;
    private final ServerSocket streams;
    private final Map<String, Reaction> reactions = new ConcurrentHashMap<>();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());

    public ScriptedNameServer() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        DatagramSocket udp = null;
        ServerSocket tcp = null;
        while (tcp == null) {
            udp = new DatagramSocket(0, loopback);
            try {
                tcp = new ServerSocket(udp.getLocalPort(), 50, loopback);
            } catch (IOException e) {
                // Another process uses that port over TCP, so another one is tried.
                udp.close();
            }
        }
        datagrams = udp;
        streams = tcp;
        start(this::serveDatagrams);
        start(this::serveStreams);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "name-server");
        thread.setDaemon(true);
        thread.start();
    }

    /** One question as it came. */
    public static final class Query {
        private final byte[] message;
        private final int questionEnd;

        /** In lower case, without the last dot. */
        public final String name;

        /** True for a query of type A. */
        public final boolean isForA;

        /** True for a query of type SRV. */
        public final boolean isForServices;

        private Query(byte[] message) {
            this.message = message;
            StringBuilder text = new StringBuilder();
            int at = HEADER_BYTES;
            while (message[at] != 0) {
                for (int i = 1; i <= message[at]; i++) {
                    text.append((char) message[at + i]);
                }
                text.append('.');
                at += message[at] + 1;
            }
            text.setLength(text.length() - 1);
            name = text.toString();
            isForA = message[at + 2] == TYPE_A;
            isForServices = message[at + 2] == TYPE_SRV;
            questionEnd = at + 5;
        }

        /** Returns an answer with these addresses for A, and without records for other types. */
        public byte[] addresses(int ttlSeconds, String... literals) {
            return answer(0, 0, false, ttlSeconds, literals);
        }

        /** Returns an answer for A: an alias with one TTL, and an address of its target with another TTL. */
        public byte[] alias(int ttlSeconds, String target, int addressTtlSeconds, String literal) {
            if (!isForA) {
                return code(0);
            }
            ByteBuffer encoded = ByteBuffer.allocate(target.length() + 2);
            for (String label : target.split("\\.", -1)) {
                encoded.put((byte) label.length()).put(label.getBytes(StandardCharsets.US_ASCII));
            }
            encoded.put((byte) 0);
            int questionBytes = questionEnd - HEADER_BYTES;
            ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + questionBytes + 26 + 2 * encoded.position());
            out.put(message, 0, 2).putShort((short) 0x8180);
            out.putShort((short) 1).putShort((short) 2).putInt(0);
            out.put(message, HEADER_BYTES, questionBytes);
            out.putShort((short) 0xc00c).putShort((short) TYPE_CNAME).putShort((short) 1);
            out.putInt(ttlSeconds).putShort((short) encoded.position());
            out.put(encoded.array(), 0, encoded.position());
            out.put(encoded.array(), 0, encoded.position());
            out.putShort((short) TYPE_A).putShort((short) 1);
            out.putInt(addressTtlSeconds).putShort((short) 4);
            out.put(NetUtil.createByteArrayFromIpAddressString(literal));
            return out.array();
        }

        /** Returns a service record with the target of {@code _http._tcp} of a name; {@code .} for none. */
        public byte[] services(int ttlSeconds, Service... services) {
            int questionBytes = questionEnd - HEADER_BYTES;
            ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + questionBytes + 100 * services.length);
            out.put(message, 0, 2).putShort((short) 0x8180);
            out.putShort((short) 1).putShort((short) services.length).putInt(0);
            out.put(message, HEADER_BYTES, questionBytes);
            for (Service service : services) {
                out.putShort((short) 0xc00c).putShort((short) TYPE_SRV).putShort((short) 1);
                out.putInt(ttlSeconds);
                int length = out.position();
                out.putShort((short) 0).putShort((short) service.priority()).putShort((short) service.weight());
                out.putShort((short) service.port());
                for (String label : service.host().equals(".")
                        ? new String[0]
                        : service.host().split("\\.", -1)) {
                    out.put((byte) label.length()).put(label.getBytes(StandardCharsets.US_ASCII));
                }
                out.put((byte) 0);
                out.putShort(length, (short) (out.position() - length - 2));
            }
            return Arrays.copyOf(out.array(), out.position());
        }

        /** Returns an answer without records. */
        public byte[] code(int responseCode) {
            return answer(0, responseCode, false, 0);
        }

        /** Returns a truncated answer, which demands TCP. */
        public byte[] truncated() {
            return answer(0, 0, true, 0);
        }

        /** Returns an answer with another query's number. */
        public byte[] withOtherId(int ttlSeconds, String... literals) {
            return answer(1, 0, false, ttlSeconds, literals);
        }

        /** Returns an answer with this query's number for another name. */
        public byte[] forOtherName(int ttlSeconds, String... literals) {
            byte[] bytes = addresses(ttlSeconds, literals);
            bytes[HEADER_BYTES + 1] ^= 1;
            return bytes;
        }

        /** Returns its number, followed by unreadable bytes. */
        public byte[] garbage() {
            byte[] bytes = new byte[40];
            Arrays.fill(bytes, (byte) 0xff);
            System.arraycopy(message, 0, bytes, 0, 2);
            return bytes;
        }

        private byte[] answer(int idFlip, int responseCode, boolean truncated, int ttlSeconds, String... literals) {
            int count = isForA ? literals.length : 0;
            int questionBytes = questionEnd - HEADER_BYTES;
            ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + questionBytes + 16 * count);
            out.put(message[0]).put((byte) (message[1] ^ idFlip));
            out.putShort((short) (0x8180 | responseCode | (truncated ? 0x0200 : 0)));
            out.putShort((short) 1).putShort((short) count).putInt(0);
            out.put(message, HEADER_BYTES, questionBytes);
            for (int i = 0; i < count; i++) {
                // Name by reference to the question, type A, class IN, time to live, four bytes.
                out.putShort((short) 0xc00c).putShort((short) TYPE_A).putShort((short) 1);
                out.putInt(ttlSeconds).putShort((short) 4);
                out.put(NetUtil.createByteArrayFromIpAddressString(literals[i]));
            }
            return out.array();
        }
    }

    /** Sets the reaction to later queries for the name. */
    public void on(String name, Reaction reaction) {
        reactions.put(name, reaction);
    }

    /** Sets the addresses of the name for later queries; an answer too long for a datagram is sent over TCP. */
    public void has(String name, int ttlSeconds, String... literals) {
        on(name, query -> List.of(query.addresses(ttlSeconds, literals)));
    }

    /** Sets the targets of {@code _http._tcp} of the name for later queries. */
    public void hasServices(String name, int ttlSeconds, Service... services) {
        on("_http._tcp." + name, query -> List.of(query.services(ttlSeconds, services)));
    }

    /** Ignores later queries for the name. */
    public void ignores(String name) {
        on(name, query -> List.of());
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) datagrams.getLocalSocketAddress();
    }

    /** Returns the names of queries of type A or SRV, in order. */
    public List<String> asked() {
        return List.copyOf(asked);
    }

    private List<byte[]> react(byte[] message) {
        Query query = new Query(message);
        if (query.isForA || query.isForServices) {
            asked.add(query.name);
        }
        return reactions.getOrDefault(query.name, none -> List.of(none.code(3))).to(query);
    }

    private void serveDatagrams() {
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(new byte[1500], 1500);
                datagrams.receive(packet);
                for (byte[] answer : react(packet.getData())) {
                    byte[] sent =
                            answer.length <= DATAGRAM_BYTES_MAX ? answer : new Query(packet.getData()).truncated();
                    datagrams.send(new DatagramPacket(sent, sent.length, packet.getSocketAddress()));
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serveStreams() {
        while (!streams.isClosed()) {
            try (Socket client = streams.accept()) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                byte[] message = new byte[Math.max(512, in.readUnsignedShort())];
                int got = in.read(message);
                DataOutputStream out = new DataOutputStream(client.getOutputStream());
                for (byte[] answer : got > 0 ? react(message) : List.<byte[]>of()) {
                    out.writeShort(answer.length);
                    out.write(answer);
                }
                out.flush();
            } catch (IOException e) {
                // The server was closed, or a client has disconnected.
            }
        }
    }

    @Override
    public void close() throws IOException {
        datagrams.close();
        streams.close();
    }
}
