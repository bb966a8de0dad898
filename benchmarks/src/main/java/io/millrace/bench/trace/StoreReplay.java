package io.millrace.bench.trace;

import io.millrace.bench.store.PlainHead;
import io.millrace.store.CacheStore;
import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.engine.StoreEngine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A replay of a trace through a real store, one request after the other. An object that is not found is stored. After
 * each request the replay waits for the store ({@code sync}), so that background work is finished before the next
 * request. On a file system in memory this takes little time.
 *
 * <p>The cache size is the size of the objects without overhead, as for the reference policies. Therefore the store
 * gets additional space for the average overhead per object of the trace. In RAM the overhead is bookkeeping; on disk
 * it is the header of the record, checksums, padding and an entry in the summary. A volume has about {@value #SEGMENTS}
 * segments, one of which is always being filled; this loss is not compensated.
 *
 * <p>An object of which only some blocks remain is a miss, and is stored again.
 *
 * <p>Confined to one thread.
 */
final class StoreReplay {
    /** Approximate number of segments in a volume. */
    private static final int SEGMENTS = 64;

    private static final int RAM_OVERHEAD_BYTES = 320 + 24;
    private static final int RECORD_HEADER_BYTES = 96;
    /** Bytes of a body per byte of its checksums. */
    private static final int BYTES_PER_CRC_BYTE = 16 * 1024;

    private static final int SUMMARY_BYTES = 40;
    private static final int UNIT_BYTES = 64;
    private static final int PAGE_BYTES = 4096;
    private static final int BLOCK_BYTES_MIN = 4096;
    private static final int BLOCK_BYTES_MAX = 1 << 20;
    private static final int HEAD_BYTES = 8;

    private static final ByteBuf ZEROES =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(1 << 16).writeZero(1 << 16));

    private final Trace trace;
    private final CacheStore<PlainHead> store;

    private StoreReplay(Trace trace, CacheStore<PlainHead> store) {
        this.trace = trace;
        this.store = store;
    }

    /**
     * Replays a trace with this many bytes of RAM and disk. 0 omits the tier.
     *
     * @param directory an empty directory
     */
    static HitRatio replay(Trace trace, long ramBytes, long diskBytes, DiskAdmission admission, Path directory)
            throws IOException {
        StoreConfig.Builder config = StoreConfig.builder()
                .allocator(new UnpooledByteBufAllocator(true))
                .diskAdmission(admission)
                .inventoryDelayNanos(-1)
                .ioThreads(1);
        long ram = scaled(ramBytes, trace, StoreReplay::ramBytes);
        config.ramBytes(ram).ramObjectBytesMax(Math.min(ram, 1 << 30));
        if (diskBytes > 0) {
            disk(config, trace, diskBytes, directory);
        }
        try (CacheStore<PlainHead> store = StoreEngine.open(config.build(), new PlainHead.Codec())) {
            return new StoreReplay(trace, store).run();
        }
    }

    private static void disk(StoreConfig.Builder config, Trace trace, long diskBytes, Path directory) {
        long bytes = scaled(diskBytes, trace, StoreReplay::recordBytes);
        long mean = Math.max(1, scaled(trace.footprint(), trace, StoreReplay::recordBytes) / trace.objects());
        // The segment size is a multiple of the mean record length, so that little space is unused at the end of a
        // segment.
        long records = Math.max(4, Math.round((double) bytes / SEGMENTS / mean));
        long wanted = Math.max(4L * BLOCK_BYTES_MIN, records * mean + 2 * UNIT_BYTES);
        long segment = Math.min(1 << 30, (wanted + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
        long segments = Math.max(4, Math.round((double) bytes / Math.min(segment, records * mean + 2 * UNIT_BYTES)));
        int block = (int) Math.min(BLOCK_BYTES_MAX, Long.highestOneBit(segment / 4));
        config.segmentBytes(segment)
                .blockBytes(block)
                .volumes(List.of(new VolumeConfig(directory, segment * segments)));
    }

    private interface Footprint {
        long of(long size);
    }

    private static long ramBytes(long size) {
        return size + RAM_OVERHEAD_BYTES;
    }

    private static long recordBytes(long size) {
        long checksums = (size + BYTES_PER_CRC_BYTE * 4 - 1) / (BYTES_PER_CRC_BYTE * 4) * Integer.BYTES;
        long bytes = RECORD_HEADER_BYTES + checksums + HEAD_BYTES + Integer.BYTES + size;
        return (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES + SUMMARY_BYTES;
    }

    private static long scaled(long bytes, Trace trace, Footprint footprint) {
        long all = 0;
        for (int object = 0; object < trace.objects(); object++) {
            all += footprint.of(trace.size(object));
        }
        return Math.round((double) bytes * all / trace.footprint());
    }

    private HitRatio run() throws IOException {
        HitRatio.Counter counter = new HitRatio.Counter();
        for (int n = 0; n < trace.length(); n++) {
            int object = trace.request(n);
            StoreKey key = store.key(Integer.toString(object).getBytes(StandardCharsets.ISO_8859_1));
            boolean hit = find(key, object);
            counter.count(trace.size(object), hit);
            if (!hit) {
                put(key, object);
            }
            store.sync();
        }
        List<StoreStatistics.Volume> volumes = store.statistics().volumes();
        if (volumes.isEmpty()) {
            return counter.ratio(0);
        }
        StoreStatistics.Ring ring = volumes.get(0).ring();
        return counter.ratio((double) ring.bytesWritten() / Math.max(1, ring.bytesWritten() - ring.bytesCarried()));
    }

    private boolean find(StoreKey key, int object) {
        StoredObject<PlainHead> found = store.get(key);
        if (found == null && store.contains(key)) {
            CompletableFuture<@Nullable StoredObject<PlainHead>> answer = new CompletableFuture<>();
            store.open(key, Runnable::run, answer::complete);
            found = answer.join();
        }
        if (found == null) {
            store.countMiss(key);
            return false;
        }
        if (found.head().number() != object || found.length() != trace.size(object)) {
            throw new IllegalStateException("object " + object + ": found " + found.head());
        }
        boolean whole = found.isComplete();
        if (whole) {
            read(found);
        }
        found.release();
        return whole;
    }

    /** Reads the body, unless it is in RAM, as the sender of a response would do. */
    private static void read(StoredObject<PlainHead> object) {
        long at = object.residentBody() == null ? 0 : object.length();
        while (at < object.length()) {
            CompletableFuture<Integer> answer = new CompletableFuture<>();
            object.read(at, StoredObject.READ_LENGTH_MAX, Runnable::run, (content, failure) -> {
                if (content == null) {
                    answer.completeExceptionally(failure);
                } else {
                    int count = content.readableBytes();
                    content.release();
                    answer.complete(count);
                }
            });
            at += answer.join();
        }
    }

    private void put(StoreKey key, int object) {
        int size = trace.size(object);
        ObjectWriter<PlainHead> writer = store.create(key);
        writer.head(new PlainHead(object), size);
        for (int at = 0; at < size && !writer.isFailed(); at += ZEROES.capacity()) {
            if (!writer.isWritable()) {
                CompletableFuture<@Nullable Void> writable = new CompletableFuture<>();
                writer.onWritable(Runnable::run, () -> writable.complete(null));
                writable.join();
            }
            writer.write(at, ZEROES.slice(0, Math.min(ZEROES.capacity(), size - at)));
        }
        writer.complete(size);
    }
}
