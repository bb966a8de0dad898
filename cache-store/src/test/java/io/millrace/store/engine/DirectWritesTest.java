package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.VolumeConfig;
import io.millrace.store.VolumeConfig.DirectWrites;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests volumes with direct writes: which files use them, and that all objects stay readable with either setting. */
class DirectWritesTest {
    private static final Path DEVICE = Path.of("/dev/sdx1");
    private static final Path VOLUME = Path.of("/volume");
    private static final int SEGMENT_BYTES = 128 * 1024;
    private static final int SEGMENTS = 40;
    /** Bytes of the longest body: its blocks fill three segments. */
    private static final int LENGTH_MAX = 3 * SEGMENT_BYTES;

    @TempDir
    Path directory;

    private static TestStore open(FileIo io, VolumeConfig volume, int blockBytes) {
        return open(io, volume, blockBytes, SEGMENT_BYTES);
    }

    private static TestStore open(FileIo io, VolumeConfig volume, int blockBytes, int segmentBytes) {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(volume))
                .segmentBytes(segmentBytes)
                .blockBytes(blockBytes)
                .ramBytes(0);
        return new TestStore(config, io);
    }

    private static VolumeConfig volume(Path path, DirectWrites mode) {
        return new VolumeConfig(path, (long) SEGMENTS * SEGMENT_BYTES).with(mode);
    }

    private static VolumeConfig device(DirectWrites mode) {
        return new VolumeConfig(DEVICE, 0, VolumeConfig.DEFAULT_NAME, Path.of("/index"), false).with(mode);
    }

    private static FaultyFileIo withDevice() {
        FaultyFileIo io = new FaultyFileIo();
        io.device(DEVICE, new byte[SEGMENTS * SEGMENT_BYTES]);
        return io;
    }

    /** Lengths around the multiples of 512 bytes up to some blocks, then longer ones. */
    private static List<Integer> lengths() {
        List<Integer> lengths = new ArrayList<>(List.of(1));
        for (int blocks = 1; blocks <= 12; blocks++) {
            for (int more : new int[] {-65, -1, 0, 1, 63}) {
                lengths.add(blocks * 512 + more);
            }
        }
        for (int length = 10_000; length <= LENGTH_MAX; length = length * 3 / 2) {
            lengths.add(length);
        }
        lengths.add(LENGTH_MAX);
        return lengths;
    }

    @ParameterizedTest
    @EnumSource
    void everyLengthIsReadableWithTheOtherSettingAfterTheRingIsFull(DirectWrites mode) {
        FaultyFileIo io = withDevice();
        List<Integer> lengths = lengths();
        Random random = new Random(7);
        try (TestStore test = open(io, device(mode), 32 * 1024)) {
            for (int round = 0; round < 8; round++) {
                for (int i = 0; i < lengths.size(); i++) {
                    assertTrue(test.put("key" + i, "round" + round, TestStore.body(i + round, lengths.get(i))));
                    if (random.nextInt(4) == 0) {
                        test.sync();
                    }
                }
            }
            test.sync();
            assertTrue(test.store.statistics().volumes().get(0).ring().segmentsReclaimed() > 0, "the ring is not full");
            assertAll(test, lengths, 7);
        }
        assertEquals(mode != DirectWrites.OFF, io.directWrites() > 0);
        DirectWrites other = mode == DirectWrites.OFF ? DirectWrites.ON : DirectWrites.OFF;
        TestStore killed = open(io, device(other), 32 * 1024);
        assertAll(killed, lengths, 7);
        for (int i = 0; i < lengths.size(); i += 2) {
            assertTrue(killed.put("key" + i, "again", TestStore.body(i + 7, lengths.get(i))));
        }
        killed.sync();
        io = io.afterKill();
        killed.abandon();
        try (TestStore test = open(io, device(mode), 32 * 1024)) {
            assertAll(test, lengths, 7);
        }
    }

    private static void assertAll(TestStore test, List<Integer> lengths, int round) {
        int found = 0;
        for (int i = 0; i < lengths.size(); i++) {
            byte[] body = test.read("key" + i);
            if (body != null) {
                found++;
                assertArrayEquals(TestStore.body(i + round, lengths.get(i)), body, "length " + lengths.get(i));
            }
        }
        // The ring holds the last round.
        assertEquals(lengths.size(), found);
    }

    @Test
    void autoMeansDevicesOnly() {
        FaultyFileIo io = withDevice();
        try (TestStore test = open(io, volume(VOLUME, DirectWrites.AUTO), 32 * 1024)) {
            assertTrue(test.put("key", "h", TestStore.body(1, 30_000)));
            test.sync();
        }
        assertEquals(0, io.directWrites());
        try (TestStore test = open(io, volume(VOLUME, DirectWrites.ON), 32 * 1024)) {
            assertTrue(test.put("other", "h", TestStore.body(2, 30_000)));
            test.sync();
            assertArrayEquals(TestStore.body(1, 30_000), test.read("key"));
        }
        assertTrue(io.directWrites() > 0);
    }

    @Test
    void aDeviceThatRefusesThemIsWrittenThroughThePageCache() {
        FaultyFileIo io = withDevice();
        io.refuseDirect();
        try (TestStore test = open(io, device(DirectWrites.AUTO), 32 * 1024)) {
            assertTrue(test.put("key", "h", TestStore.body(1, 30_000)));
            test.sync();
            assertArrayEquals(TestStore.body(1, 30_000), test.read("key"));
        }
        assertEquals(0, io.directWrites());
    }

    @Test
    void aRefusalIsAnErrorIfTheyAreOn() {
        FaultyFileIo io = new FaultyFileIo();
        io.refuseDirect();
        VolumeConfig refused = volume(VOLUME, DirectWrites.ON);
        try (TestStore test = open(io, refused, 32 * 1024).withoutCheck()) {
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            assertEquals(StoreStatistics.State.OFFLINE, volume.state());
            String error = volume.lastError();
            assertNotNull(error);
            assertTrue(error.contains("direct_writes: on is not possible; set auto or off: "), error);
            assertTrue(error.contains("/volume/volume: the file system memory refuses O_DIRECT"), error);
            assertNull(test.read("key"));
        }
    }

    /**
     * A record above the limit of single writes is written in two parts, its content first. The metadata then has whole
     * blocks, and shares its last block with the content.
     */
    @ParameterizedTest
    @ValueSource(ints = {4 * 1024, 64 * 1024})
    void metadataOfManyBlocksLeavesTheContentAsItIs(int blockBytes) {
        FaultyFileIo io = withDevice();
        List<String> heads = new ArrayList<>();
        for (int length = 70_000; length <= 2 * SEGMENT_BYTES; length += 24_690) {
            heads.add("h".repeat(length));
        }
        try (TestStore test = open(io, device(DirectWrites.ON), blockBytes, 4 * SEGMENT_BYTES)) {
            for (int i = 0; i < heads.size(); i++) {
                assertTrue(test.put("key" + i, heads.get(i), TestStore.body(i, blockBytes)));
                test.sync();
            }
            assertHeadsAndBodies(test, heads, blockBytes);
        }
        assertTrue(io.directWrites() > 0);
        try (TestStore test = open(io, device(DirectWrites.OFF), blockBytes, 4 * SEGMENT_BYTES)) {
            assertHeadsAndBodies(test, heads, blockBytes);
        }
    }

    private static void assertHeadsAndBodies(TestStore test, List<String> heads, int length) {
        for (int i = 0; i < heads.size(); i++) {
            String what = "head of " + heads.get(i).length() + " characters";
            assertTrue(heads.get(i).equals(test.head("key" + i)), what);
            assertArrayEquals(TestStore.body(i, length), test.read("key" + i), what);
        }
    }

    /** Uses the real file system, with blocks of at least 4,096 bytes and segments larger than the staging buffer. */
    @Test
    void objectsInARealFile() {
        FileIo io = new SystemFileIo();
        VolumeConfig volume = new VolumeConfig(directory.resolve("v"), 32 << 20).with(DirectWrites.ON);
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(volume))
                .segmentBytes(4 << 20)
                .blockBytes(1 << 20)
                .ramBytes(0);
        int[] lengths = {1, 4095, 100_000, 200_000, 600_000, 1 << 20, 3_000_000};
        try (TestStore test = new TestStore(config, io)) {
            String error = test.store.statistics().volumes().get(0).lastError();
            if (error != null) {
                System.out.println("skipped, no direct writes here: " + error);
                test.withoutCheck();
                return;
            }
            for (int round = 0; round < 4; round++) {
                for (int length : lengths) {
                    assertTrue(test.put("key" + length, "h", TestStore.body(length + round, length)));
                    test.sync();
                    assertArrayEquals(TestStore.body(length + round, length), test.read("key" + length));
                }
            }
        }
        try (TestStore test = new TestStore(config.volumes(List.of(volume.with(DirectWrites.OFF))), io)) {
            for (int length : lengths) {
                assertArrayEquals(TestStore.body(length + 3, length), test.read("key" + length));
            }
        }
    }
}
