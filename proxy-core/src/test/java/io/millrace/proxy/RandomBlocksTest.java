package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of one long object on disk that is requested as a whole and by range. A model knows which bytes the
 * origin has sent. Fresh bytes are never fetched again, only the pieces around requested bytes are fetched, one 304
 * freshens all, a purge removes all, and a restart removes nothing (RFC 9111 s3.3, s3.4, s4.3.4).
 *
 * <p>{@code -Dmillrace.seed=N} sets the first seed.
 */
class RandomBlocksTest {
    private static final long FIRST_SEED = Long.getLong("millrace.seed", 1);
    private static final int HISTORIES = 5 * Integer.getInteger("millrace.test.effort", 1);
    private static final int STEPS = 15;
    private static final int PIECE = 1 << 20;
    private static final int LENGTH = 5 * PIECE + 70_001;
    /** The granularity of the model: requested ranges begin and end at a multiple, or at the end. */
    private static final int GRAIN = 1 << 16;

    private static final int LIFETIME_SECONDS = 100;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH);
    private final ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();
    private final AtomicInteger version = new AtomicInteger();

    // the model
    private final BitSet stored = new BitSet();
    private int storedVersion;
    private long freshSeconds;

    private void origin(RawOrigin.Exchange request) throws IOException {
        String tag = "\"" + version.get() + "\"";
        String fields = "Cache-Control: max-age=" + LIFETIME_SECONDS + "\r\nETag: " + tag + "\r\n";
        String range = RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        if (tag.equals(RawClient.field(request.head(), "if-none-match"))) {
            asked.add("validation");
            request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
        } else if (range == null || (ifRange != null && !ifRange.equals(tag))) {
            asked.add("0-" + (LENGTH - 1));
            request.ok(fields, body);
        } else {
            String[] ends = range.substring("bytes=".length()).split("-", -1);
            int first = Integer.parseInt(ends[0]);
            int last = ends[1].isEmpty() ? LENGTH - 1 : Math.min(LENGTH - 1, Integer.parseInt(ends[1]));
            asked.add(first + "-" + last);
            request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (last + 1 - first)
                    + "\r\nContent-Range: bytes " + first + "-" + last + "/" + LENGTH + "\r\n" + fields + "\r\n");
            request.send(Arrays.copyOfRange(body, first, last + 1));
        }
    }

    private static int grain(int position) {
        return position / GRAIN;
    }

    private boolean isStored(int first, int last) {
        return stored.nextClearBit(grain(first)) > grain(last);
    }

    /** Enters the range that the origin received into the model. */
    private void check(int first, int last, String story) {
        List<String> all = new ArrayList<>(asked);
        boolean stale = !stored.isEmpty() && freshSeconds <= 0;
        if (stale) {
            boolean changed = storedVersion != version.get();
            assertEquals(changed ? "0-" + (LENGTH - 1) : "validation", all.remove(0), story);
            freshSeconds = LIFETIME_SECONDS;
            if (changed) {
                stored.set(0, grain(LENGTH - 1) + 1);
            }
        } else if (stored.isEmpty()) {
            freshSeconds = LIFETIME_SECONDS;
        }
        storedVersion = version.get();
        for (String range : all) {
            int from = Integer.parseInt(range.substring(0, range.indexOf('-')));
            int to = Integer.parseInt(range.substring(range.indexOf('-') + 1));
            assertTrue(from % GRAIN == 0 && (to == LENGTH - 1 || (to + 1) % GRAIN == 0), story);
            assertTrue(from >= first / PIECE * PIECE && to < (last / PIECE + 1) * PIECE, story);
            for (int i = grain(from); i <= grain(to); i++) {
                assertTrue(!stored.get(i), "asked for again: byte " + i * GRAIN + "\n" + story);
                stored.set(i);
            }
        }
        assertTrue(isStored(first, last), "sent and never asked for\n" + story);
    }

    private void ask(String path, Random random, String story) throws IOException {
        int first = random.nextInt(LENGTH);
        int last = Math.min(LENGTH - 1, first + random.nextInt(random.nextInt(3) == 0 ? LENGTH : 100_000));
        String range = "Range: bytes=" + first + "-" + last + "\r\n";
        switch (random.nextInt(6)) {
            case 0 -> {
                first = 0;
                last = LENGTH - 1;
                range = "";
            }
            case 1 -> {
                last = LENGTH - 1;
                range = "Range: bytes=" + first + "-\r\n";
            }
            default -> {}
        }
        boolean whole = first < PIECE && last == LENGTH - 1 && stored.isEmpty();
        asked.clear();
        RawClient.Response response = proxy.getAndSettle(path, range);
        String told = story + range + "asked for " + asked + "\n" + response.head();
        assertEquals(range.isEmpty() ? 200 : 206, response.status(), told);
        assertEquals("\"" + version.get() + "\"", response.field("etag"), told);
        assertArrayEquals(Arrays.copyOfRange(body, first, last + 1), response.content(), told);
        check(whole ? 0 : first, last, told);
    }

    private void runHistory(long seed) throws IOException {
        Random random = new Random(seed);
        String path = "/" + seed;
        StringBuilder story = new StringBuilder("seed " + seed + "\n");
        stored.clear();
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(12)) {
                case 0 -> {
                    story.append("purge\n");
                    proxy.purge(path);
                    stored.clear();
                }
                case 1 -> {
                    story.append("restart\n");
                    proxy.restart();
                }
                case 2, 3 -> {
                    boolean changes = random.nextInt(3) == 0;
                    story.append(changes ? "time passes, and it changes\n" : "time passes\n");
                    version.addAndGet(changes ? 1 : 0);
                    proxy.advanceSeconds(LIFETIME_SECONDS + 1);
                    freshSeconds = 0;
                }
                default -> {}
            }
            ask(path, random, story.toString());
            story.append("asked for ").append(asked).append('\n');
        }
    }

    @Test
    void receivedBlocksAreNeverFetchedAgain_rfc9111_s3_4() throws Exception {
        System.out.println("seeds " + FIRST_SEED + " to " + (FIRST_SEED + HISTORIES - 1));
        proxy.start(this::origin, config -> config.storage(directory.resolve("volume"), 1L << 30));
        for (long seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
            runHistory(seed);
        }
    }
}
