package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a mapped index whose file is truncated while it is in use. */
class IndexCutOffTest {
    private static final int KEYS = 300;
    private static final int WRONG_BYTES = 3;

    @TempDir
    Path directory;

    private static StoreConfig.Builder config(Path path) {
        return StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(path, 4 << 20)))
                .segmentBytes(256 * 1024)
                .blockBytes(8192)
                .ramBytes(0);
    }

    private static byte[] body(int key, int version) {
        return TestStore.body(key * 1000L + version, 200 + key);
    }

    /** Returns true if the key is absent, or has exactly one of its versions. */
    private static boolean isRight(TestStore test, int key) {
        StoredObject<TextHead> object = test.find("key" + key);
        if (object == null) {
            return true;
        }
        try {
            int version = Integer.parseInt(object.head().text());
            return Arrays.equals(body(key, version), TestStore.readAll(object));
        } catch (UncheckedIOException e) {
            // The object was removed between both calls.
            return true;
        } finally {
            object.release();
        }
    }

    /**
     * Runs in its own process, which the fault may end. The time at which the volume goes offline is not checked: the
     * JVM reports the fault to a thread some time after the access. The next test checks that.
     */
    @Tag("nightly")
    @Test
    void theProcessContinuesOrEndsAndTheNextStartSucceeds() throws Exception {
        Path path = directory.resolve("volume");
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=" + directory.resolve("error.log"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Cut.class.getName(),
                        path.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(child.waitFor(60, TimeUnit.SECONDS));
            assertTrue(said.startsWith("cut off"), said);
            assertNotEquals(WRONG_BYTES, child.exitValue(), said);
        } finally {
            child.destroyForcibly();
        }
        try (TestStore test = new TestStore(config(path), new SystemFileIo())) {
            for (int key = 0; key < KEYS; key++) {
                assertTrue(isRight(test, key), "key" + key);
            }
            assertTrue(test.put("new", "0", body(1, 0)));
            test.sync();
            assertArrayEquals(body(1, 0), test.read("new"));
        }
    }

    /** The process whose index is truncated. */
    static final class Cut {
        private Cut() {}

        public static void main(String[] args) throws Exception {
            Path path = Path.of(args[0]);
            TestStore test = new TestStore(config(path), new SystemFileIo()).withoutCheck();
            for (int key = 0; key < KEYS; key++) {
                test.put("key" + key, "0", body(key, 0));
            }
            test.sync();
            AtomicInteger rounds = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                Random random = new Random(t);
                boolean writes = t == 0;
                Thread thread = new Thread(() -> run(test, random, writes, rounds));
                threads.add(thread);
                thread.start();
            }
            while (rounds.get() < 3 * KEYS) {
                Thread.onSpinWait();
            }
            try (FileChannel index = FileChannel.open(path.resolve("index"), StandardOpenOption.WRITE)) {
                index.truncate(4096);
            }
            System.out.println("cut off");
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(
                    "state=" + test.store.statistics().volumes().get(0).state());
            test.close();
            System.exit(0);
        }

        private static void run(TestStore test, Random random, boolean writes, AtomicInteger rounds) {
            int after = 0;
            for (int version = 1; after < 50; version++) {
                try {
                    int key = random.nextInt(KEYS);
                    if (!isRight(test, key)) {
                        System.out.println("wrong bytes of key" + key);
                        Runtime.getRuntime().halt(WRONG_BYTES);
                    }
                    if (writes) {
                        test.put("key" + key, Integer.toString(version), body(key, version));
                    }
                    rounds.incrementAndGet();
                    boolean online = test.store.statistics().volumes().get(0).state() == StoreStatistics.State.ONLINE;
                    after += online ? 0 : 1;
                } catch (InternalError e) {
                    // The error may be thrown some time after the access, at any point in this thread.
                    System.out.println("late: " + e);
                }
            }
        }
    }

    /** The same without a process: every access to the mapping fails. */
    @Test
    void theOtherVolumeContinues() {
        FaultyFileIo io = new FaultyFileIo();
        Path first = Path.of("/volume0");
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io).withoutCheck()) {
            for (int i = 0; i < 40; i++) {
                assertTrue(test.put("k" + i, "h" + i, TestStore.body(i, 1000)));
            }
            test.sync();
            io.unmap(first.resolve("index"));
            int found = 0;
            for (int i = 0; i < 40; i++) {
                String head = test.head("k" + i);
                assertTrue(head == null || head.equals("h" + i), head);
                found += head == null ? 0 : 1;
            }
            assertTrue(found > 0 && found < 40, "found=" + found);
            List<StoreStatistics.Volume> volumes = test.store.statistics().volumes();
            assertEquals(StoreStatistics.State.OFFLINE, volumes.get(0).state());
            assertTrue(
                    volumes.get(0).lastError().contains("index failed"),
                    volumes.get(0).lastError());
            assertEquals(StoreStatistics.State.ONLINE, volumes.get(1).state());
            for (int i = 0; i < 40; i++) {
                test.remove("k" + i);
                assertTrue(test.put("k" + i, "new", TestStore.body(i, 1000)));
            }
            test.sync();
            assertEquals("new", test.head("k7"));
        }
        try (TestStore test = new TestStore(StoreContractTest.volumes(2, 2).ramBytes(0), io.afterReboot())) {
            for (int i = 0; i < 40; i++) {
                assertEquals("new", test.head("k" + i));
            }
        }
    }
}
