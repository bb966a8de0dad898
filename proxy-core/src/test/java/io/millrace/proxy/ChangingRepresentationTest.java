package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.HttpDates;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests an object that changes at the origin while several clients fetch it and parts of it. The origin aborts
 * responses, sends less than requested, ignores ranges, and the object is purged. Each response must contain one
 * version, the one that its fields name, and a truncated response must not look complete (RFC 9111 s3.4, RFC 9110
 * s14.5).
 */
class ChangingRepresentationTest {
    private static final int PIECE = 1 << 20;
    private static final int STEPS = 60;
    private static final int CLIENTS = 3;

    /** The validator that distinguishes the versions. */
    enum Told {
        STRONG_TAG,
        WEAK_TAG,
        DATE,
        NOTHING
    }

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final AtomicInteger version = new AtomicInteger(1);
    private volatile Random faults = new Random(0);

    private static int length(int version) {
        return 2 * PIECE + PIECE / 2 + version % 2 * 70_001;
    }

    private static byte at(int version, int position) {
        return (byte) (version * 101 + position * 31 + (position >>> 8) * 17 + (position >>> 16));
    }

    private static byte[] bytes(int version, int first, int end) {
        byte[] bytes = new byte[end - first];
        for (int i = first; i < end; i++) {
            bytes[i - first] = at(version, i);
        }
        return bytes;
    }

    private static String validator(Told told, int version) {
        return switch (told) {
            case STRONG_TAG -> "\"" + version + "\"";
            case WEAK_TAG -> "W/\"" + version + "\"";
            case DATE -> HttpDates.format(ProxyExtension.START_MILLIS / 1000 - 100_000 + version * 10L);
            case NOTHING -> "";
        };
    }

    private static String fields(Told told, int version) {
        String line =
                switch (told) {
                    case STRONG_TAG, WEAK_TAG -> "ETag: " + validator(told, version) + "\r\n";
                    case DATE -> "Last-Modified: " + validator(told, version) + "\r\n";
                    case NOTHING -> "";
                };
        return "Cache-Control: max-age=50\r\nX-Version: " + version + "\r\n" + line;
    }

    private void answer(RawOrigin.Exchange request, Told told) throws IOException {
        int now = version.get();
        int length = length(now);
        String fields = fields(told, now);
        int luck;
        int cut;
        synchronized (this) {
            luck = faults.nextInt(100);
            cut = faults.nextInt(length);
        }
        String validator = validator(told, now);
        boolean notModified = told != Told.NOTHING
                && (validator.equals(RawClient.field(request.head(), "if-none-match"))
                        || (told == Told.DATE
                                && validator.equals(RawClient.field(request.head(), "if-modified-since"))));
        if (notModified) {
            request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
            return;
        }
        String range = RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        // Some origins do not support If-Range.
        boolean ranged = range != null && (ifRange == null || ifRange.equals(validator) || luck < 30) && luck >= 5;
        int first = 0;
        int end = length;
        if (ranged) {
            String[] ends = range.substring("bytes=".length()).split("[-,]", -1);
            if (ends[0].isEmpty()) {
                first = Math.max(0, length - Integer.parseInt(ends[1]));
            } else {
                first = Integer.parseInt(ends[0]);
                end = ends[1].isEmpty() ? length : (int) Math.min(Long.parseLong(ends[1]) + 1, length);
            }
            if (first >= length) {
                request.send("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */"
                        + length + "\r\n\r\n");
                return;
            }
            if (luck >= 85) {
                end = Math.min(end, first + 1 + cut);
            }
        }
        String lengthTold =
                luck % 7 == 3 ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + (end - first) + "\r\n";
        request.send((ranged
                        ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + first + "-" + (end - 1) + "/"
                                + length + "\r\n"
                        : "HTTP/1.1 200 OK\r\n")
                + lengthTold + fields + "\r\n");
        boolean broken = luck >= 60 && luck < 80;
        int until = broken ? Math.min(end, first + cut) : end;
        if (luck % 7 == 3) {
            request.send(Integer.toHexString(Math.max(1, until - first)) + "\r\n");
            request.send(bytes(now, first, Math.max(first + 1, until)));
            request.send("\r\n" + (broken ? "" : "0\r\n\r\n"));
        } else {
            request.send(bytes(now, first, until));
        }
        if (broken) {
            request.socket().close();
        }
    }

    private void ask(Random random) throws IOException {
        String path = "/" + random.nextInt(2);
        int kind = random.nextInt(10);
        int first = random.nextInt(3 * PIECE);
        String asked =
                switch (kind) {
                    case 0, 1, 2 -> "";
                    case 3 -> "Range: bytes=-" + (1 + random.nextInt(PIECE)) + "\r\n";
                    case 4 -> "Range: bytes=" + first + "-\r\n";
                    case 5 -> "Range: bytes=0-" + first + "\r\n";
                    case 6 -> "Range: bytes=0-9," + first + "-" + (first + 99) + "\r\n";
                    default -> "Range: bytes=" + first + "-" + (first + random.nextInt(PIECE)) + "\r\n";
                };
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response response;
            try {
                client.get(path, asked);
                if (random.nextInt(8) == 0) {
                    client.head();
                    return;
                }
                response = client.response();
            } catch (java.net.SocketTimeoutException e) {
                throw new AssertionError("no answer to " + path + " " + asked, e);
            } catch (IOException e) {
                // An aborted response must look aborted.
                return;
            }
            check(asked, response);
        }
    }

    private static void check(String asked, RawClient.Response response) {
        int status = response.status();
        if (status == 416 || status == 502) {
            return;
        }
        assertTrue(status == 200 || status == 206, response.head());
        int told = Integer.parseInt(response.field("x-version"));
        String range = response.field("content-range");
        int first = 0;
        int end = length(told);
        if (status == 206 && range == null) {
            return;
        }
        if (status == 206) {
            String[] numbers = range.substring("bytes ".length()).split("[-/]", -1);
            first = Integer.parseInt(numbers[0]);
            end = Integer.parseInt(numbers[1]) + 1;
            assertEquals(length(told), Integer.parseInt(numbers[2]), asked + response.head());
        }
        assertEquals(end - first, response.content().length, () -> asked + response.head());
        byte[] content = response.content();
        for (int i = 0; i < content.length; i++) {
            if (content[i] != at(told, first + i)) {
                throw new AssertionError(
                        "byte " + (first + i) + " is not of version " + told + "; " + asked + response.head());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Told.class)
    void noAnswerIsOfTwoVersions(Told told) throws Exception {
        long seed = Long.getLong("millrace.seed", 20261121L);
        faults = new Random(seed);
        proxy.start(request -> answer(request, told), config -> config.storage(directory.resolve("volume"), 256L << 20)
                .set("worker.event_loops", "2"));
        Random random = new Random(seed);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try {
            for (int step = 0; step < STEPS; step++) {
                List<Future<?>> running = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    Random own = new Random(random.nextLong());
                    running.add(clients.submit(() -> {
                        ask(own);
                        return null;
                    }));
                }
                switch (random.nextInt(8)) {
                    case 0 -> version.incrementAndGet();
                    case 1 -> proxy.purge("/" + random.nextInt(2));
                    case 2 -> proxy.advanceSeconds(30);
                    default -> {}
                }
                for (Future<?> each : running) {
                    each.get();
                }
            }
        } finally {
            clients.shutdownNow();
        }
    }
}
