package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which requests count for the admission of a new object to a full volume. */
final class CountedRequestsTest {
    private static final int SEGMENT_BYTES = 128 * 1024;
    private static final int SEGMENTS = 16;
    private static final int BYTES = 50_000;

    private final FaultyFileIo io = new FaultyFileIo();
    private TestStore test = open(DiskAdmission.ALWAYS);

    private TestStore open(DiskAdmission admission) {
        return new TestStore(
                StoreConfig.builder()
                        .ramBytes(0)
                        .volumes(List.of(new VolumeConfig(Path.of("/volume"), (long) SEGMENT_BYTES * SEGMENTS)))
                        .segmentBytes(SEGMENT_BYTES)
                        .blockBytes(8192)
                        .diskAdmission(admission)
                        .ioThreads(1),
                io);
    }

    private boolean put(String key) {
        byte[] body = TestStore.body(1, BYTES);
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of(key), body.length);
        for (int from = 0; from < body.length; from += 3000) {
            TestStore.awaitWritable(writer);
            writer.write(from, Unpooled.copiedBuffer(body, from, Math.min(3000, body.length - from)));
        }
        writer.complete(body.length);
        return !writer.isFailed();
    }

    @Test
    void requestsWhoseResponseIsNotStoredDoNotCount() {
        for (int i = 0; i < 1.5 * SEGMENT_BYTES * SEGMENTS / BYTES; i++) {
            assertTrue(put("first" + i));
        }
        test.close();
        test = open(DiskAdmission.SECOND_HIT);
        // Writes until the policy has learned that the log is full.
        for (int i = 0; i < 60; i++) {
            put("more" + i);
        }
        for (int request = 0; request < 3; request++) {
            assertFalse(test.store.contains(test.key("page")));
        }
        test.store.countMiss(test.key("page"));
        assertFalse(put("page"), "the first request whose response can be stored");
        test.store.countMiss(test.key("page"));
        assertTrue(put("page"), "the second one");
        test.close();
    }
}
