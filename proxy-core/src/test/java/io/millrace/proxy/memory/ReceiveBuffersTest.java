package io.millrace.proxy.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@SuppressWarnings("deprecation") // Netty 4.2 has no other interface for it
class ReceiveBuffersTest {
    private static final long MIB = 1 << 20;

    private record Pinned(long pinnedBytes) implements InFlightMemory.Gauges {
        @Override
        public long chunkBytes() {
            return 0;
        }

        @Override
        public boolean isStoreTight() {
            return false;
        }
    }

    /** If memory is scarce, a connection that always has more bytes lets others proceed after one read. */
    @ParameterizedTest
    @CsvSource({"0, 16", "190, 16", "193, 1", "300, 1", "370, 1"})
    void readsOfOneConnectionInARow(long usedMib, int reads) {
        assertEquals(reads, readsInARow(new ReceiveBuffers(loop(usedMib, Runnable::run), bytes -> {})));
    }

    /** After 1 MiB the other ready connections are read once each, until the event loop has served all of them. */
    @Test
    void connectionsThatAreReadyTogetherShareAnIteration() {
        List<Runnable> afterIo = new ArrayList<>();
        LoopMemory loop = loop(0, afterIo::add);
        ReceiveBuffers buffers = new ReceiveBuffers(loop, bytes -> {});
        loop.countReceived(LoopMemory.ITERATION_BYTES);
        assertEquals(1, readsInARow(buffers));
        assertEquals(1, readsInARow(buffers));
        assertEquals(1, afterIo.size(), "one task for an iteration");
        afterIo.get(0).run();
        assertEquals(16, readsInARow(buffers));
    }

    private static LoopMemory loop(long usedMib, Executor afterIo) {
        InFlightMemory shared = new InFlightMemory(new Pinned(usedMib * MIB), () -> 384 * MIB, 1024 * MIB);
        LoopMemory loop = new LoopMemory(shared, () -> 0, afterIo);
        loop.measure();
        return loop;
    }

    private static int readsInARow(ReceiveBuffers buffers) {
        ExtendedHandle handle = (ExtendedHandle) buffers.newHandle();
        EmbeddedChannel channel = new EmbeddedChannel();
        handle.reset(channel.config());
        int done = 0;
        do {
            ByteBuf buffer = handle.allocate(UnpooledByteBufAllocator.DEFAULT);
            handle.attemptedBytesRead(buffer.writableBytes());
            handle.lastBytesRead(buffer.writableBytes());
            handle.incMessagesRead(1);
            buffer.release();
            done++;
        } while (handle.continueReading(() -> true));
        channel.close();
        return done;
    }
}
