package io.millrace.proxy.encode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the order of pieces, the limit of waiting bytes, and the release of buffers and encoders. */
class EncodedBodyTest {
    private final DefaultEventExecutor loop = new DefaultEventExecutor();
    private final EncoderThreads threads = new EncoderThreads();

    @AfterEach
    void end() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Collects the encoded content. */
    private static final class Collected implements EncodedBody.Receiver {
        final ByteArrayOutputStream content = new ByteArrayOutputStream();
        final CompletableFuture<byte[]> all = new CompletableFuture<>();
        int bytes;

        @Override
        public void onEncoded(ByteBuf piece, int from) {
            byte[] copy = new byte[piece.readableBytes()];
            piece.readBytes(copy);
            piece.release();
            content.writeBytes(copy);
            bytes += from;
        }

        @Override
        public void onDrained() {}

        @Override
        public void onEnd() {
            all.complete(content.toByteArray());
        }

        @Override
        public void onFault(Throwable fault) {
            all.completeExceptionally(fault);
        }
    }

    private EncodedBody begin(ContentCoding coding, long length, EncodedBody.Receiver receiver) {
        EncodedBody body = EncodedBody.begin(loop, threads, coding, 5, length, receiver);
        assertNotNull(body);
        return body;
    }

    @ParameterizedTest
    @EnumSource(ContentCoding.class)
    void allCodingsAreAvailable(ContentCoding coding) {
        assertTrue(ContentEncoders.isAvailable(coding));
    }

    @Test
    void piecesStayInOrder() throws Exception {
        Random random = new Random(7);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        Collected collected = new Collected();
        loop.submit(() -> {
                    EncodedBody body = begin(ContentCoding.GZIP, -1, collected);
                    for (int i = 0; i < 200; i++) {
                        byte[] piece = new byte[1 + random.nextInt(4000)];
                        random.nextBytes(piece);
                        expected.writeBytes(piece);
                        body.content(Unpooled.wrappedBuffer(piece));
                    }
                    assertTrue(body.isFull());
                    body.finish();
                })
                .get();
        byte[] encoded = collected.all.get(30, TimeUnit.SECONDS);
        assertArrayEquals(
                expected.toByteArray(), new GZIPInputStream(new ByteArrayInputStream(encoded)).readAllBytes());
        assertEquals(expected.size(), collected.bytes);
    }

    @Test
    void emptyContentIsValid() throws Exception {
        Collected collected = new Collected();
        loop.submit(() -> begin(ContentCoding.GZIP, -1, collected).finish()).get();
        byte[] encoded = collected.all.get(30, TimeUnit.SECONDS);
        assertEquals(0, new GZIPInputStream(new ByteArrayInputStream(encoded)).readAllBytes().length);
    }

    @Test
    void closedBodiesReleaseTheirPieces() throws Exception {
        List<ByteBuf> pieces = new ArrayList<>();
        loop.submit(() -> {
                    EncodedBody body = begin(ContentCoding.GZIP, -1, new Collected());
                    for (int i = 0; i < 20; i++) {
                        ByteBuf piece = Unpooled.wrappedBuffer(new byte[50_000]);
                        pieces.add(piece);
                        body.content(piece);
                    }
                    body.close();
                    body.close();
                    ByteBuf late = Unpooled.wrappedBuffer(new byte[1]);
                    pieces.add(late);
                    body.content(late);
                })
                .get();
        // The first task may still run; its end is on the loop.
        Collected after = new Collected();
        loop.submit(() -> begin(ContentCoding.GZIP, 100, after).finish()).get();
        after.all.get(30, TimeUnit.SECONDS);
        for (ByteBuf piece : pieces.subList(1, pieces.size())) {
            assertEquals(0, piece.refCnt());
        }
    }

    @Test
    void theNumberOfEncodersIsLimited() throws Exception {
        loop.submit(() -> {
                    List<EncodedBody> bodies = new ArrayList<>();
                    for (int i = 0; i < EncoderThreads.ENCODERS_MAX; i++) {
                        bodies.add(begin(ContentCoding.GZIP, -1, new Collected()));
                    }
                    assertNull(EncodedBody.begin(loop, threads, ContentCoding.GZIP, 5, -1, new Collected()));
                    bodies.forEach(EncodedBody::close);
                    begin(ContentCoding.GZIP, -1, new Collected()).close();
                })
                .get();
    }
}
