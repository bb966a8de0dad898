package io.millrace.store.memory;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that neighbouring buffers in one region do not affect each other, and that their bytes are counted. */
class CountedBufferTest {
    private static final int BUDGET_BYTES = 64 << 20;
    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, true);

    /** The kind of regions: with Netty's use of Unsafe, and without. */
    enum Region {
        WITH_ADDRESS,
        WITHOUT_ADDRESS;

        ByteBuf of(int bytes) {
            return this == WITH_ADDRESS
                    ? ALLOCATOR.directBuffer(bytes, bytes)
                    : new UnpooledDirectByteBuf(ALLOCATOR, bytes, bytes);
        }
    }

    private final MemoryBudget budget = new MemoryBudget(BUDGET_BYTES);

    private CountingAllocator allocator(Region region) {
        return new CountingAllocator(new BodyPool(null, BUDGET_BYTES, region::of), budget, Part.FILLING);
    }

    /** Runs {@code before}, then fills buffers with {@code length} bytes of {@code mark}. */
    private record Source(int length, byte mark, Runnable before) implements ScatteringByteChannel {
        @Override
        public int read(ByteBuffer target) {
            before.run();
            byte[] bytes = new byte[length];
            Arrays.fill(bytes, mark);
            target.put(bytes);
            return length;
        }

        @Override
        public long read(ByteBuffer[] targets, int offset, int count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long read(ByteBuffer[] targets) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static int read(ByteBuf buffer, ScatteringByteChannel channel, int length) {
        try {
            return buffer.writeBytes(channel, length);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertAll(byte mark, ByteBuf buffer) {
        for (int i = 0; i < buffer.readableBytes(); i++) {
            assertEquals(mark, buffer.getByte(i), () -> ByteBufUtil.hexDump(buffer));
        }
    }

    @ParameterizedTest
    @EnumSource(Region.class)
    void oneIsReadIntoWhileItsNeighbourIs(Region region) {
        CountingAllocator allocator = allocator(region);
        ByteBuf one = allocator.directBuffer(100);
        ByteBuf other = allocator.directBuffer(100);
        Source inner = new Source(50, (byte) 2, () -> {});
        Source outer = new Source(50, (byte) 1, () -> assertEquals(50, read(other, inner, 50)));
        assertEquals(50, read(one, outer, 50));
        assertAll((byte) 1, one);
        assertAll((byte) 2, other);
        one.release();
        other.release();
    }

    @ParameterizedTest
    @EnumSource(Region.class)
    void threadsWriteSideBySide(Region region) throws Exception {
        CountingAllocator allocator = allocator(region);
        ExecutorService executor = Executors.newFixedThreadPool(2);
        List<Future<?>> threads = new ArrayList<>();
        for (byte mark = 1; mark <= 2; mark++) {
            byte[] bytes = new byte[200];
            Arrays.fill(bytes, mark);
            ByteBuf buffer = allocator.directBuffer(bytes.length);
            threads.add(executor.submit(() -> {
                for (int i = 0; i < 10_000; i++) {
                    buffer.clear().writeZero(bytes.length).clear().writeBytes(bytes);
                    assertAll(bytes[0], buffer);
                    buffer.clear().writeBytes(ByteBuffer.wrap(bytes).asReadOnlyBuffer());
                    assertAll(bytes[0], buffer);
                }
                buffer.release();
            }));
        }
        for (Future<?> thread : threads) {
            thread.get();
        }
        executor.shutdown();
    }

    @Test
    void releasedBuffersHaveNoAddress() {
        ByteBuf buffer = allocator(Region.WITH_ADDRESS).directBuffer(100);
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, buffer::memoryAddress);
    }

    @Test
    void leakedBuffersAreReported() {
        Queue<String> told = new ConcurrentLinkedQueue<>();
        CountedBuffer.LEAKS.setLeakListener((kind, records) -> told.add(records));
        try {
            CountingAllocator allocator = allocator(Region.WITH_ADDRESS);
            assertEquals(100, forgotten(allocator));
            await().atMost(Duration.ofMinutes(1)).until(() -> {
                System.gc();
                // Each allocation checks for leaked buffers.
                allocator.directBuffer(100).release();
                return told.stream().anyMatch(records -> records.contains("forgotten"));
            });
        } finally {
            CountedBuffer.LEAKS.setLeakListener(null);
        }
    }

    private static int forgotten(CountingAllocator allocator) {
        return allocator.directBuffer(100).capacity();
    }

    @Test
    void failedAllocationsAreNotCounted_andABufferThatCannotGrowIsUnchanged() {
        AtomicBoolean none = new AtomicBoolean();
        BodyPool pool = new BodyPool(null, BUDGET_BYTES, bytes -> {
            if (none.get()) {
                throw new OutOfMemoryError("none");
            }
            return ALLOCATOR.directBuffer(bytes, bytes);
        });
        CountingAllocator allocator = new CountingAllocator(pool, budget, Part.FILLING);
        ByteBuf buffer = allocator.directBuffer(100).writeLong(7);
        long counted = budget.totalBytes();
        none.set(true);
        int large = pool.regionLength();
        assertThrows(OutOfMemoryError.class, () -> buffer.capacity(large));
        assertThrows(OutOfMemoryError.class, () -> buffer.writeZero(large));
        assertThrows(OutOfMemoryError.class, () -> allocator.directBuffer(large));
        assertThrows(OutOfMemoryError.class, () -> allocator.tryDirectBuffer(large));
        assertEquals(counted, budget.totalBytes());
        assertEquals(counted, budget.bytes(Part.FILLING));
        assertEquals(100, buffer.capacity());
        assertEquals(7, buffer.readLong());
        none.set(false);
        buffer.capacity(large).release();
        assertEquals(0, budget.totalBytes());
        pool.close();
        assertEquals(0, pool.chunkBytes());
    }

    @Test
    void countedBytesAreThoseOfTheRegions() {
        BodyPool pool = new BodyPool(null, 0, Region.WITH_ADDRESS::of);
        CountingAllocator allocator = new CountingAllocator(pool, budget, Part.FILLING);
        List<ByteBuf> buffers = new ArrayList<>();
        while (pool.chunkBytes() <= pool.regionLength()) {
            buffers.add(allocator.directBuffer(5_000));
        }
        ByteBuf last = buffers.remove(buffers.size() - 1);
        last.release();
        long unused = pool.regionLength() - budget.totalBytes();
        assertTrue(unused >= 0 && unused < pool.bytesFor(5_000), () -> "bytes that are not counted: " + unused);
        buffers.forEach(ByteBuf::release);
        assertEquals(0, budget.totalBytes());
    }

    @Test
    void anEntryHasTheCountedWeight() {
        RamTier<RamEntry> tier = new RamTier<>(BUDGET_BYTES, budget, Runnable::run);
        ByteBuf body = allocator(Region.WITH_ADDRESS).directBuffer(1_000).writeZero(1_000);
        RamEntry entry = new RamEntry(new byte[] {1}, 1, body, 0) {};
        tier.put(entry);
        assertEquals(budget.totalBytes(), entry.weight());
        entry.releaseEntry();
        tier.clear();
        assertEquals(0, budget.totalBytes());
    }
}
