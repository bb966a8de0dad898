package io.millrace.store.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.KeepTimes;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.ReaderLists;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.StoreFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests one volume with I/O errors. */
class VolumeFaultTest {
    private static final KeepTimes NO_TIMES = new KeepTimes(0, 0);
    private static final Path PATH = Path.of("/v");
    private static final int SEGMENTS = 8;
    private static final DiskKey KEY = new DiskKey(new byte[] {'k'}, 1, 2);

    private final FaultyFileIo io = new FaultyFileIo();
    private final CountDownLatch offline = new CountDownLatch(1);
    private final AtomicInteger opened = new AtomicInteger();
    private @Nullable Volume volume;

    private final class Told implements VolumeListener {
        @Override
        public void forceDue(Volume sealed) {
            // This file does not force anything.
        }

        @Override
        public void opened(Volume whole) {
            opened.incrementAndGet();
        }

        @Override
        public void offline(Volume gone) {
            offline.countDown();
        }

        @Override
        public void stored(
                Volume in, RecordHeader header, DiskKey key, long location, RecordAppendCallback told, ByteBuf head) {
            // This test lists no objects.
        }

        @Override
        public void stopping(Volume ending, boolean forGood) {
            // This test lists no objects.
        }
    }

    private Volume start(VolumeUpkeep.@Nullable Rebuild rebuild) throws IOException {
        UUID id = UUID.randomUUID();
        Superblock superblock = new Superblock(id, UUID.randomUUID(), 128 * 1024, SEGMENTS, 0, 0, 0, List.of(id));
        StoreFile file = io.open(PATH.resolve("volume"));
        file.resize(superblock.fileBytes());
        superblock = superblock.write(file);
        MappedIndex index = MappedIndex.create(io, PATH, id, SegmentTable.auxiliaryBytes(SEGMENTS), 100);
        SegmentTable table = SegmentTable.create(index, SEGMENTS);
        if (rebuild == null) {
            index.finishRebuild();
        }
        VolumeParts parts = new VolumeParts(
                PATH,
                io.lease(PATH),
                file,
                superblock,
                index,
                table,
                new SegmentPins(SEGMENTS),
                ReaderLists.open(io, PATH, superblock));
        Volume made = new Volume(parts, UnpooledByteBufAllocator.DEFAULT, new Told(), rebuild);
        volume = made;
        made.start();
        return made;
    }

    @AfterEach
    void close() throws IOException {
        if (volume != null) {
            volume.close();
        }
    }

    private String awaitOffline(Volume given) throws InterruptedException {
        assertTrue(offline.await(30, TimeUnit.SECONDS));
        assertEquals(VolumeState.OFFLINE, given.state());
        IOException last = given.lastError();
        assertNotNull(last);
        return last.toString();
    }

    @Test
    void anErrorInTheRebuildTakesTheVolumeOut() throws Exception {
        Volume opening = start(() -> {
            throw new AssertionError("a fault of our own");
        });
        String reason = awaitOffline(opening);
        assertTrue(reason.contains("a fault of our own"), reason);
        assertFalse(opening.mayHold(1, 2));
        assertEquals(0, opened.get());
    }

    @Test
    void errorsAsTheRebuildEndsAreNotOverwritten() throws Exception {
        Volume opening = start(() -> {
            for (int i = 0; i < Volume.ERRORS_IN_A_ROW_MAX; i++) {
                volume.failed(new IOException("Input/output error"));
            }
            return false;
        });
        awaitOffline(opening);
        opening.close();
        volume = null;
        assertEquals(VolumeState.CLOSED, opening.state());
        assertEquals(0, opened.get());
    }

    @Test
    void anIndexThatCannotBeReadIsAMissAndTheEndOfTheVolume() throws Exception {
        Volume given = start(null);
        CountDownLatch stored = new CountDownLatch(1);
        given.execute(
                () -> given.appendComplete(KEY, 1, NO_TIMES, Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER, failure -> {
                    assertNull(failure);
                    stored.countDown();
                }));
        assertTrue(stored.await(30, TimeUnit.SECONDS));
        assertTrue(given.find(1, 2) != Location.NONE);
        io.unmap(PATH.resolve("index"));
        assertEquals(Location.NONE, given.find(1, 2));
        awaitOffline(given);
        given.hit(1, 2);
        assertFalse(given.mayHold(1, 2));
        assertEquals(0, given.entries());
    }

    @Test
    void anIndexThatCannotBeWrittenFailsTheAppend() throws Exception {
        Volume given = start(null);
        io.unmap(PATH.resolve("index"));
        CountDownLatch failed = new CountDownLatch(2);
        given.execute(() -> {
            assertThrows(IOException.class, () -> given.appendTombstone(KEY));
            failed.countDown();
            assertThrows(IOException.class, () -> given.appendBlock(1, 2, 3, 0, Unpooled.EMPTY_BUFFER));
            failed.countDown();
        });
        assertTrue(failed.await(30, TimeUnit.SECONDS));
        awaitOffline(given);
    }

    @Test
    void anUnwritableIndexFailsTheGatheredObjects() throws Exception {
        Volume given = start(null);
        CountDownLatch go = new CountDownLatch(1);
        assertTrue(given.execute(() -> awaitUninterruptibly(go)));
        Queue<String> told = new ConcurrentLinkedQueue<>();
        CountDownLatch all = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            DiskKey key = new DiskKey(new byte[] {(byte) i}, i, i);
            assertTrue(given.executeGathering(() ->
                    given.appendComplete(key, 1, NO_TIMES, Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER, failure -> {
                        told.add(String.valueOf(failure));
                        all.countDown();
                    })));
        }
        io.unmap(PATH.resolve("index"));
        go.countDown();
        assertTrue(all.await(30, TimeUnit.SECONDS));
        awaitOffline(given);
        given.close();
        volume = null;
        assertEquals(3, told.size());
        told.forEach(reason -> assertTrue(reason.contains("index failed") || reason.contains("OFFLINE"), reason));
    }

    @Test
    void removalsAreTakenBehindAFullQueueAndRunInOrder() throws Exception {
        Volume given = start(null);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        assertTrue(given.execute(() -> {
            begun.countDown();
            awaitUninterruptibly(go);
        }));
        assertTrue(begun.await(30, TimeUnit.SECONDS));
        AtomicInteger before = new AtomicInteger();
        int queued = 0;
        while (given.execute(before::incrementAndGet)) {
            queued++;
        }
        int[] seen = {-1};
        CountDownLatch removed = new CountDownLatch(1);
        assertTrue(given.executeRemoval(() -> {
            seen[0] = before.get();
            removed.countDown();
        }));
        assertFalse(given.execute(before::incrementAndGet), "overtakes the removal");
        go.countDown();
        assertTrue(removed.await(30, TimeUnit.SECONDS));
        assertEquals(queued, seen[0]);
        given.drain();
        assertEquals(VolumeState.ONLINE, given.state());
    }

    @Test
    void moreRemovalsThanThatTakeTheVolumeOut() throws Exception {
        Volume given = start(null);
        CountDownLatch go = new CountDownLatch(1);
        assertTrue(given.execute(() -> awaitUninterruptibly(go)));
        AtomicInteger removals = new AtomicInteger();
        int taken = 0;
        while (given.executeRemoval(removals::incrementAndGet)) {
            taken++;
        }
        go.countDown();
        String reason = awaitOffline(given);
        assertTrue(reason.contains("too many removals wait, because the volume's queue is full"), reason);
        given.close();
        volume = null;
        assertEquals(taken, removals.get());
        assertTrue(given.hasLeft(), "what it missed would be found at the next start");
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
