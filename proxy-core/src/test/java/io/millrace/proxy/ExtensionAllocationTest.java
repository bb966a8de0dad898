package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.PurgeObserver;
import io.millrace.proxy.spi.RequestView;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that hits of rules without hooks allocate the same with and without extensions. */
class ExtensionAllocationTest {
    private static final class Observing extends TestExtension implements PurgeObserver {
        @Override
        public void purged(Purge purge) {}
    }

    /** Sets five constant fields. */
    private static final class Constant extends TestExtension implements DeliverHook {
        @Override
        public Map<String, String> constantFields() {
            return Map.of("X-A", "one", "X-B", "two", "X-C", "three", "Server", "four", "Cache-Control", "no-cache");
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            throw new IllegalStateException("constant fields need no call");
        }
    }

    @Test
    void hitsWithoutHooksAllocateNothingMore() throws Exception {
        assertNothingMore(new Observing());
    }

    @Test
    void constantFieldsAllocateNothingMore() throws Exception {
        assertNothingMore(new Constant());
    }

    private static void assertNothingMore(TestExtension extension) throws Exception {
        long without = bytesPerHits(null);
        long with = bytesPerHits(extension);
        HitAllocation.assertNothingMore(without, with);
    }

    private static long bytesPerHits(@Nullable TestExtension extension) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]))) {
            ProxyServerBuilder builder = ProxyServer.builder()
                    .config(ProxyConfig.builder()
                            .listen("127.0.0.1:0")
                            .set("cache.ram_size", "32MiB")
                            .set("log.access.enabled", "false")
                            .set("worker.event_loops", "1")
                            .map("/", origin.url())
                            .build());
            if (extension != null) {
                builder.extension(extension);
            }
            try (ProxyServer server = builder.start()) {
                return HitAllocation.bytes(server, "");
            }
        }
    }
}
