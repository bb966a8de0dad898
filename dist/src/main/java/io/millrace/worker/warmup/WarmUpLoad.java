package io.millrace.worker.warmup;

import io.millrace.worker.warmup.WarmUpOrigin.Kind;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The generator of requests for a warm-up. Each cycle sends the same mix of requests. One of
 * {@link #BIG_MISS_CYCLES} cycles also fetches and stores a big response, and one of {@link #RECONNECTION_CYCLES} opens
 * new connections. Not thread-safe, except {@link #stop}.
 *
 * <p>Some connections only request responses that are in the cache, so that the proxy uses its fast path for hits. The
 * other connections send requests of all kinds.
 */
final class WarmUpLoad implements AutoCloseable {
    private static final int HIT_CLIENTS = 8;
    private static final int MIXED_CLIENTS = 6;
    private static final int TLS_HIT_CLIENTS = 4;
    private static final int TLS_MIXED_CLIENTS = 2;

    private static final int[] SIZES = {200, 1000, 4000, 16_000, 60_000};

    /** Body sizes of responses that are fetched once. Small, since each response is written to disk. */
    private static final int[] MISS_SIZES = {200, 1000, 4000, 1000, 200, 4000, 1000, 16_000};

    /** Number of cycles between two big responses that are fetched and stored. */
    private static final int BIG_MISS_CYCLES = 8;

    /**
     * One of this number of cycles replaces all connections without TLS. Opening a connection takes as much CPU time as
     * several requests.
     */
    private static final int RECONNECTION_CYCLES = 3;

    /** Number of times that such a cycle replaces the connections. */
    private static final int RECONNECTIONS = 3;

    /** Number of stored responses of each kind that are requested repeatedly. */
    private static final int KEYS = 64;

    /** Number of big stored responses. Together they exceed the RAM tier, so that some are read from disk. */
    private static final int BIG_KEYS = 24;

    /** The warm-up fails if more than one in ten responses has an unexpected status. */
    private static final int UNEXPECTED_SHARE = 10;

    /** Header fields of a minimal request. */
    private static final String PLAIN = "Host: warm-up.invalid\r\n";
    /** Header fields like those of a browser. */
    private static final String BROWSER = """
            Host: warm-up.invalid\r
            User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r
            Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r
            Accept-Language: en-US,en;q=0.5\r
            Accept-Encoding: gzip, deflate, br\r
            Referer: http://warm-up.invalid/\r
            Connection: keep-alive\r
            Cookie: session=0123456789abcdef; theme=dark\r
            Sec-Fetch-Dest: image\r
            Sec-Fetch-Mode: no-cors\r
            """;

    private final CpuLimit cpuLimit;
    private final long deadlineNanos;
    private final List<WarmUpClient> all = new ArrayList<>();
    private final List<WarmUpClient> hitting = new ArrayList<>();
    private final List<WarmUpClient> mixed = new ArrayList<>();
    private final List<WarmUpClient> lastHittingAndFirstMixed = new ArrayList<>();
    private final boolean withTls;
    private final Thread thread = Thread.currentThread();
    /** Prefix of the names of responses that are requested once. It differs between warm-ups. */
    private final String namePrefix = Long.toString(System.nanoTime(), Character.MAX_RADIX);

    /** Number of requests sent so far. */
    private long number;

    /** Number of the first request of the latest misses. */
    private long firstMiss;

    private long cycles;
    private long answered;
    private long unexpected;
    private volatile boolean stopped;

    /**
     * @param plain address of the listener without TLS
     * @param secure address of the listener with TLS; null for no requests with TLS
     * @param deadlineNanos time of {@link System#nanoTime} at which the load ends
     */
    WarmUpLoad(InetSocketAddress plain, @Nullable InetSocketAddress secure, CpuLimit cpuLimit, long deadlineNanos)
            throws IOException {
        this.cpuLimit = cpuLimit;
        this.deadlineNanos = deadlineNanos;
        add(hitting, HIT_CLIENTS, SocketFactory.getDefault(), plain);
        add(mixed, MIXED_CLIENTS, SocketFactory.getDefault(), plain);
        withTls = secure != null;
        if (secure != null) {
            SocketFactory tls = WarmUpCertificate.clients();
            add(hitting, TLS_HIT_CLIENTS, tls, secure);
            add(mixed, TLS_MIXED_CLIENTS, tls, secure);
        }
        lastHittingAndFirstMixed.addAll(hitting.subList(hitting.size() - 2, hitting.size()));
        lastHittingAndFirstMixed.addAll(mixed.subList(0, 2));
    }

    private void add(List<WarmUpClient> to, int count, SocketFactory factory, InetSocketAddress address) {
        for (int i = 0; i < count; i++) {
            WarmUpClient client = new WarmUpClient(factory, address);
            to.add(client);
            all.add(client);
        }
    }

    /** Number of responses that were read so far. */
    long answered() {
        return answered;
    }

    /** Number of responses with an unexpected status. */
    long unexpected() {
        return unexpected;
    }

    /**
     * Returns the URLs of some responses that the latest cycle has stored and that no later cycle requests. Before the
     * first cycle, nothing is stored at these URLs.
     */
    List<String> stored() {
        List<String> urls = new ArrayList<>();
        for (long n = firstMiss; n < firstMiss + mixed.size(); n++) {
            urls.add("http://warm-up.invalid" + path(Kind.STORED, missSize(n), namePrefix + n));
        }
        return urls;
    }

    /** Returns true if {@link #stop} was called or the deadline has passed. */
    boolean isOver() {
        return stopped || System.nanoTime() - deadlineNanos >= 0;
    }

    /** Ends the load, and aborts the requests in progress. Thread-safe. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
        all.forEach(WarmUpClient::abort);
    }

    /**
     * Sends the requests of one cycle, and reads the responses. Returns early if {@link #isOver}.
     *
     * @throws IOException if the proxy does not answer, or if too many responses have an unexpected status
     */
    void cycle() throws IOException {
        sendHits();
        sendMisses();
        sendValidations();
        sendOthers();
        if (cycles % RECONNECTION_CYCLES == 0) {
            replaceConnections();
        }
        if (withTls) {
            reconnectWithTls();
        }
        cycles++;
        if (unexpected * UNEXPECTED_SHARE > answered) {
            throw new IOException(unexpected + " of " + answered + " responses have an unexpected status");
        }
    }

    private void sendHits() throws IOException {
        for (int i = 0; i < 6; i++) {
            exchange(hitting, 200, n -> get(Kind.STORED, size(n), n % KEYS, PLAIN));
            exchange(mixed, 200, n -> get(Kind.STORED, size(n), n % KEYS, isEven(n) ? PLAIN : BROWSER));
        }
        for (int i = 0; i < 3; i++) {
            exchange(hitting, 200, n -> get(Kind.STORED, size(n), n % KEYS, BROWSER));
            exchange(hitting, 200, n -> get(Kind.VARIED, size(n), n % KEYS, BROWSER));
        }
        for (int i = 0; i < 2; i++) {
            exchange(hitting, 304, n -> get(Kind.STORED, size(n), n % KEYS, PLAIN + "If-None-Match: \"1\"\r\n"));
            exchange(hitting, 304, n -> get(Kind.VARIED, size(n), n % KEYS, BROWSER + "If-None-Match: \"1\"\r\n"));
        }
        exchange(hitting, 200, n -> request("HEAD", Kind.STORED, size(n), Long.toString(n % KEYS), PLAIN, ""));
    }

    private static boolean isEven(long n) {
        return n % 2 == 0;
    }

    /**
     * Sends mostly requests whose responses are fetched and stored. Their code is the slowest before the JIT compilers
     * have compiled it, and C2 compiles a method after some thousand calls.
     */
    private void sendMisses() throws IOException {
        firstMiss = number;
        for (int i = 0; i < 32; i++) {
            exchange(mixed, 200, n -> getOnce(Kind.STORED, n, PLAIN));
            if (i % 4 == 0) {
                exchange(mixed, 200, n -> getOnce(Kind.PRIVATE, n, isEven(n) ? PLAIN : BROWSER));
            }
            if (i % 8 == 0) {
                exchange(mixed, 200, n -> getOnce(Kind.VARIED, n, BROWSER));
                exchange(mixed, 200, n -> getOnce(Kind.CHUNKED, n, PLAIN));
            }
            if (i % 16 == 0) {
                // All connections request one response, so that the proxy fetches it once for all (request collapsing).
                long same = number;
                exchange(mixed, 200, n -> getOnce(Kind.STORED, same, PLAIN));
            }
        }
    }

    private void sendValidations() throws IOException {
        for (int i = 0; i < 4; i++) {
            exchange(mixed, 200, n -> get(Kind.VALIDATED, size(n), n % KEYS, PLAIN));
        }
        for (int i = 0; i < 2; i++) {
            exchange(mixed, 200, n -> get(Kind.CHANGED, size(n), n % KEYS, BROWSER));
        }
    }

    private void sendOthers() throws IOException {
        int big = WarmUpOrigin.SIZE_MAX;
        exchange(mixed, 206, n -> get(Kind.STORED, 60_000, n % KEYS, PLAIN + "Range: bytes=1000-1999\r\n"));
        exchange(
                mixed.subList(0, 2), 206, n -> get(Kind.STORED, big, n % BIG_KEYS, PLAIN + "Range: bytes=300000-\r\n"));
        if (cycles % BIG_MISS_CYCLES == 0) {
            exchange(mixed.subList(0, 1), 200, n -> getOnce(Kind.STORED, big, n, PLAIN));
        }
        exchange(lastHittingAndFirstMixed, 200, n -> get(Kind.STORED, big, n % BIG_KEYS, PLAIN));
        exchange(
                mixed,
                200,
                n -> request("POST", Kind.PRIVATE, 200, namePrefix + n, BROWSER + "Content-Length: 5\r\n", "a=b&c"));
        exchange(mixed, 404, n -> getOnce(Kind.MISSING, n, PLAIN));
        exchange(mixed.subList(0, 1), 502, n -> getOnce(Kind.CUT, n, PLAIN));
        exchange(mixed.subList(0, 1), 400, n -> bytes("GET / HTTP/1.1\r\nBad Field: x\r\n\r\n"));
    }

    /**
     * Closes the connections without TLS and opens new ones, from the client to the proxy and from the proxy to the
     * origin. When a worker takes over, all clients open new connections at the same time. So the code that opens
     * connections must be compiled by then.
     */
    private void replaceConnections() throws IOException {
        List<WarmUpClient> plainHitting = hitting.subList(0, HIT_CLIENTS);
        List<WarmUpClient> plainMixed = mixed.subList(0, MIXED_CLIENTS);
        for (int i = 0; i < RECONNECTIONS; i++) {
            plainHitting.forEach(WarmUpClient::close);
            exchange(plainHitting, 200, n -> get(Kind.STORED, size(n), n % KEYS, PLAIN));
            plainMixed.forEach(WarmUpClient::close);
            exchange(plainMixed, 200, n -> getOnce(Kind.CLOSING, n, PLAIN));
        }
    }

    /** Closes one TLS connection of each kind. The next request opens a new one. */
    private void reconnectWithTls() {
        hitting.get(HIT_CLIENTS + (int) (cycles % TLS_HIT_CLIENTS)).close();
        mixed.get(MIXED_CLIENTS + (int) (cycles % TLS_MIXED_CLIENTS)).close();
    }

    private static int size(long n) {
        return SIZES[(int) (n % KEYS % SIZES.length)];
    }

    private byte[] get(Kind kind, int size, long key, String fields) {
        return request("GET", kind, size, Long.toString(key), fields, "");
    }

    private byte[] getOnce(Kind kind, long n, String fields) {
        return getOnce(kind, missSize(n), n, fields);
    }

    private static int missSize(long n) {
        return MISS_SIZES[(int) (n % MISS_SIZES.length)];
    }

    private byte[] getOnce(Kind kind, int size, long n, String fields) {
        return request("GET", kind, size, namePrefix + n, fields, "");
    }

    private static byte[] request(String method, Kind kind, int size, String name, String fields, String content) {
        return bytes(method + " " + path(kind, size, name) + " HTTP/1.1\r\n" + fields + "\r\n" + content);
    }

    private static String path(Kind kind, int size, String name) {
        return "/" + kind.word + "/" + size + "/" + name;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Sends a request on each of {@code clients}, then reads all responses. */
    private void exchange(List<WarmUpClient> clients, int expected, LongFunction<byte[]> request) throws IOException {
        if (isOver()) {
            return;
        }
        pause();
        try {
            for (WarmUpClient client : clients) {
                client.send(request.apply(number++));
            }
            for (WarmUpClient client : clients) {
                while (client.outstanding() > 0) {
                    if (client.receive() != expected) {
                        unexpected++;
                    }
                    answered++;
                }
            }
        } catch (IOException e) {
            if (!isOver()) {
                throw e;
            }
        }
    }

    /** Pauses to stay within the CPU limit. */
    private void pause() {
        long nanos = cpuLimit.pauseNanos();
        while (nanos > 0 && !isOver()) {
            LockSupport.parkNanos(this, Math.min(nanos, Math.max(1, deadlineNanos - System.nanoTime())));
            nanos = cpuLimit.pauseNanos();
        }
    }

    @Override
    public void close() {
        all.forEach(WarmUpClient::abort);
    }
}
