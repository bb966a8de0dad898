package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests that a task which waits for a volume is counted with all memory that it keeps. */
class WriteQueueTest {
    private static final Path VOLUME = Path.of("/volume0");
    private static final String HEAD = "h".repeat(10_000);
    private static final int OBJECTS = 20;

    private final FaultyFileIo io = new FaultyFileIo();

    private static long queuedBytes(TestStore test) {
        return test.store.statistics().volumes().get(0).queuedBytes();
    }

    @Test
    void headsThatWaitCountToo() {
        CountDownLatch go = new CountDownLatch(1);
        try (TestStore test = new TestStore(StoreContractTest.volumes(1), io)) {
            io.beforeNextWrite(VOLUME, () -> TestStore.awaitLatch(go));
            for (int i = 0; i < OBJECTS; i++) {
                test.put("k" + i, HEAD, new byte[0]);
            }
            long queued = queuedBytes(test);
            assertTrue(queued >= (OBJECTS - 1L) * HEAD.length(), () -> "queued " + queued);
            go.countDown();
            test.sync();
            await().until(() -> queuedBytes(test) == 0);
        } finally {
            go.countDown();
        }
    }
}
