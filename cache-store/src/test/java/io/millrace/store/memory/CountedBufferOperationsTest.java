package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.millrace.store.memory.BufferOperations.Operation;
import io.millrace.store.memory.CountedBufferTest.Region;
import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that buffers of a pool return the same results, and have the same content, as plain buffers. */
class CountedBufferOperationsTest {
    private static final long SEED = Long.getLong("store.seed", System.nanoTime());
    private static final int OPERATIONS = 10_000;
    private static final int BUFFERS = 8;
    private static final int CAPACITY_MAX = 4_000;

    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final List<ByteBuf> counted = new ArrayList<>();
    private final List<ByteBuf> plain = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(Region.class)
    void behaveLikePlainBuffers(Region region, @TempDir Path folder) throws IOException {
        System.out.println("store.seed=" + SEED);
        Random random = new Random(SEED);
        BodyPool pool = new BodyPool(null, 0, region::of);
        CountingAllocator allocator = new CountingAllocator(pool, budget, Part.FILLING);
        for (int i = 0; i < BUFFERS; i++) {
            add(allocator, random.nextInt(100));
        }
        try (FileChannel file = FileChannel.open(
                folder.resolve("content"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            List<Operation> operations = new BufferOperations(file).all();
            for (int i = 0; i < OPERATIONS; i++) {
                int operation = random.nextInt(operations.size());
                int buffer = random.nextInt(BUFFERS);
                compare(operations.get(operation), buffer, random.nextLong(), "operation " + operation + ", turn " + i);
                if (i % 50 == 0) {
                    remove(buffer);
                    add(allocator, random.nextInt(1_000));
                }
            }
        }
        while (!counted.isEmpty()) {
            remove(0);
        }
        pool.close();
        assertEquals(0, budget.totalBytes());
        assertEquals(0, pool.chunkBytes());
    }

    private void add(CountingAllocator allocator, int capacity) {
        counted.add(allocator.directBuffer(capacity, CAPACITY_MAX).setZero(0, capacity));
        plain.add(Unpooled.buffer(capacity, CAPACITY_MAX).setZero(0, capacity));
    }

    private void remove(int buffer) {
        counted.remove(buffer).release();
        plain.remove(buffer).release();
    }

    private void compare(Operation operation, int buffer, long seed, String what) {
        ByteBuf one = counted.get(buffer);
        ByteBuf other = plain.get(buffer);
        int capacity = one.capacity();
        byte[] content = ByteBufUtil.getBytes(other, 0, capacity);
        Object expected = outcome(operation, other, seed);
        Object actual = outcome(operation, one, seed);
        if (expected instanceof RuntimeException) {
            // Without Unsafe an array is written up to its end.
            other.setBytes(0, content);
            assertInstanceOf(expected.getClass(), actual, what);
        } else {
            assertEquals(expected, actual, what);
        }
        assertEquals(other.readerIndex(), one.readerIndex(), what);
        assertEquals(other.writerIndex(), one.writerIndex(), what);
        level(one, other, capacity);
        for (int i = 0; i < BUFFERS; i++) {
            ByteBuf each = counted.get(i);
            assertEquals(plain.get(i).slice(0, each.capacity()), each.slice(0, each.capacity()), what);
        }
    }

    private static Object outcome(Operation operation, ByteBuf buffer, long seed) {
        try {
            return operation.on(buffer, new Random(seed));
        } catch (IndexOutOfBoundsException e) {
            return new IndexOutOfBoundsException();
        } catch (IllegalArgumentException e) {
            // The exception of a plain buffer's array or view for such an index.
            return buffer.isDirect() ? e : new IndexOutOfBoundsException();
        } catch (RuntimeException e) {
            return e;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Both grow by different steps, and unwritten bytes are undefined. */
    private static void level(ByteBuf one, ByteBuf other, int before) {
        int capacity = Math.max(one.capacity(), other.capacity());
        int written = Math.min(capacity, Math.max(before, one.writerIndex()));
        for (ByteBuf each : List.of(one, other)) {
            each.capacity(capacity).setZero(written, capacity - written);
        }
    }
}
