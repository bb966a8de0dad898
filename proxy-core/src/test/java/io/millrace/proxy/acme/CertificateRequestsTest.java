package io.millrace.proxy.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests requests to a launcher that is slow or has exited: their number is limited. */
class CertificateRequestsTest {
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    @TempDir
    Path directory;

    private final AtomicLong nanos = new AtomicLong();
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final CertificateRequests requests = new CertificateRequests(executor, nanos::get, () -> {});

    @BeforeEach
    void makeDirectory() throws IOException {
        Files.createDirectories(new AcmeFiles(directory).requests());
    }

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    private CountDownLatch ask(String name) {
        AcmeConfig config = ProxyConfig.builder()
                .set("tls.acme.accept_terms", "true")
                .set("tls.acme.on_demand.ask", "http://127.0.0.1:1/")
                .set("tls.acme.on_demand.wait", "30s")
                .set("tls.acme.on_demand.pending_max", "2")
                .build()
                .acme()
                .storedIn(directory);
        CountDownLatch over = new CountDownLatch(1);
        requests.ask(config, name, over::countDown);
        return over;
    }

    private static void await(CountDownLatch over) {
        Awaitility.await().until(() -> over.getCount() == 0);
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.list(new AcmeFiles(directory).requests())) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void abandonedRequestsCountUntilTheyAreDecided() throws Exception {
        CountDownLatch first = ask("a.example.com");
        CountDownLatch second = ask("b.example.com");
        Awaitility.await().until(() -> files().size() == 2);
        nanos.addAndGet(MINUTE_NANOS);
        await(first);
        await(second);
        await(ask("c.example.com"));
        await(ask("a.example.com"));
        assertEquals(List.of("a.example.com", "b.example.com"), files());
        // The launcher finally decides.
        Files.delete(new AcmeFiles(directory).requests().resolve("a.example.com"));
        Awaitility.await().until(() -> {
            ask("c.example.com");
            return files().contains("c.example.com");
        });
        // The launcher does not return: the requests are withdrawn.
        nanos.addAndGet(12 * MINUTE_NANOS);
        Awaitility.await().until(() -> files().isEmpty());
    }
}
