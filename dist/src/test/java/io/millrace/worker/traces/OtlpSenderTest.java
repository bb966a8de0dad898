package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.SpanCounts;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;

/** Tests failures of requests that do not come from the collector. */
class OtlpSenderTest {
    private static final String SECRET = "c2VjcmV0";

    /** The failure of the first request. */
    private enum Failure {
        INVALID_VALUE("java.lang.IllegalArgumentException") {
            @Override
            Map<String, String> fields() {
                return Map.of("Authorization", "Bearer " + SECRET + "\u0001");
            }
        },
        EXCEPTION("java.lang.IllegalStateException") {
            @Override
            Map<String, String> fields() {
                throw new IllegalStateException(SECRET);
            }
        },
        NO_DIRECT_MEMORY("Cannot reserve 9 bytes") {
            @Override
            Map<String, String> fields() {
                throw new OutOfMemoryError("Cannot reserve 9 bytes of direct buffer memory");
            }
        };

        final String logged;

        Failure(String logged) {
            this.logged = logged;
        }

        abstract Map<String, String> fields();
    }

    private final List<String> lines = new CopyOnWriteArrayList<>();

    private FaultLog faults() {
        Logger log = (Logger) Proxy.newProxyInstance(
                OtlpSenderTest.class.getClassLoader(), new Class<?>[] {Logger.class}, (proxy, method, arguments) -> {
                    lines.add(Arrays.deepToString(arguments));
                    return null;
                });
        return new FaultLog(log, 1, System::nanoTime);
    }

    private static OtlpBatch batch(int spans) {
        OtlpBatch batch = new OtlpBatch(new OtlpResource("test", 1));
        for (int i = 0; i < spans; i++) {
            batch.added();
        }
        return batch;
    }

    @ParameterizedTest
    @EnumSource
    void aFailureCostsOneBatchAndItsSecretsAreNotLogged(Failure failure) throws Exception {
        SpanCounts counts = new SpanCounts();
        BatchQueue queue = new BatchQueue(2);
        AtomicBoolean hasFailed = new AtomicBoolean();
        try (FakeCollector collector = new FakeCollector(null)) {
            OtlpClient client = new OtlpClient(
                    URI.create(collector.url("127.0.0.1")),
                    null,
                    false,
                    () -> hasFailed.getAndSet(true) ? Map.of() : failure.fields());
            queue.add(batch(2));
            queue.add(batch(5));
            try (OtlpSender sender = new OtlpSender(client, queue, counts, faults())) {
                sender.start();
                Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> counts.exported() == 5);
            }
        }
        assertEquals(2, counts.failed());
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains(failure.logged), lines::toString);
        assertFalse(lines.get(0).contains(SECRET), lines::toString);
    }
}
