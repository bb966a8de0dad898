package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.FieldSection;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** One event loop with one client, all of whose buffers must be released at the end of the test. */
abstract class FetchFixture {

    static final FieldSection FIELDS = FieldSection.builder()
            .add("Host", "origin.test")
            .add("Via", "1.1 test")
            .build();

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private MultiThreadIoEventLoopGroup group;
    EventLoop loop;
    OriginClient client;

    /** Uses epoll if it is available. */
    IoHandlerFactory transport() {
        return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }

    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder;
    }

    @BeforeEach
    void openClient() throws Exception {
        group = new MultiThreadIoEventLoopGroup(1, transport());
        loop = group.next();
        client = onLoop(
                () -> configure(OriginClient.builder(loop).allocator(allocator)).build());
    }

    @AfterEach
    void closeClientAndCountBuffers() throws Exception {
        onLoop(() -> {
            client.close();
            return null;
        });
        group.shutdownGracefully(0, RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS)
                .sync();
        assertEquals(0, allocator.metric().usedDirectMemory(), "direct bytes not released");
        assertEquals(0, allocator.metric().usedHeapMemory(), "heap bytes not released");
    }

    <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
    }

    void runOnLoop(Runnable task) throws Exception {
        loop.submit(task).get(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
    }

    OriginRequest request(Origin origin, UnaryOperator<OriginRequest.Builder> more) {
        return more.apply(OriginRequest.to(origin).fields(FIELDS)).build();
    }

    OriginRequest get(Origin origin) {
        return request(origin, builder -> builder);
    }

    OriginRequest get(Origin origin, FetchSettings settings) {
        return request(origin, builder -> builder.settings(settings));
    }

    OriginCall start(OriginRequest request, OriginResponseHandler handler) throws Exception {
        return onLoop(() -> client.fetch(request, handler));
    }

    /** Fetches and waits for a complete response. */
    RecordedResponse fetch(OriginRequest request) throws Exception {
        RecordedResponse response = new RecordedResponse();
        start(request, response);
        return response.awaitComplete();
    }

    /** Fetches and waits for a failure. */
    OriginFailure fetchFailing(OriginRequest request) throws Exception {
        RecordedResponse response = new RecordedResponse();
        start(request, response);
        return response.awaitFailure();
    }

    static FetchSettings.Builder settings() {
        return FetchSettings.builder();
    }

    static long millis(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
