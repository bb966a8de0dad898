package io.millrace.proxy.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Allocates the receive buffers for the connections of one event loop. Counts their bytes, and makes the buffers
 * smaller while memory is scarce.
 *
 * <p>Not thread-safe; confined to its event loop.
 */
@SuppressWarnings("deprecation") // Netty 4.2 has no replacement for this interface
public final class ReceiveBuffers implements RecvByteBufAllocator {
    /** Limit of consecutive reads of one connection while memory is plentiful: Netty's default for TCP. */
    private static final int READS_IN_A_ROW = 16;

    private final AdaptiveRecvByteBufAllocator sizes = new AdaptiveRecvByteBufAllocator();
    private final LoopMemory memory;
    private final IntConsumer onReceived;

    /**
     * Creates the allocator for the channels of one event loop.
     *
     * @param onReceived called with the number of bytes of each read
     */
    public ReceiveBuffers(LoopMemory memory, IntConsumer onReceived) {
        this.memory = memory;
        this.onReceived = onReceived;
        sizes.maxMessagesPerRead(READS_IN_A_ROW);
    }

    @Override
    public Handle newHandle() {
        return new CountedHandle((ExtendedHandle) sizes.newHandle(), memory, onReceived);
    }

    private static final class CountedHandle extends DelegatingHandle implements ExtendedHandle {
        private final ExtendedHandle sizes;
        private final LoopMemory memory;
        private final IntConsumer onReceived;

        private CountedHandle(ExtendedHandle sizes, LoopMemory memory, IntConsumer onReceived) {
            super(sizes);
            this.sizes = sizes;
            this.memory = memory;
            this.onReceived = onReceived;
        }

        @Override
        public void lastBytesRead(int bytes) {
            super.lastBytesRead(bytes);
            if (bytes > 0) {
                onReceived.accept(bytes);
            }
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            int bytes = guess();
            memory.countReceived(bytes);
            return allocator.ioBuffer(bytes);
        }

        @Override
        public int guess() {
            return memory.receiveBytes(sizes.guess());
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return memory.readsInARow() && sizes.continueReading(maybeMoreData);
        }
    }
}
