package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.LeaseHeldException;
import io.millrace.store.io.SystemFileIo;
import io.millrace.store.tool.StoreCheck;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests volumes on block devices and in files of any name. The store uses only its own content, and leaves foreign
 * content unchanged.
 */
class DeviceVolumeTest {
    private static final Path DEVICE = Path.of("/dev/sdx1");
    private static final Path INDEX = Path.of("/state/storage/dev-sdx1");
    private static final int DEVICE_BYTES = 8 << 20;

    @TempDir
    Path directory;

    private static TestStore store(FileIo io, Path device, long size, Path index, boolean format) {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(device, size, VolumeConfig.DEFAULT_NAME, index, format)))
                .segmentBytes(128 * 1024)
                .blockBytes(8192)
                .ramBytes(0);
        return new TestStore(config, io);
    }

    private static TestStore store(FaultyFileIo io) {
        return store(io, DEVICE, 0, INDEX, false);
    }

    /** Returns why the volume is offline; null if it is online. */
    private static String error(FileIo io, Path device, long size, Path index, boolean format) {
        try (TestStore test = store(io, device, size, index, format).withoutCheck()) {
            StoreStatistics.Volume volume = test.store.statistics().volumes().get(0);
            boolean works = volume.state() == StoreStatistics.State.ONLINE;
            return works ? null : volume.lastError();
        }
    }

    private static FaultyFileIo blank() {
        FaultyFileIo io = new FaultyFileIo();
        io.device(DEVICE, new byte[DEVICE_BYTES]);
        return io;
    }

    /** Returns a device with foreign content at the position. */
    private static FaultyFileIo foreign(byte[] content, int at) {
        byte[] bytes = content.clone();
        System.arraycopy("_BHRfS_M".getBytes(StandardCharsets.US_ASCII), 0, bytes, at, 8);
        FaultyFileIo io = new FaultyFileIo();
        io.device(DEVICE, bytes);
        return io;
    }

    private static void fill(TestStore test) {
        for (int i = 0; i < 40; i++) {
            assertTrue(test.put("key" + i, "head" + i, TestStore.body(i, 100_000)));
        }
        test.sync();
    }

    /** The index of a device is in a directory with an encoded name, which operators have never seen. */
    @Test
    void aFailureNamesTheDeviceAndNotTheDirectoryOfItsIndex() {
        FaultyFileIo io = blank();
        try (TestStore test = store(io).withoutCheck()) {
            io.failWrites(true, DEVICE);
            for (int i = 0; i < 50 && volume(test).state() != StoreStatistics.State.OFFLINE; i++) {
                test.put("k" + i, "h", TestStore.body(i, 200_000));
                test.sync();
            }
            StoreStatistics.Volume volume = volume(test);
            assertEquals(StoreStatistics.State.OFFLINE, volume.state());
            String reason = "no space left; free space on the file system, or lower the size";
            assertTrue(volume.lastError().startsWith(DEVICE + ": " + reason), volume.lastError());
            assertTrue(volume.outOfUse().startsWith("out of use: " + reason), volume.outOfUse());
            assertFalse(volume.outOfUse().contains(INDEX.toString()), volume.outOfUse());
        }
    }

    private static StoreStatistics.Volume volume(TestStore test) {
        return test.store.statistics().volumes().get(0);
    }

    @Test
    void aWholeDeviceKeepsItsObjectsOverRestartsAndAKill() throws IOException {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
            assertTrue(test.store.statistics().volumes().get(0).bytesMax() > DEVICE_BYTES - (256 << 10));
        }
        try (TestStore test = store(io)) {
            assertArrayEquals(TestStore.body(3, 100_000), test.read("key3"));
            assertTrue(test.put("more", "h", TestStore.body(99, 5000)));
            test.sync();
            io = io.afterKill();
            test.withoutCheck();
            assertThrows(UncheckedIOException.class, test::close);
        }
        try (TestStore test = store(io)) {
            assertArrayEquals(TestStore.body(99, 5000), test.read("more"));
            assertArrayEquals(TestStore.body(39, 100_000), test.read("key39"));
        }
        assertEquals(DEVICE_BYTES, io.length(DEVICE));
    }

    @Test
    void theIndexIsMadeAnewFromTheDevice() throws IOException {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
        }
        io.delete(INDEX.resolve("index"));
        try (TestStore test = store(io)) {
            assertArrayEquals(TestStore.body(7, 100_000), test.read("key7"));
        }
    }

    @Test
    void foreignContentIsNotOverwritten() {
        for (int at : new int[] {0, 510, 4086, 65536 + 64, DEVICE_BYTES - 4096}) {
            FaultyFileIo io = foreign(new byte[DEVICE_BYTES], at);
            byte[] before = io.content(DEVICE);
            String error = error(io, DEVICE, 0, INDEX, false);
            assertNotNull(error, "at " + at);
            assertTrue(error.startsWith(DEVICE + ": contains other data ("), error);
            assertTrue(error.contains("format: true"), error);
            assertArrayEquals(before, io.content(DEVICE));
        }
    }

    @Test
    void anotherFormatOverAVolumeIsNotTakenForOne() {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
        }
        // Swap space begins with this, and leaves the second copy of the superblock in place.
        byte[] bytes = io.content(DEVICE);
        Arrays.fill(bytes, 0, 4096, (byte) 0);
        String error = error(foreign(bytes, 4086), DEVICE, 0, INDEX, false);
        assertTrue(error.contains("contains other data (at byte 4086: 5f 42 48"), error);
    }

    @Test
    void formatCountsOnce() {
        FaultyFileIo io = foreign(new byte[DEVICE_BYTES], 1080);
        assertNull(error(io, DEVICE, 0, INDEX, true));
        assertNull(error(io, DEVICE, 0, INDEX, true));
        io.device(DEVICE, foreign(new byte[DEVICE_BYTES], 1080).content(DEVICE));
        byte[] before = io.content(DEVICE);
        String used = error(io, DEVICE, 0, INDEX, true);
        assertTrue(used.contains("format: true, which works once, was already used"), used);
        assertTrue(used.endsWith(INDEX + "/device"), used);
        assertArrayEquals(before, io.content(DEVICE));
        // After a start without the format option, the option works again.
        assertNotNull(error(io, DEVICE, 0, INDEX, false));
        assertNull(error(io, DEVICE, 0, INDEX, true));
    }

    @Test
    void formatOfAVolumeKeepsIt() {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
        }
        try (TestStore test = store(io, DEVICE, 0, INDEX, true)) {
            assertEquals("head5", test.head("key5"));
        }
    }

    @Test
    void oldSegmentsDoNotComeToLifeByFormatNorByGrowing() throws IOException {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
        }
        assertTrue(StoreCheck.check(io, INDEX).toString().contains("segments 63 of 131072 bytes, "));
        FaultyFileIo reused = foreign(io.content(DEVICE), 1128);
        assertNull(error(reused, DEVICE, 1 << 20, INDEX, true));
        assertEmpty(reused, 8);
        assertNull(error(reused, DEVICE, 0, INDEX, false));
        assertEmpty(reused, 63);
    }

    private static void assertEmpty(FaultyFileIo io, int segments) throws IOException {
        String report = StoreCheck.check(io, INDEX).toString();
        assertTrue(report.contains("segments " + segments + " of 131072 bytes, 0 with records"), report);
    }

    @Test
    void aKillDuringItsCreationDoesNotPreventALaterOne() {
        for (int writes = 0; writes < 70; writes += 3) {
            FaultyFileIo io = foreign(new byte[DEVICE_BYTES], 70_000);
            // Kills the process while it writes the second line of the note or later. An earlier kill leaves the device
            // unchanged.
            io.killAfterWrites(2 + writes, new Random(writes));
            assertThrows(Throwable.class, () -> makeAndFill(io));
            assertTrue(io.isDead(), "killed after " + writes);
            String error = error(io.afterKill(), DEVICE, 0, INDEX, true);
            assertNull(error, "killed after " + writes);
        }
    }

    private static void makeAndFill(FaultyFileIo io) {
        try (TestStore test = store(io, DEVICE, 0, INDEX, true).withoutCheck()) {
            fill(test);
        }
    }

    @Test
    void sizesThatDoNotFit() {
        FaultyFileIo io = blank();
        String beyond = error(io, DEVICE, DEVICE_BYTES + 1, INDEX, false);
        assertEquals(
                DEVICE + ": the configured size is larger than the device: size=" + (DEVICE_BYTES + 1)
                        + " bytes, device=" + DEVICE_BYTES + " bytes",
                beyond);
        io.device(DEVICE, new byte[100_000]);
        String small = error(io, DEVICE, 0, INDEX, false);
        assertTrue(small.startsWith(DEVICE + ": the device is too small: actual=100000 bytes, limit="), small);
    }

    @Test
    void aDeviceThatBecameSmallerStartsEmpty() {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
        }
        io.device(DEVICE, Arrays.copyOf(io.content(DEVICE), DEVICE_BYTES / 2));
        try (TestStore test = store(io)) {
            assertNull(test.head("key1"));
            fill(test);
        }
    }

    @Test
    void oneStateDirectoryAtATime() {
        FaultyFileIo io = blank();
        try (TestStore test = store(io)) {
            fill(test);
            UncheckedIOException held = assertThrows(
                    UncheckedIOException.class, () -> store(io, DEVICE, 0, Path.of("/other/index"), false));
            assertEquals(LeaseHeldException.class, held.getCause().getClass());
        }
    }

    @Test
    void aFileOfAnyName() throws IOException {
        Path file = directory.resolve("millrace.img");
        Path index = directory.resolve("index");
        FileIo io = new SystemFileIo();
        try (TestStore test = store(io, file, 4 << 20, index, false)) {
            assertTrue(test.put("a", "h", TestStore.body(1, 50_000)));
            test.sync();
            assertThrows(UncheckedIOException.class, () -> store(io, file, 4 << 20, directory.resolve("other"), false));
        }
        assertEquals((4 << 20) + 65536, Files.size(file));
        try (TestStore test = store(io, file, 4 << 20, index, false)) {
            assertArrayEquals(TestStore.body(1, 50_000), test.read("a"));
        }
        String none =
                assertThrows(IOException.class, () -> StoreCheck.check(file)).getMessage();
        assertTrue(none.endsWith("for a block device or a file give its index_path"), none);
    }

    @Test
    void filesThatAreRefused() throws IOException {
        FileIo io = new SystemFileIo();
        Path index = directory.resolve("index");
        Path file = Files.writeString(directory.resolve("letters"), "mine");
        String mine = error(io, file, 4 << 20, index, false);
        assertTrue(mine.startsWith(file + ": contains other data (at byte 0: 6d 69 6e 65)"), mine);
        assertEquals("mine", Files.readString(file));
        assertTrue(error(io, file, 0, index, false).endsWith(": size is missing; a regular file needs one"));
        String noDirectory = error(io, directory, 4 << 20, index, false);
        assertTrue(noDirectory.contains(": is a directory, but index_path is only for"), noDirectory);
        String pipe = error(io, Path.of("/dev/null"), 0, index, false);
        assertTrue(pipe.contains("/dev/null: is not a directory, a regular file or a block device"), pipe);
        String missing = error(io, Path.of("/dev/no-such-device"), 4 << 20, index, false);
        assertTrue(missing.startsWith("/dev/no-such-device: missing"), missing);
    }

    @Test
    void aLoopDevice() throws Exception {
        Path image = directory.resolve("image");
        try (RandomAccessFile made = new RandomAccessFile(image.toFile(), "rw")) {
            made.setLength(DEVICE_BYTES);
        }
        FileIo io = new SystemFileIo();
        Path index = directory.resolve("index");
        Path device = attach(image);
        try {
            try (TestStore test = store(io, device, 0, index, false)) {
                fill(test);
                assertThrows(UncheckedIOException.class, () -> store(io, device, 0, directory.resolve("other"), false));
            }
            try (TestStore test = store(io, device, 0, index, false)) {
                assertArrayEquals(TestStore.body(5, 100_000), test.read("key5"));
            }
            assertTrue(error(io, device, DEVICE_BYTES + 1, index, false).contains("device=" + DEVICE_BYTES));
        } finally {
            run("losetup", "-d", device.toString());
        }
        Path readOnly = attach(image, "-r");
        try {
            String error = error(io, readOnly, 0, index, false);
            assertTrue(error.endsWith(": the device is read-only"), error);
        } finally {
            run("losetup", "-d", readOnly.toString());
        }
        assertEquals(DEVICE_BYTES, Files.size(image));
    }

    /** Attaches an image to a loop device; skips the test if that is impossible. */
    private static Path attach(Path image, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of("losetup", "-f", "--show"));
        command.addAll(List.of(options));
        command.add(image.toString());
        String said;
        try {
            said = run(command.toArray(String[]::new));
        } catch (IOException e) {
            said = e.getMessage();
        }
        boolean made = said.startsWith("/dev/loop");
        if (!made) {
            System.out.println("skipped, no loop device can be made here: " + said);
        }
        assumeTrue(made, said);
        return Path.of(said);
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        process.waitFor();
        return said;
    }
}
