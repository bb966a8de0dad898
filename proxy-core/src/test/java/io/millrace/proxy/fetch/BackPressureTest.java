package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests that a slow caller makes the origin wait. */
class BackPressureTest extends FetchFixture {

    /** More bytes than the kernel buffers of both ends can hold. */
    private static final int CONTENT_LENGTH = 64 << 20;

    /** Bytes that may still arrive after a pause: those that the event loop has read. */
    private static final int AFTER_PAUSE_MAX = 256 << 10;

    @Test
    void theOriginIsNotReadWhileTheCallerPauses() throws Exception {
        CompletableFuture<Integer> stalledAt = new CompletableFuture<>();
        CompletableFuture<Integer> sent = new CompletableFuture<>();
        try (ServerSocketChannel listening = ServerSocketChannel.open()) {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread origin = new Thread(() -> sendWatchingForStall(listening, stalledAt, sent), "origin");
            origin.setDaemon(true);
            origin.start();

            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onHead(ResponseHead received, ResponseFraming framed) {
                    super.onHead(received, framed);
                    call.get().pauseReading();
                }
            };
            int port = ((InetSocketAddress) listening.getLocalAddress()).getPort();
            FetchSettings impatient =
                    settings().responseIdleTimeoutNanos(millis(100)).build();
            onLoop(() -> {
                call.set(client.fetch(get(Origin.http("127.0.0.1", port), impatient), response));
                return null;
            });
            int stalled = stalledAt.get(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
            assertTrue(stalled < CONTENT_LENGTH, "sent " + stalled);
            int received = onLoop(response::contentLength);
            assertTrue(received <= AFTER_PAUSE_MAX, "received " + received);
            assertEquals(1, response.ended.getCount(), "no deadline runs in a pause");

            runOnLoop(call.get()::resumeReading);
            response.awaitComplete();
            assertEquals(CONTENT_LENGTH, response.contentLength());
            assertEquals(CONTENT_LENGTH, sent.get(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, onLoop(() -> client.statistics().connectionsIdle()));
        }
    }

    @Test
    void theCallerIsNotifiedWhenTheOriginTakesMore() throws Exception {
        AtomicReference<OriginCall> call = new AtomicReference<>();
        int pieces = 512;
        int pieceLength = 32 << 10;
        CountDownLatch unwritable = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            unwritable.await();
            int taken = peer.read(pieces * pieceLength).length();
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + taken);
        })) {
            AtomicInteger told = new AtomicInteger();
            RecordedResponse response = new RecordedResponse() {
                private int written;

                @Override
                public void onRequestWritable() {
                    told.incrementAndGet();
                    while (written < pieces && call.get().isRequestWritable()) {
                        call.get().write(Unpooled.wrappedBuffer(new byte[pieceLength]));
                        if (++written == pieces) {
                            call.get().finishRequest();
                        }
                    }
                    unwritable.countDown();
                }
            };
            OriginRequest upload = request(
                    origin.origin(), builder -> builder.method("POST").contentLength((long) pieces * pieceLength));
            onLoop(() -> {
                call.set(client.fetch(upload, response));
                return null;
            });
            assertEquals(
                    String.valueOf(pieces * pieceLength),
                    response.awaitComplete().content());
            assertTrue(told.get() > 1, "told once only");
        }
    }

    /** Sends without blocking; reports the number of sent bytes when the other side has read nothing for a while. */
    private static void sendWatchingForStall(
            ServerSocketChannel listening, CompletableFuture<Integer> stalledAt, CompletableFuture<Integer> sent) {
        try (SocketChannel socket = listening.accept();
                Selector selector = Selector.open()) {
            socket.read(ByteBuffer.allocate(4096));
            socket.write(ByteBuffer.wrap(("HTTP/1.1 200 OK\r\nContent-Length: " + CONTENT_LENGTH + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII)));
            socket.configureBlocking(false);
            socket.register(selector, SelectionKey.OP_WRITE);
            ByteBuffer piece = ByteBuffer.allocate(128 << 10);
            int total = 0;
            while (total < CONTENT_LENGTH) {
                piece.clear().limit(Math.min(piece.capacity(), CONTENT_LENGTH - total));
                int written = socket.write(piece);
                total += written;
                if (written == 0 && selector.select(stalledAt.isDone() ? 0 : 500) == 0) {
                    stalledAt.complete(total);
                }
                selector.selectedKeys().clear();
            }
            stalledAt.complete(total);
            sent.complete(total);
            socket.keyFor(selector).cancel();
            selector.selectNow();
            socket.configureBlocking(true);
            socket.read(ByteBuffer.allocate(1));
        } catch (Exception e) {
            stalledAt.completeExceptionally(e);
            sent.completeExceptionally(e);
        }
    }
}
