package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests volumes that are a share of the space for some objects. */
class NamedVolumesTest {
    private static final Path DEFAULT = Path.of("/cache");
    private static final Path IMAGES = Path.of("/cache/images");
    private static final Path MORE_IMAGES = Path.of("/more/images");

    private static StoreConfig.Builder config() {
        return StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(
                        new VolumeConfig(DEFAULT, 2 << 20),
                        new VolumeConfig(IMAGES, 1 << 20, "images"),
                        new VolumeConfig(MORE_IMAGES, 3 << 20, "images")))
                .segmentBytes(128 * 1024)
                .blockBytes(8192)
                .ioThreads(2)
                .ramBytes(0);
    }

    private static boolean put(TestStore test, String key, String volume, String head) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key), volume);
        writer.head(TextHead.of(head), 1000);
        writer.write(0, Unpooled.wrappedBuffer(TestStore.body(1, 1000)));
        writer.complete(1000);
        return !writer.isFailed();
    }

    private static StoreStatistics.Volume volume(TestStore test, int number) {
        return test.store.statistics().volumes().get(number);
    }

    @Test
    void objectsGoToTheVolumesOfTheirName() {
        try (TestStore test = new TestStore(config(), new FaultyFileIo())) {
            for (int i = 0; i < 200; i++) {
                assertTrue(put(test, "image" + i, "images", "i"));
                assertTrue(put(test, "page" + i, "default", "p"));
            }
            test.sync();
            assertEquals(200, volume(test, 0).entries());
            assertEquals(200, volume(test, 1).entries() + volume(test, 2).entries());
            assertTrue(volume(test, 2).entries() > 2 * volume(test, 1).entries());
            assertEquals(1, volume(test, 0).placement());
            assertEquals(0.25, volume(test, 1).placement());
            assertEquals("images", volume(test, 2).name());
            for (int i = 0; i < 200; i++) {
                assertEquals("i", test.head("image" + i));
                assertEquals("p", test.head("page" + i));
            }
        }
    }

    @Test
    void aFloodInOneNameDoesNotAffectTheOthers() {
        try (TestStore test = new TestStore(config(), new FaultyFileIo())) {
            assertTrue(put(test, "image", "images", "i"));
            for (int i = 0; i < 4000; i++) {
                if (!put(test, "page" + i, "default", "p")) {
                    test.sync();
                }
            }
            test.sync();
            assertEquals("i", test.head("image"));
            assertNull(test.head("page0"));
        }
    }

    @Test
    void theNewestIsFoundWhereverItIs() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(config(), io)) {
            for (int i = 0; i < 50; i++) {
                assertTrue(put(test, "k" + i, "default", "old"));
                assertTrue(put(test, "k" + i, "images", "new"));
                assertEquals("new", test.head("k" + i));
                assertTrue(put(test, "back" + i, "images", "old"));
                assertTrue(put(test, "back" + i, "default", "new"));
                assertEquals("new", test.head("back" + i));
            }
            test.sync();
            assertTrue(test.remove("k0"));
            assertNull(test.head("k0"));
        }
        try (TestStore test = new TestStore(config(), io)) {
            assertEquals("new", test.head("k1"));
            assertEquals("new", test.head("back1"));
            assertNull(test.head("k0"));
        }
    }

    @Test
    void theNewerOfTwoIsTakenWhenTheOldersTombstoneWasLost() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(config(), io)) {
            assertTrue(put(test, "k", "default", "old"));
        }
        FaultyFileIo next = io.afterKill();
        TestStore dying = new TestStore(config(), next).withoutCheck();
        // The default volume accepts no writes: its tombstone is still pending when the process dies.
        next.failWrites(true, DEFAULT.resolve("volume"));
        assertTrue(put(dying, "k", "images", "new"));
        await().until(() -> volume(dying, 1).entries() + volume(dying, 2).entries() == 1);
        FaultyFileIo last = next.afterReboot();
        dying.abandon();
        try (TestStore test = new TestStore(config(), last).toleratingDamage()) {
            await().until(() -> !states(test).contains("OPENING"));
            assertEquals("new", test.head("k"));
            // Both were found. The older one is removed for good, and is not found after the newer one is removed.
            await().until(() -> volume(test, 0).entries() == 0);
        }
    }

    private static List<Path> done(CompletionStage<List<Path>> command) {
        return TestStore.await(command.toCompletableFuture());
    }

    private static String states(TestStore test) {
        return test.store.statistics().volumes().stream()
                .map(volume -> volume.state().name())
                .collect(Collectors.joining(" "));
    }

    @Test
    void aPathIsTakenOutAndReturnsWithItsShares() {
        try (TestStore test = new TestStore(config(), new FaultyFileIo())) {
            for (int i = 0; i < 50; i++) {
                assertTrue(put(test, "image" + i, "images", "i"));
                assertTrue(put(test, "page" + i, "default", "p"));
            }
            assertEquals(List.of(DEFAULT, IMAGES), done(test.store.offline(DEFAULT, "a test")));
            assertEquals("OFFLINE OFFLINE ONLINE", states(test));
            assertNull(test.head("page1"));
            assertTrue(failure(test.store.offline(DEFAULT, "")).contains("already offline: a test"));
            assertEquals(List.of(DEFAULT, IMAGES), done(test.store.online(DEFAULT)));
            assertEquals("ONLINE ONLINE ONLINE", states(test));
            for (int i = 0; i < 50; i++) {
                assertEquals("i", test.head("image" + i));
                assertEquals("p", test.head("page" + i));
            }
        }
    }

    @Test
    void aShareGoesOutAloneAndThePathTakesTheRest() {
        try (TestStore test = new TestStore(config(), new FaultyFileIo())) {
            assertEquals(List.of(IMAGES), done(test.store.offline(IMAGES, "first")));
            assertEquals("ONLINE OFFLINE ONLINE", states(test));
            assertEquals(List.of(DEFAULT), done(test.store.offline(DEFAULT, "rest")));
            assertEquals(List.of(IMAGES), done(test.store.online(IMAGES)));
            assertEquals("OFFLINE ONLINE ONLINE", states(test));
            assertEquals(List.of(DEFAULT), done(test.store.online(DEFAULT)));
            assertTrue(failure(test.store.online(DEFAULT)).contains("is online already"));
            assertEquals(List.of(MORE_IMAGES), done(test.store.offline(Path.of("/more"), "no rest there")));
            assertTrue(failure(test.store.offline(Path.of("/none"), "")).contains("no storage path"));
        }
    }

    private static String failure(CompletionStage<List<Path>> command) {
        return command.handle((changed, failure) -> String.valueOf(failure))
                .toCompletableFuture()
                .join();
    }

    @Test
    void withoutAWorkingVolumeOfTheNameTheDefaultTakesIt() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(config(), io)) {
            assertTrue(put(test, "k", "nobodys", "n"));
            test.sync();
            assertEquals(1, volume(test, 0).entries());
            assertEquals("n", test.head("k"));
        }
    }
}
