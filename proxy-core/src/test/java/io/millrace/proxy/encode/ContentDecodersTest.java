package io.millrace.proxy.encode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.github.luben.zstd.ZstdOutputStream;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the limits of decoders. */
class ContentDecodersTest {
    private static ByteBuf zstd(int windowBits, int length) throws IOException {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (ZstdOutputStream encoder = new ZstdOutputStream(to, 3)) {
            encoder.setLong(windowBits);
            encoder.write(new byte[length]);
        }
        return Unpooled.wrappedBuffer(to.toByteArray());
    }

    /** A decoder's memory is that of the window, so an origin must not choose any window. */
    @Test
    void largeWindowsAreRefused() throws Exception {
        ByteBuf small = ContentDecoders.decode(ContentCoding.ZSTD, zstd(23, 1000), 5000);
        assertNotNull(small);
        assertEquals(1000, small.readableBytes());
        small.release();
        ByteBuf large = zstd(24, 1000);
        assertThrows(IOException.class, () -> ContentDecoders.decode(ContentCoding.ZSTD, large, 5000));
    }

    /** The pool of the connections has a limit. */
    @Test
    void decodedContentIsInThePoolOfTheEncodedOne() throws Exception {
        ByteBufAllocator pool = new PooledByteBufAllocator(true);
        ByteBuf encoded = zstd(20, 1000);
        ByteBuf content = pool.compositeDirectBuffer(2).addComponent(true, encoded);
        ByteBuf decoded = ContentDecoders.decode(ContentCoding.ZSTD, content, 5000);
        assertNotNull(decoded);
        assertSame(pool, decoded.alloc());
        decoded.release();
        content.release();
    }

    /** A decoder has memory outside of the Java heap: it is closed although the pool is full. */
    @Test
    void theDecoderIsClosedIfThereIsNoBuffer() {
        AtomicInteger closed = new AtomicInteger();
        InputStream decoder = new InputStream() {
            @Override
            public int read() {
                return -1;
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
        ByteBufAllocator full = new AbstractByteBufAllocator(true) {
            @Override
            protected ByteBuf newHeapBuffer(int initial, int most) {
                return Unpooled.buffer(initial, most);
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }

            @Override
            protected ByteBuf newDirectBuffer(int initial, int most) {
                throw new OutOfMemoryError("test");
            }
        };
        ByteBuf content = full.compositeHeapBuffer(1);
        assertThrows(OutOfMemoryError.class, () -> ContentDecoders.decoded(decoder, content, 5000));
        assertEquals(1, closed.get());
        content.release();
    }

    @Test
    void longContentIsNotDecoded() throws Exception {
        assertNull(ContentDecoders.decode(ContentCoding.ZSTD, zstd(20, 100_000), 5000));
        assertNull(ContentDecoders.decode(null, Unpooled.wrappedBuffer(new byte[6000]), 5000));
    }
}
