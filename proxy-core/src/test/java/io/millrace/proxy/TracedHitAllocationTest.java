package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.SpanView;
import org.junit.jupiter.api.Test;

/** Tests that the event loop allocates nothing for the spans of hits. */
class TracedHitAllocationTest {
    private static final SpanSink IGNORING = new SpanSink() {
        @Override
        public void accept(SpanView span) {}

        @Override
        public void close() {}
    };

    @Test
    void aTracedHitAllocatesNothingMore() throws Exception {
        long without = bytesPerHits("0%");
        long with = bytesPerHits("100%");
        HitAllocation.assertNothingMore(without, with);
    }

    private static long bytesPerHits(String sample) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]));
                ProxyServer server = ProxyServer.builder()
                        .config(ProxyConfig.builder()
                                .listen("127.0.0.1:0")
                                .map("/", origin.url())
                                .set("cache.ram_size", "32MiB")
                                .set("log.access.enabled", "false")
                                .set("worker.event_loops", "1")
                                .set("traces.endpoint", "http://127.0.0.1:1")
                                .set("traces.sample", sample)
                                .build())
                        .spans((config, counts) -> IGNORING)
                        .start()) {
            return HitAllocation.bytes(server, "User-Agent: test\r\n");
        }
    }
}
