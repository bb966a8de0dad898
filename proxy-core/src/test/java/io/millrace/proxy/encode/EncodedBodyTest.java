package io.millrace.proxy.encode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the order of pieces, the limit of waiting bytes, and the release of buffers and encoders. */
class EncodedBodyTest {
    private final DefaultEventExecutor loop = new DefaultEventExecutor();
    private final ByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final EncoderThreads threads = new EncoderThreads(allocator);

    @AfterEach
    void end() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Collects the encoded content. */
    private static final class Collected implements EncodedBody.Receiver {
        final ByteArrayOutputStream content = new ByteArrayOutputStream();
        final CompletableFuture<byte[]> all = new CompletableFuture<>();
        final Set<ByteBufAllocator> allocators = new HashSet<>();
        int bytes;

        @Override
        public void onEncoded(ByteBuf piece, int from) {
            allocators.add(piece.alloc());
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
        assertEquals(Set.of(allocator), collected.allocators);
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
                    for (int i = 0; i < EncoderThreads.PERMITS_MAX; i++) {
                        bodies.add(begin(ContentCoding.GZIP, -1, new Collected()));
                    }
                    assertNull(EncodedBody.begin(loop, threads, ContentCoding.GZIP, 5, -1, new Collected()));
                    bodies.forEach(EncodedBody::close);
                    begin(ContentCoding.GZIP, -1, new Collected()).close();
                })
                .get();
    }

    /** An encoder that waits while it writes, and reports the thread that closes it. */
    private static final class Observed extends OutputStream {
        final CountDownLatch mayWrite = new CountDownLatch(1);
        final CompletableFuture<Thread> closedBy = new CompletableFuture<>();

        @Override
        public void write(int octet) {
            try {
                mayWrite.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() {
            closedBy.complete(Thread.currentThread());
        }

        EncodedBody body(DefaultEventExecutor loop, EncoderThreads threads, EncodedBody.Receiver receiver) {
            assertTrue(threads.takePermit());
            return EncodedBody.slow(loop, threads, new ContentEncoder(to -> this), receiver);
        }
    }

    /** Closes the body when its first piece was encoded. */
    private static final class Leaving implements EncodedBody.Receiver {
        final CompletableFuture<EncodedBody> body = new CompletableFuture<>();

        @Override
        public void onEncoded(ByteBuf piece, int from) {
            piece.release();
            body.join().close();
        }

        @Override
        public void onDrained() {}

        @Override
        public void onEnd() {}

        @Override
        public void onFault(Throwable fault) {}
    }

    /** Closing an encoder of a slow level encodes what it kept back, which takes long. */
    @Test
    void slowEncodersAreClosedOutsideTheEventLoop() throws Exception {
        Observed idle = new Observed();
        idle.mayWrite.countDown();
        Leaving leaving = new Leaving();
        Observed working = new Observed();
        loop.submit(() -> {
                    EncodedBody body = idle.body(loop, threads, leaving);
                    leaving.body.complete(body);
                    body.content(Unpooled.wrappedBuffer(new byte[1]));
                    EncodedBody other = working.body(loop, threads, new Collected());
                    other.content(Unpooled.wrappedBuffer(new byte[1]));
                    other.close();
                })
                .get();
        working.mayWrite.countDown();
        assertFalse(loop.inEventLoop(idle.closedBy.get(30, TimeUnit.SECONDS)));
        assertFalse(loop.inEventLoop(working.closedBy.get(30, TimeUnit.SECONDS)));
        threads.close();
        assertTrue(threads.takePermits(EncoderThreads.PERMITS_MAX), "all permits were given back");
    }

    @Test
    void slowEncodersAreClosedAtOnceAfterTheThreadsHaveEnded() throws Exception {
        Observed observed = new Observed();
        loop.submit(() -> {
                    EncodedBody body = observed.body(loop, threads, new Collected());
                    body.content(Unpooled.wrappedBuffer(new byte[1]));
                    observed.mayWrite.countDown();
                    threads.close();
                    body.close();
                })
                .get();
        assertTrue(loop.inEventLoop(observed.closedBy.get(30, TimeUnit.SECONDS)));
        loop.submit(() -> {}).get();
        assertTrue(threads.takePermits(EncoderThreads.PERMITS_MAX), "all permits were given back");
    }

    @ParameterizedTest
    @CsvSource({"GZIP, 9, 128", "BROTLI, 9, 128", "BROTLI, 10, 32", "ZSTD, 15, 128", "ZSTD, 16, 32"})
    void fewerEncodersOfLevelsThatNeedMuchMemoryAreAllowed(ContentCoding coding, int level, int count)
            throws Exception {
        loop.submit(() -> {
                    List<EncodedBody> bodies = new ArrayList<>();
                    EncodedBody next;
                    while ((next = EncodedBody.begin(loop, threads, coding, level, -1, new Collected())) != null) {
                        bodies.add(next);
                    }
                    assertEquals(count, bodies.size());
                    bodies.forEach(EncodedBody::close);
                })
                .get();
        threads.close();
        assertTrue(threads.takePermits(EncoderThreads.PERMITS_MAX), "all permits were given back");
    }

    @Test
    void theTimeOfDecodersIsCounted() {
        threads.decode(() -> {
            long began = System.nanoTime();
            while (System.nanoTime() == began) {
                Thread.onSpinWait();
            }
        });
        threads.close();
        assertTrue(threads.nanosWorked() > 0);
    }
}
