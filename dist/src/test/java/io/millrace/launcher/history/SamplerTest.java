package io.millrace.launcher.history;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.history.HistorySource.Point;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.MetricsRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SamplerTest {
    private static final Path FIRST = Path.of("worker-1");
    private static final Path SECOND = Path.of("worker-2");
    private static final long STARTED = 1_800_000_000_000L;

    @TempDir
    private Path directory;

    private final Map<Path, String> workers = new HashMap<>();
    private Path serving = FIRST;
    private long nowMillis = STARTED;
    private History history;
    private Sampler sampler;

    @BeforeEach
    void open() {
        history = History.open(directory.resolve("history.ring"), 1 << 20);
        sampler = new Sampler(history, this::metrics, () -> serving, () -> nowMillis);
    }

    @AfterEach
    void close() {
        sampler.close();
        history.close();
    }

    private String metrics(Path socket) throws IOException {
        String text = workers.get(socket);
        if (text == null) {
            throw new IOException("no worker");
        }
        return text;
    }

    private static String text(long startedMillis, long requests) {
        return "process_start_time_seconds{application=\"millrace\"} " + startedMillis / 1e3
                + "\nmillrace_requests_total{application=\"millrace\",cache=\"hit\"} " + requests + ".0\n";
    }

    private void tick() throws InterruptedException {
        nowMillis += 10_000;
        sampler.sample();
    }

    private List<Point> points() throws IOException {
        return history.read(10, 0, Long.MAX_VALUE);
    }

    private long requests() throws IOException {
        return points().stream().mapToLong(Point::requests).sum();
    }

    @Test
    void countsOfAWorkerOfThisLauncherAreCompleteFromItsStart() throws Exception {
        workers.put(FIRST, text(STARTED + 1, 7));
        tick();
        workers.put(FIRST, text(STARTED + 1, 10));
        tick();
        assertEquals(List.of(7L, 3L), points().stream().map(Point::requests).toList());
        assertEquals(
                List.of(10_000L, 10_000L),
                points().stream().map(Point::measuredMillis).toList());
        assertEquals(STARTED / 1000, points().get(0).atSeconds());
    }

    @Test
    void countsOfAnAdoptedWorkerBeginWithItsFirstSample() throws Exception {
        workers.put(FIRST, text(STARTED - 60_000, 1_000_000));
        tick();
        workers.put(FIRST, text(STARTED - 60_000, 1_000_005));
        tick();
        assertEquals(5, requests());
    }

    @Test
    void rollLosesNoRequest() throws Exception {
        workers.put(FIRST, text(STARTED + 1, 10));
        tick();
        serving = SECOND;
        workers.put(SECOND, text(nowMillis + 1, 4));
        workers.put(FIRST, text(STARTED + 1, 15));
        tick();
        workers.put(FIRST, text(STARTED + 1, 16));
        tick();
        workers.remove(FIRST);
        workers.put(SECOND, text(nowMillis, 6));
        tick();
        assertEquals(16 + 6, requests());
    }

    @Test
    void timeWithoutAWorkerIsNotMeasured() throws Exception {
        workers.put(FIRST, text(STARTED + 1, 10));
        tick();
        workers.remove(FIRST);
        tick();
        serving = null;
        tick();
        serving = SECOND;
        workers.put(SECOND, text(nowMillis, 3));
        tick();
        assertEquals(13, requests());
        assertEquals(20_000, points().stream().mapToLong(Point::measuredMillis).sum());
    }

    @Test
    void stepOfTheClockIsNoLongMeasurement() throws Exception {
        workers.put(FIRST, text(STARTED + 1, 10));
        tick();
        nowMillis += 3_600_000;
        workers.put(FIRST, text(STARTED + 1, 20));
        tick();
        nowMillis -= 7_200_000;
        tick();
        assertTrue(points().stream().allMatch(point -> point.measuredMillis() <= 20_000));
        assertEquals(20, requests());
    }

    @Test
    void nothingIsReadWhileTheHistoryIsOff() throws Exception {
        history.resize(0);
        workers.put(FIRST, text(STARTED + 1, 10));
        tick();
        assertEquals(List.of(), history.archives());
        history.resize(2 << 20);
        workers.put(FIRST, text(STARTED - 1, 12));
        tick();
        workers.put(FIRST, text(STARTED - 1, 13));
        tick();
        assertEquals(1, requests());
    }

    /** The names and buckets of the real registry are those that the parser expects. */
    @Test
    void everyFigureIsFoundInTheMetricsOfAWorker() throws Exception {
        try (MetricsRegistry registry = new MetricsRegistry()) {
            LoopCounters loop = registry.newLoopCounters();
            loop.requestCompleted(CacheResult.HIT, 200, 15_000);
            loop.requestCompleted(CacheResult.STALE, 200, 15_000);
            loop.requestCompleted(CacheResult.URI_MISS, 502, 60_000_000_000L);
            loop.requestCompleted(CacheResult.NONE, 404, 1);
            loop.originResponded(1_000_000);
            loop.add(Counter.CLIENT_SENT_BYTES, 100);
            loop.add(Counter.ORIGIN_RECEIVED_BYTES, 50);
            loop.increment(Counter.ORIGIN_FAILURES_DNS);
            MetricsText.Sample sample = MetricsText.parse(registry.prometheusText());
            Figures figures = sample.figures();
            assertTrue(sample.startedSeconds() > 1e9, "start " + sample.startedSeconds());
            assertEquals(4, figures.count(Figures.REQUESTS));
            assertEquals(2, figures.count(Figures.HITS));
            assertEquals(1, figures.count(Figures.ERRORS));
            assertEquals(100, figures.count(Figures.SENT_BYTES));
            assertEquals(50, figures.count(Figures.ORIGIN_BYTES));
            assertEquals(1, figures.count(Figures.ORIGIN_FAILURES));
            long[] hits = new long[Figures.BUCKETS];
            hits[1] = 2;
            assertArrayEquals(hits, figures.histogram(Figures.HIT_LATENCY));
            long[] misses = new long[Figures.BUCKETS];
            misses[Figures.BUCKETS - 1] = 1;
            assertArrayEquals(misses, figures.histogram(Figures.MISS_LATENCY));
            assertEquals(1, figures.bucket(Figures.ORIGIN_LATENCY, 6));
        }
    }

    @Test
    void unusableFileTurnsTheHistoryOffWithANote() throws IOException {
        Path file = Files.createDirectory(directory.resolve("taken"));
        try (History broken = History.open(file, 1 << 20)) {
            assertEquals(List.of(), broken.archives());
            assertTrue(
                    broken.resize(2 << 20).get(0).contains("taken"),
                    broken.resize(2 << 20).toString());
        }
    }
}
