package io.millrace.proxy.net;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.DelegatingHandle;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Netty's default receive buffer sizing, with a callback that counts bytes read from the socket. With TLS, the
 * encrypted bytes are counted.
 *
 * <p>Confined to one event loop.
 */
@SuppressWarnings("deprecation") // Netty 4.2 has no replacement for this interface
public final class CountedReads implements RecvByteBufAllocator {
    /** Limit of consecutive reads of one connection: Netty's default for TCP. */
    private static final int READS_IN_A_ROW = 16;

    private final AdaptiveRecvByteBufAllocator sizes = new AdaptiveRecvByteBufAllocator();
    private final IntConsumer onReceived;

    /**
     * Creates the allocator for the channels of one event loop.
     *
     * @param onReceived called with the number of bytes of each read
     */
    public CountedReads(IntConsumer onReceived) {
        this.onReceived = onReceived;
        sizes.maxMessagesPerRead(READS_IN_A_ROW);
    }

    @Override
    public Handle newHandle() {
        return new CountedHandle((ExtendedHandle) sizes.newHandle(), onReceived);
    }

    private static final class CountedHandle extends DelegatingHandle implements ExtendedHandle {
        private final ExtendedHandle sizes;
        private final IntConsumer onReceived;

        CountedHandle(ExtendedHandle sizes, IntConsumer onReceived) {
            super(sizes);
            this.sizes = sizes;
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
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return sizes.continueReading(maybeMoreData);
        }
    }
}
