package io.millrace.wasm.callout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.wasm.abi.ModuleLog;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that the limits of open calls cover results and tasks that wait. */
class CalloutClientTest {
    private final BlockingQueue<CalloutResponse> results = new LinkedBlockingQueue<>();
    private final CountDownLatch released = new CountDownLatch(1);
    /** Reaches 0 when all threads of the client are busy. */
    private final CountDownLatch busy = new CountDownLatch(4);

    private HttpServer server;
    private CalloutClient client;
    private URI url;

    /** The parts of an extension that the client uses. */
    private static final class Context implements ExtensionContext {
        @Override
        public String name() {
            return "filter";
        }

        @Override
        public ExtensionConfig config() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ExtensionCounter counter(String name) {
            return number -> {};
        }

        @Override
        public System.Logger log() {
            return System.getLogger("filter");
        }

        @Override
        public ScheduledExecutorService executor() {
            throw new UnsupportedOperationException();
        }
    }

    /** A content that keeps a thread of the client busy, as slow name resolution does. */
    private final class SlowContent implements HttpRequest.BodyPublisher {
        private final Thread sender = Thread.currentThread();

        @Override
        public long contentLength() {
            if (Thread.currentThread().equals(sender)) {
                return 0;
            }
            busy.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return 0;
        }

        @Override
        public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
            HttpRequest.BodyPublishers.noBody().subscribe(subscriber);
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        Context context = new Context();
        CalloutSettings settings = new CalloutSettings(Map.of(), TimeUnit.MINUTES.toNanos(1), 1 << 20);
        client = new CalloutClient(settings, context, new ModuleLog(context.log()));
    }

    @AfterEach
    void stop() {
        released.countDown();
        client.close();
        server.stop(0);
    }

    private Future<?> send() {
        Future<?> sent = client.send(HttpRequest.newBuilder(url).build(), results::add);
        assertNotNull(sent);
        return sent;
    }

    @Test
    void aCallIsOpenUntilItsResultIsReleased() throws Exception {
        for (int i = 0; i < OpenLimits.CALLS_MAX; i++) {
            Future<?> ignored = send();
        }
        Awaitility.await().until(() -> results.size() == OpenLimits.CALLS_MAX);
        assertEquals(OpenLimits.CALLS_MAX, client.open());
        assertNull(client.send(HttpRequest.newBuilder(url).build(), results::add));
        CalloutResponse result = results.take();
        result.release();
        result.release();
        assertEquals(OpenLimits.CALLS_MAX - 1, client.open());
        Future<?> last = send();
        assertNotNull(last);
    }

    @Test
    void cancelledCallsDoNotWaitForAThread() throws Exception {
        HttpRequest slow = HttpRequest.newBuilder(url).POST(new SlowContent()).build();
        for (int i = 0; i < 16; i++) {
            assertNotNull(client.send(slow, results::add));
        }
        busy.await();
        for (int i = 0; i < 100; i++) {
            assertTrue(send().cancel(true));
            results.take().release();
        }
        assertTrue(client.queued() < 100, () -> client.queued() + " tasks");
        assertEquals(16, client.open());
    }

    @Test
    void theBytesOfRequestsHaveALimit() throws Exception {
        Future<?> first = client.send(claim(CalloutSettings.BYTES_MAX), results::add);
        assertNotNull(first);
        assertNull(client.send(claim(1), results::add));
        assertEquals(1, client.open());
        Future<?> without = send();
        assertNotNull(without, "a request without content");
        assertTrue(first.cancel(true));
        results.take().release();
        results.take().release();
        Future<?> last = client.send(claim(1), results::add);
        assertNotNull(last);
        assertTrue(last.cancel(true));
    }

    /** Returns a request with a length, whose content never begins. */
    private HttpRequest claim(long bytes) {
        HttpRequest.BodyPublisher content = HttpRequest.BodyPublishers.fromPublisher(subscriber -> {}, bytes);
        return HttpRequest.newBuilder(url).POST(content).build();
    }

    @Test
    void theBytesOfResponsesHaveALimit() {
        OpenLimits limits = new OpenLimits();
        OpenLimits.Slot waiting = limits.open();
        OpenLimits.Slot next = limits.open();
        assertNotNull(waiting);
        assertNotNull(next);
        assertTrue(waiting.reserve((int) CalloutSettings.BYTES_MAX - 1));
        LimitedBody refused = new LimitedBody(10, next);
        refused.onNext(List.of(ByteBuffer.allocate(2)));
        assertTrue(refused.getBody().toCompletableFuture().isCompletedExceptionally());
        waiting.release();
        assertFalse(waiting.reserve(1), "after the release");
        LimitedBody accepted = new LimitedBody(10, next);
        accepted.onNext(List.of(ByteBuffer.allocate(2)));
        accepted.onComplete();
        assertEquals(2, accepted.getBody().toCompletableFuture().join().length);
    }
}
