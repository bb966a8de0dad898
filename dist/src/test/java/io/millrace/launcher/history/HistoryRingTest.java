package io.millrace.launcher.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.history.HistorySource.Archive;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistoryRingTest {
    private static final Archive FINE = new Archive(10, 6);
    private static final Archive COARSE = new Archive(60, 5);
    private static final Layout SMALL = new Layout(List.of(FINE, COARSE));

    /** A multiple of 60, far from 0. */
    private static final long BEGIN = 1_800_000_000L;

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("history.ring");
    }

    private static Figures requests(long count) {
        Figures figures = new Figures();
        figures.add(Figures.REQUESTS, count);
        figures.addBucket(Figures.MISS_LATENCY, Figures.BUCKETS - 1, count);
        figures.measured(10_000);
        return figures;
    }

    private static NavigableMap<Long, Long> read(HistoryRing ring, Archive archive) throws IOException {
        TreeMap<Long, Long> requests = new TreeMap<>();
        ring.read(archive, Long.MIN_VALUE, Long.MAX_VALUE).forEach((at, figures) -> {
            assertEquals(figures.count(Figures.REQUESTS), figures.bucket(Figures.MISS_LATENCY, Figures.BUCKETS - 1));
            requests.put(at, figures.count(Figures.REQUESTS));
        });
        return requests;
    }

    @Test
    void everyArchiveSumsItsStepsAndTheOldestAreReplaced() throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            long size = Files.size(file());
            for (int i = 0; i < 60; i++) {
                ring.add(BEGIN + 10L * i + 5, requests(i + 1));
            }
            assertEquals(size, Files.size(file()), "the size is fixed");
            NavigableMap<Long, Long> fine = read(ring, FINE);
            assertEquals(6, fine.size());
            assertEquals(BEGIN + 540, fine.firstKey());
            assertEquals(60, fine.get(BEGIN + 590));
            NavigableMap<Long, Long> coarse = read(ring, COARSE);
            assertEquals(5, coarse.size());
            assertEquals(BEGIN + 300, coarse.firstKey());
            assertEquals(55 + 56 + 57 + 58 + 59 + 60, coarse.get(BEGIN + 540));
            assertEquals(
                    60_000,
                    ring.read(COARSE, BEGIN + 540, BEGIN + 541).get(BEGIN + 540).measuredMillis());
        }
    }

    @Test
    void gapsStayEmptyAfterAWholeLap() throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            ring.add(BEGIN, requests(1));
            ring.add(BEGIN + 10 * 6 * 3 + 10, requests(2));
            assertEquals(
                    List.of(BEGIN, BEGIN + 190), List.copyOf(read(ring, FINE).keySet()));
            assertEquals(0, ring.read(FINE, BEGIN + 10, BEGIN + 190).size(), "the range excludes both");
        }
    }

    @Test
    void stepsSurviveARestartAndTheCurrentOneContinues() throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            ring.add(BEGIN + 1, requests(3));
        }
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            ring.add(BEGIN + 9, requests(4));
            ring.add(BEGIN + 11, requests(5));
            assertEquals(new TreeMap<>(Map.of(BEGIN, 7L, BEGIN + 10, 5L)), read(ring, FINE));
            assertEquals(new TreeMap<>(Map.of(BEGIN, 12L)), read(ring, COARSE));
        }
    }

    /** A power failure may leave any part of a slot unwritten. */
    @ParameterizedTest
    @ValueSource(ints = {0, 7, 8, 12, 16, 80, 335})
    void tornStepCountsAsEmpty(int tornAt) throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            ring.add(BEGIN, requests(3));
            ring.add(BEGIN + 10, requests(4));
        }
        try (RandomAccessFile raw = new RandomAccessFile(file().toFile(), "rw")) {
            raw.seek(SMALL.position(FINE, BEGIN) + tornAt);
            int before = raw.read();
            raw.seek(SMALL.position(FINE, BEGIN) + tornAt);
            raw.write(before ^ 0x10);
        }
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            assertEquals(new TreeMap<>(Map.of(BEGIN + 10, 4L)), read(ring, FINE));
            assertEquals(7, read(ring, COARSE).get(BEGIN));
            ring.add(BEGIN, requests(1));
            assertEquals(1, read(ring, FINE).get(BEGIN), "the step begins again");
        }
    }

    @Test
    void damagedHeaderOrShortFileStartsEmpty() throws IOException {
        for (String damage : List.of("header", "length", "text")) {
            Path file = directory.resolve(damage);
            try (HistoryRing ring = HistoryRing.open(file, SMALL)) {
                ring.add(BEGIN, requests(3));
            }
            try (RandomAccessFile raw = new RandomAccessFile(file.toFile(), "rw")) {
                switch (damage) {
                    case "header" -> {
                        raw.seek(20);
                        raw.write(0x7f);
                    }
                    case "length" -> raw.setLength(raw.length() - 1);
                    default -> raw.setLength(11);
                }
            }
            try (HistoryRing ring = HistoryRing.open(file, SMALL)) {
                assertTrue(read(ring, FINE).isEmpty(), damage);
                ring.add(BEGIN, requests(3));
                assertEquals(3, read(ring, FINE).get(BEGIN));
            }
            assertEquals(SMALL.bytes(), Files.size(file));
        }
    }

    @Test
    void anotherSizeKeepsTheLatestSteps() throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            for (int i = 0; i < 30; i++) {
                ring.add(BEGIN + 10L * i, requests(1));
            }
        }
        Layout larger = new Layout(List.of(new Archive(10, 12), new Archive(60, 9)));
        try (HistoryRing ring = HistoryRing.open(file(), larger)) {
            assertEquals(6, read(ring, larger.archives().get(0)).size());
            assertEquals(5, read(ring, larger.archives().get(1)).size());
            ring.add(BEGIN + 300, requests(1));
        }
        Layout smaller = new Layout(List.of(new Archive(10, 2), new Archive(60, 2)));
        try (HistoryRing ring = HistoryRing.open(file(), smaller)) {
            assertEquals(
                    List.of(BEGIN + 290, BEGIN + 300),
                    List.copyOf(read(ring, smaller.archives().get(0)).keySet()));
            assertEquals(
                    List.of(BEGIN + 240, BEGIN + 300),
                    List.copyOf(read(ring, smaller.archives().get(1)).keySet()));
        }
        assertEquals(smaller.bytes(), Files.size(file()));
    }

    @Test
    void otherResolutionsAreFilledFromFinerOnes() throws IOException {
        try (HistoryRing ring = HistoryRing.open(file(), SMALL)) {
            for (int i = 0; i < 12; i++) {
                ring.add(BEGIN + 10L * i, requests(1));
            }
        }
        Layout other = new Layout(List.of(new Archive(15, 10), new Archive(20, 10), new Archive(120, 10)));
        try (HistoryRing ring = HistoryRing.open(file(), other)) {
            assertTrue(read(ring, other.archives().get(0)).isEmpty(), "no archive has a step that divides 15 s");
            assertEquals(2, read(ring, other.archives().get(1)).get(BEGIN + 60));
            assertEquals(12, read(ring, other.archives().get(2)).get(BEGIN));
        }
    }

    @Test
    void sizesOfTheSettingFitTheirArchives() {
        for (long bytes : List.of(1L << 20, 2L << 20, 20L << 20)) {
            Layout layout = Layout.ofSize(bytes);
            assertTrue(layout.bytes() <= bytes && layout.bytes() > bytes - 2L * Slot.BYTES, layout.toString());
            assertTrue(layout.archives().get(0).spanSeconds() >= 3600);
            assertTrue(layout.archives().get(1).spanSeconds() >= 86_400);
            assertTrue(layout.archives().get(2).spanSeconds() >= 7 * 86_400, layout.toString());
            assertEquals(layout, Layout.parse(layout.encoded()));
        }
        assertNull(Layout.parse(ByteBuffer.allocate(Layout.HEADER_BYTES)));
    }

    @Test
    void bucketsKeepCountsAboveTheSignedRange() {
        Figures figures = new Figures();
        figures.addBucket(Figures.HIT_LATENCY, 0, 4_000_000_000L);
        figures.addBucket(Figures.HIT_LATENCY, 1, 5_000_000_000L);
        Figures decoded = Slot.decoded(Slot.encoded(BEGIN, figures));
        assertEquals(4_000_000_000L, decoded.bucket(Figures.HIT_LATENCY, 0));
        assertEquals(4_294_967_295L, decoded.bucket(Figures.HIT_LATENCY, 1), "saturated");
    }
}
