package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Opens that wait behind the read of their object take it from RAM. After a start, many clients request a hot object
 * that is not in RAM yet.
 */
class SharedReadsTest {
    private static final int BODY_BYTES = 20_000;

    private final AtomicInteger reads = new AtomicInteger();

    private static StoreConfig.Builder config() {
        return StoreContractTest.volumes(8)
                .ramBytes(4 << 20)
                .ramObjectBytesMax(100_000)
                .refillBytesPerSecond(0)
                .ioThreads(1);
    }

    /** Opens a key several times before the first read may begin. Returns the number of reads. */
    private int readsOfOpens(TestStore test, FaultyFileIo io, String key, int opens) {
        CountDownLatch queued = new CountDownLatch(1);
        int before = reads.get();
        io.beforeReads(Path.of("/"), () -> {
            TestStore.awaitLatch(queued);
            reads.incrementAndGet();
        });
        List<CompletableFuture<StoredObject<TextHead>>> answers = new ArrayList<>();
        for (int i = 0; i < opens; i++) {
            CompletableFuture<StoredObject<TextHead>> answer = new CompletableFuture<>();
            test.store.open(test.key(key), Runnable::run, answer::complete);
            answers.add(answer);
        }
        queued.countDown();
        for (CompletableFuture<StoredObject<TextHead>> answer : answers) {
            StoredObject<TextHead> object = TestStore.await(answer);
            assertNotNull(object);
            assertEquals(BODY_BYTES, TestStore.readAll(object).length);
            object.release();
        }
        return reads.get() - before;
    }

    @Test
    void opensBehindTheReadOfTheirObjectDoNotReadItAgain() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(config(), io)) {
            for (String key : List.of("first", "one", "many")) {
                assertTrue(test.put(key, "head", TestStore.body(1, BODY_BYTES)));
            }
        }
        FaultyFileIo next = io.afterReboot();
        try (TestStore test = new TestStore(config(), next)) {
            assertNotNull(test.head("first"), "also waits until the index is complete");
            int one = readsOfOpens(test, next, "one", 1);
            assertTrue(one > 0);
            assertEquals(one, readsOfOpens(test, next, "many", 20));
            assertEquals(22, test.store.statistics().counters().diskHits());
        }
    }
}
