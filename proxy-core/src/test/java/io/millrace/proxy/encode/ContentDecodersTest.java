package io.millrace.proxy.encode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.github.luben.zstd.ZstdOutputStream;
import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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

    @Test
    void longContentIsNotDecoded() throws Exception {
        assertNull(ContentDecoders.decode(ContentCoding.ZSTD, zstd(20, 100_000), 5000));
        assertNull(ContentDecoders.decode(null, Unpooled.wrappedBuffer(new byte[6000]), 5000));
    }
}
