package io.millrace.proxy.http1;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.channel.MessageSizeEstimator;

/**
 * What a queued message counts towards a channel's high-water mark: its bytes, those in files too. Netty's own counts a file as
 * nothing, so that a long body would be queued whole for a client that does not read.
 *
 * <p>Immutable.
 */
final class ContentSizeEstimator implements MessageSizeEstimator {
    static final ContentSizeEstimator INSTANCE = new ContentSizeEstimator();

    /** For what is neither, as Netty's has it. */
    private static final int OTHER_BYTES = 8;

    private ContentSizeEstimator() {}

    @Override
    public Handle newHandle() {
        return ContentSizeEstimator::size;
    }

    private static int size(Object message) {
        if (message instanceof ByteBuf bytes) {
            return bytes.readableBytes();
        }
        return message instanceof FileRegion file ? (int) Math.min(Integer.MAX_VALUE, file.count()) : OTHER_BYTES;
    }
}
