package io.millrace.system;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Many keep-alive clients on few threads. All connect first; then each requests one target after the other and compares
 * every byte of every response. Confined to the thread that calls {@link #run}.
 */
final class KeepAliveClients {

    /**
     * The results of the clients.
     *
     * @param answers complete and correct responses
     * @param connectedAtOnce clients whose connections were open together before the first request
     * @param errors one line each, the first {@value #ERRORS_KEPT}
     */
    record Outcome(long answers, int connectedAtOnce, List<String> errors) {}

    private static final int ERRORS_KEPT = 50;
    private static final long ANSWER_NANOS_MAX = TimeUnit.SECONDS.toNanos(20);
    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final int port;
    private final int clients;
    private final List<String> targets = new ArrayList<>();
    private final List<byte[]> requests = new ArrayList<>();
    private final List<byte[]> bodies = new ArrayList<>();
    private final int responseLengthMax;

    /** Creates clients of a port that request these targets and expect these bodies. */
    KeepAliveClients(int port, int clients, Map<String, byte[]> bodiesByTarget) {
        this.port = port;
        this.clients = clients;
        int longest = 0;
        for (Map.Entry<String, byte[]> expected : bodiesByTarget.entrySet()) {
            String request = "GET " + expected.getKey() + " HTTP/1.1\r\nHost: 127.0.0.1:" + port
                    + "\r\nUser-Agent: keep-alive-clients\r\nAccept: */*\r\n\r\n";
            requests.add(request.getBytes(StandardCharsets.US_ASCII));
            targets.add(expected.getKey());
            bodies.add(expected.getValue());
            longest = Math.max(longest, expected.getValue().length);
        }
        responseLengthMax = longest + 8 * 1024;
    }

    /** Runs the load on this many threads, each with its share of the clients. */
    Outcome run(int threads, Duration duration) throws IOException, InterruptedException {
        List<Loop> loops = new ArrayList<>();
        int connected = 0;
        for (int i = 0; i < threads; i++) {
            Loop loop = new Loop(i, clients / threads + (i < clients % threads ? 1 : 0));
            loops.add(loop);
            connected += loop.connectAll();
        }
        long end = System.nanoTime() + duration.toNanos();
        List<Thread> running = new ArrayList<>();
        for (Loop loop : loops) {
            Thread thread = new Thread(() -> loop.runUntil(end), "keep-alive-clients");
            thread.start();
            running.add(thread);
        }
        long answers = 0;
        List<String> errors = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            running.get(i).join();
            answers += loops.get(i).answers;
            errors.addAll(loops.get(i).errors);
        }
        return new Outcome(answers, connected, errors);
    }

    /** The clients of one thread. Confined to its thread once started. */
    private final class Loop {
        private final int number;
        private final int size;
        private final Selector selector;
        private final Set<Client> busy = new HashSet<>();
        private final List<String> errors = new ArrayList<>();
        private long answers;

        Loop(int number, int size) throws IOException {
            this.number = number;
            this.size = size;
            this.selector = Selector.open();
        }

        int connectAll() throws IOException {
            for (int i = 0; i < size; i++) {
                SocketChannel channel =
                        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                channel.configureBlocking(false);
                channel.socket().setTcpNoDelay(true);
                Client client = new Client(channel, number + i * 7);
                channel.register(selector, SelectionKey.OP_READ, client);
                busy.add(client);
            }
            return busy.size();
        }

        void runUntil(long end) {
            try (selector) {
                for (Client client : List.copyOf(busy)) {
                    attempt(client, client::ask);
                }
                while (!busy.isEmpty()) {
                    selector.select(100);
                    for (SelectionKey key : selector.selectedKeys()) {
                        Client client = (Client) key.attachment();
                        attempt(client, () -> client.receive(end));
                    }
                    selector.selectedKeys().clear();
                    giveUpOn(end);
                }
            } catch (IOException e) {
                fail("selector: " + e);
            }
        }

        private void giveUpOn(long end) {
            long now = System.nanoTime();
            if (now - end < 0) {
                return;
            }
            for (Client client : List.copyOf(busy)) {
                if (now - client.askedAtNanos > ANSWER_NANOS_MAX) {
                    end(client, "no answer within " + ANSWER_NANOS_MAX / 1_000_000 + " ms");
                }
            }
        }

        private void attempt(Client client, Step step) {
            try {
                String error = step.take();
                if (error != null) {
                    end(client, error);
                } else if (client.done) {
                    end(client, "");
                }
            } catch (IOException e) {
                end(client, e.toString());
            }
        }

        private void end(Client client, String error) {
            busy.remove(client);
            answers += client.answers;
            client.answers = 0;
            if (!error.isEmpty()) {
                fail(targets.get(client.next) + ", answer " + client.asked + " of this client: " + error);
            }
            try {
                client.channel.close();
            } catch (IOException e) {
                fail("close: " + e);
            }
        }

        private void fail(String error) {
            if (errors.size() < ERRORS_KEPT) {
                errors.add(error);
            }
        }
    }

    /** One step of a client; a result other than null describes an error. */
    @FunctionalInterface
    private interface Step {
        @Nullable
        String take() throws IOException;
    }

    /** One connection with at most one request outstanding. */
    private final class Client {
        private final SocketChannel channel;
        private final ByteBuffer in = ByteBuffer.allocate(responseLengthMax);
        private int next;
        private long asked;
        private long answers;
        private long askedAtNanos;
        private int headLength = -1;
        private boolean done;

        Client(SocketChannel channel, int first) {
            this.channel = channel;
            this.next = first % targets.size();
        }

        @Nullable
        String ask() throws IOException {
            in.clear();
            headLength = -1;
            asked++;
            askedAtNanos = System.nanoTime();
            ByteBuffer request = ByteBuffer.wrap(requests.get(next));
            channel.write(request);
            return request.hasRemaining() ? "a request did not fit into an empty socket buffer" : null;
        }

        @Nullable
        String receive(long end) throws IOException {
            int got = channel.read(in);
            if (got < 0) {
                return "the connection ends after " + in.position() + " bytes of an answer";
            }
            if (headLength < 0) {
                headLength = findHeadEnd();
                if (headLength >= 0) {
                    String wrong = checkHead();
                    if (wrong != null) {
                        return wrong;
                    }
                }
            }
            byte[] body = bodies.get(next);
            if (headLength < 0 || in.position() < headLength + body.length) {
                return in.hasRemaining() ? null : "the head is too long: " + headText(in.position());
            }
            if (in.position() > headLength + body.length) {
                return "bytes follow the answer";
            }
            int mismatch = ByteBuffer.wrap(body).mismatch(in.duplicate().flip().position(headLength));
            if (mismatch >= 0) {
                return "wrong byte at " + mismatch + " after " + headText(headLength);
            }
            answers++;
            next = (next + 1) % targets.size();
            if (System.nanoTime() - end >= 0) {
                done = true;
                return null;
            }
            return ask();
        }

        private int findHeadEnd() {
            byte[] bytes = in.array();
            for (int i = 0; i + HEAD_END.length <= in.position(); i++) {
                if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
                    return i + HEAD_END.length;
                }
            }
            return -1;
        }

        private @Nullable String checkHead() {
            String head = headText(headLength);
            String length = "\r\ncontent-length: " + bodies.get(next).length + "\r\n";
            String folded = head.toLowerCase(Locale.ROOT);
            if (!head.startsWith("HTTP/1.1 200 ") || !folded.contains(length)) {
                return "unexpected head: " + head;
            }
            return folded.contains("\r\nconnection: close") ? "the proxy wants to close: " + head : null;
        }

        private String headText(int length) {
            return new String(in.array(), 0, length, StandardCharsets.ISO_8859_1);
        }
    }
}
