package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.trace.SpanExport;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.store.StoreStatistics;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A proxy in front of a scripted origin for one test, on real sockets, with a clock that the test sets. After the test
 * everything is closed, and every buffer of the proxy must have been released.
 */
public final class ProxyExtension implements BeforeEachCallback, AfterEachCallback {
    /** 2026-01-01T00:00:00Z. */
    static final long START_MILLIS = 1_767_225_600_000L;

    /** With {@code false} all tests serve their clients in channels. */
    private static final boolean FAST_LANE = !"false".equals(System.getProperty("millrace.test.fast_lane"));

    private final AtomicLong clock = new AtomicLong(START_MILLIS);
    private final AtomicInteger faultAfter = new AtomicInteger();
    private final List<AutoCloseable> open = Collections.synchronizedList(new ArrayList<>());
    private boolean fastLane = FAST_LANE;
    private boolean mapsAll = true;
    private Path purgeRecords;
    private SpanExport spans;
    private final List<ExtensionEntry> extensions = new ArrayList<>();
    private ProxyServer proxy;
    private ProxyConfig config;
    private PooledByteBufAllocator pool;
    private RawOrigin origin;

    /** Starts origin and proxy. The defaults are one event loop, 32 MiB of RAM, no disk and no log. */
    ProxyServer start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        origin = new RawOrigin(script);
        config = more.apply(fresh()).build();
        return start();
    }

    /** Omits the default rule, which maps everything to the origin. */
    ProxyExtension withoutRules() {
        mapsAll = false;
        return this;
    }

    /** Keeps records of purges in a directory. */
    ProxyExtension purgeRecords(Path directory) {
        purgeRecords = directory;
        return this;
    }

    /** Exports traces. */
    ProxyExtension spans(SpanExport export) {
        spans = export;
        return this;
    }

    /** Adds an extension of the proxy. */
    ProxyExtension with(ExtensionEntry extension) {
        extensions.add(extension);
        return this;
    }

    private ProxyConfig.Builder fresh() {
        ProxyConfig.Builder fresh = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .set("cache.ram_size", "32MiB")
                .set("log.access.enabled", "false")
                .set("worker.event_loops", "1")
                .set("worker.fast_lane", String.valueOf(fastLane));
        return mapsAll ? fresh.map("/", origin.url()) : fresh;
    }

    private ProxyServer start() throws IOException {
        ProxyServerBuilder builder = ProxyServer.builder().config(config).clock(this::millis);
        if (purgeRecords != null) {
            builder.purgeRecords(purgeRecords);
        }
        if (spans != null) {
            builder.spans(spans);
        }
        extensions.forEach(builder::extension);
        proxy = builder.build();
        pool = proxy.allocator().pool();
        proxy.start();
        return proxy;
    }

    /** Stops the proxy and starts another one with the same configuration; only objects on disk remain. */
    void restart() throws IOException {
        proxy.close();
        assertEquals(0, usedBytes(), "direct bytes not given back");
        start();
    }

    ProxyServer start(RawOrigin.Script script) throws IOException {
        return start(script, config -> config);
    }

    private long millis() {
        if (faultAfter.get() > 0 && faultAfter.decrementAndGet() == 0) {
            throw new IllegalStateException("the fault that the test asked for");
        }
        return clock.get();
    }

    /** Makes one call of the clock throw, after this many others. */
    void failClockAt(int look) {
        faultAfter.set(look);
    }

    /** Changes settings of the running proxy. */
    void reload(UnaryOperator<ProxyConfig.Builder> change) throws IOException {
        proxy.reload(change.apply(fresh()).build());
    }

    ProxyServer proxy() {
        return proxy;
    }

    RawOrigin origin() {
        return origin;
    }

    void advanceSeconds(long seconds) {
        clock.addAndGet(TimeUnit.SECONDS.toMillis(seconds));
    }

    InetSocketAddress address() {
        return proxy.addresses().get(0);
    }

    RawClient client() throws IOException {
        return keep(new RawClient(address()));
    }

    /** Returns a client with a receive buffer so small that the proxy notices when it does not read. */
    RawClient slowClient() throws IOException {
        return keep(new RawClient(address(), 4096));
    }

    RawClient keep(RawClient client) {
        open.add(client);
        return client;
    }

    /** Sends one request on a new connection. */
    RawClient.Response get(String path, String... fields) throws IOException {
        try (RawClient client = new RawClient(address())) {
            return client.get(path, fields).response();
        }
    }

    /**
     * Like {@link #get}, and then waits until no response of an origin is being read and all bytes are on disk, if
     * there is one.
     */
    RawClient.Response getAndSettle(String path, String... fields) throws IOException {
        RawClient.Response response = get(path, fields);
        settle();
        proxy.store().sync();
        return response;
    }

    /** Waits until no origin has a request. */
    void settle() {
        for (ServingLoop loop : proxy.loops()) {
            await("the end of every fetch", () -> activeFetches(loop) == 0);
        }
    }

    /** Waits until this many requests in all have joined the fetch of another. */
    void awaitFollowers(int count) {
        await(count + " followers", () -> counted(Counter.LOOKUPS_FILLING) == count);
        // A request is counted on its own event loop, which then hands it to the loop of the fetch.
        for (int round = 0; round < 2; round++) {
            for (ServingLoop loop : proxy.loops()) {
                loop.loop().submit(() -> {}).syncUninterruptibly();
            }
        }
    }

    private static int activeFetches(ServingLoop loop) {
        return loop.loop()
                .submit(() -> (int) loop.origins().statistics().connectionsActive())
                .awaitUninterruptibly()
                .getNow();
    }

    /** Purges a URL of the test's host and waits until the purge is durable. */
    void purge(String path) {
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://test.example" + path);
        CountDownLatch done = new CountDownLatch(1);
        proxy.shared().purger().purge(url, Runnable::run, (wasPresent, failure) -> done.countDown());
        await("the purge", () -> done.getCount() == 0);
    }

    long counted(Counter counter) {
        return proxy.metrics().total(counter);
    }

    /** Waits for the effect of another thread; fails after a timeout. */
    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RawClient.WAIT_MILLIS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, () -> "never happened: " + what);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Returns the number of bytes in buffers in use, including the RAM tier. */
    long usedBytes() {
        StoreStatistics.Memory store = proxy.store().statistics().memory();
        return pool.pinnedDirectMemory()
                + store.residentBytes()
                + store.fillingBytes()
                + store.readingBytes()
                + store.writingBytes();
    }

    /** Returns content in which neighbouring positions differ. */
    static byte[] content(int length) {
        byte[] content = new byte[length];
        for (int i = 0; i < length; i++) {
            content[i] = (byte) (i * 31 ^ (i >>> 8) * 17 ^ (i >>> 16));
        }
        return content;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        fastLane &= !context.getRequiredTestClass().isAnnotationPresent(InChannels.class);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        if (proxy != null) {
            assertTrue(fastLane || counted(Counter.FAST_LANE_ANSWERED) == 0, "answered in the fast lane");
            proxy.close();
        }
        if (origin != null) {
            origin.close();
        }
        if (pool != null) {
            assertEquals(0, usedBytes(), "direct bytes not given back");
        }
    }
}
