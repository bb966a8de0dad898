package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Blocks that the end of a writer revoked, while the log still has the head that lists them: an empty block in the log
 * comes before the new head.
 */
class RevokedBlocksTest extends PartialObjects {
    private static final Path VOLUME = Path.of("/volume0/volume");

    @BeforeEach
    void withoutRam() {
        test.close();
        test = new TestStore(StoreContractTest.volumes(4).ramBytes(0), io);
    }

    /** Completes the object by a writer of the last block, which then aborts; runs the action before the new head. */
    private void abortTheLastBlock(Runnable beforeHead) {
        keep("a", 0, 1, 2, 3, 4);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        write(writer, 5 * BLOCK, LENGTH);
        test.sync();
        assertTrue(object.isComplete());
        object.release();
        // The first write is the empty block, the second one the head.
        io.beforeNextWrite(VOLUME, () -> io.beforeNextWrite(VOLUME, beforeHead));
        writer.abort();
    }

    @Test
    void anOpenBeforeTheNewHeadDoesNotFindTheBlock() throws IOException {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch opened = new CountDownLatch(1);
        abortTheLastBlock(() -> {
            reached.countDown();
            TestStore.awaitLatch(opened);
        });
        TestStore.awaitLatch(reached);
        StoredObject<TextHead> early;
        try {
            early = test.find("a");
        } finally {
            opened.countDown();
        }
        test.sync();
        assertHolds(early, 0, 1, 2, 3, 4);
        early.release();
        assertHolds("a", 0, 1, 2, 3, 4);
    }

    @ParameterizedTest(name = "index rebuilt: {0}")
    @ValueSource(booleans = {true, false})
    void aKillBeforeTheNewHeadLeavesTheBlockRevoked(boolean rebuilt) throws IOException {
        CountDownLatch killed = new CountDownLatch(1);
        abortTheLastBlock(() -> {
            io.kill();
            killed.countDown();
        });
        TestStore.awaitLatch(killed);
        test.abandon();
        io = rebuilt ? io.afterReboot() : io.afterKill();
        if (rebuilt) {
            io.flipBit(Path.of("/volume0/index"), 3);
        }
        openStore();
        assertHolds("a", 0, 1, 2, 3, 4);
    }

    @Test
    void aBlockAsShortAsARevocationSurvivesARebuild() {
        byte[] body = TestStore.body(3, BLOCK + 20);
        ObjectWriter<TextHead> writer = create("a", body.length);
        writer.write(0, Unpooled.wrappedBuffer(body));
        writer.complete(body.length);
        test.close();
        io = io.afterReboot();
        io.flipBit(Path.of("/volume0/index"), 3);
        openStore();
        assertArrayEquals(body, test.read("a"));
    }
}
