package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests two volumes whose indexes are rebuilt one after the other, in the order that the test sets. */
class WaitingOpensTest {
    private final CountDownLatch first = new CountDownLatch(1);
    private final CountDownLatch second = new CountDownLatch(1);
    private FaultyFileIo io = new FaultyFileIo();

    private static StoreConfig.Builder config() {
        return StoreContractTest.volumes(4, 4).ramBytes(0).openWaitNanos(TimeUnit.MINUTES.toNanos(1));
    }

    private void gate() {
        String thread = Thread.currentThread().getName();
        if (thread.equals("millrace-store-volume0")) {
            TestStore.awaitLatch(first);
        } else if (thread.equals("millrace-store-volume1")) {
            TestStore.awaitLatch(second);
        }
    }

    /** Returns a store with keys "k0" to "k19", whose rebuild waits for the gates. */
    private TestStore reopened() {
        try (TestStore test = new TestStore(config(), io)) {
            for (int i = 0; i < 20; i++) {
                test.put("k" + i, "h" + i, TestStore.body(i, 500));
            }
        }
        FaultyFileIo next = io.afterReboot();
        for (int volume = 0; volume < 2; volume++) {
            next.replace(Path.of("/volume" + volume + "/index"), new byte[0]);
        }
        next.beforeReads(Path.of("/"), this::gate);
        io = next;
        return new TestStore(config(), next);
    }

    private static String keyOf(TestStore test, int volume) {
        for (int i = 0; i < 20; i++) {
            if (volumes(test).targetVolume(test.key("k" + i), "default") == volume) {
                return "k" + i;
            }
        }
        throw new AssertionError("none of the keys belongs to volume " + volume);
    }

    private static VolumeGroup volumes(TestStore test) {
        return ((StoreEngine<TextHead>) test.store).volumes();
    }

    private static VolumeState state(TestStore test, int volume) {
        return volumes(test).slots()[volume].volume().state();
    }

    private static CompletableFuture<StoredObject<TextHead>> open(TestStore test, String key) {
        CompletableFuture<StoredObject<TextHead>> answer = new CompletableFuture<>();
        test.store.open(test.key(key), Runnable::run, answer::complete);
        return answer;
    }

    @Test
    void anIndexThatIsWholeDoesNotEndTheWaitForAnother() {
        try (TestStore test = reopened()) {
            CompletableFuture<StoredObject<TextHead>> late = open(test, keyOf(test, 1));
            CompletableFuture<StoredObject<TextHead>> early = open(test, keyOf(test, 0));
            CompletableFuture<StoredObject<TextHead>> absent = open(test, "absent");
            first.countDown();
            StoredObject<TextHead> found = TestStore.await(early);
            assertNotNull(found);
            found.release();
            assertEquals(VolumeState.OPENING, state(test, 1));
            assertFalse(absent.isDone());
            second.countDown();
            found = TestStore.await(late);
            assertNotNull(found, "answered when the other volume's index was whole");
            found.release();
            assertNull(TestStore.await(absent));
            assertTrue(state(test, 1).isWorking());
        }
    }
}
