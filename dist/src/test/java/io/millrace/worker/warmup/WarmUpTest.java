package io.millrace.worker.warmup;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.worker.warmup.WarmUpReport.Outcome;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WarmUpTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final double CORES = Runtime.getRuntime().availableProcessors() / 2.0;

    @TempDir
    Path directory;

    private WarmUpPlan plan(Duration limit, ProxyConfig worker) {
        return WarmUpPlan.complete(directory.resolve("warm-up"), limit, worker);
    }

    private static ProxyConfig transport(String name) {
        return ProxyConfig.builder().set("worker.transport", name).build();
    }

    private static void awaitLoad(WarmUp warmUp) {
        await("a cycle of requests")
                .atMost(PATIENCE)
                .until(() -> warmUp.requests() > 0 || warmUp.finished().isDone());
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void everyRequestIsAnsweredAsExpected(String transport) {
        try (WarmUp warmUp = WarmUp.start(plan(LONG, transport(transport)))) {
            await("two batches of purges, the second of what a cycle has stored")
                    .atMost(PATIENCE)
                    .until(() -> warmUp.purged() > 1 || warmUp.finished().isDone());
            assertEquals(0, warmUp.unexpected());
            assertTrue(warmUp.purged() > 1, "purges of what was stored");
            warmUp.stop();
            WarmUpReport report = warmUp.finished().join();
            assertEquals(Outcome.STOPPED, report.outcome(), report::toString);
            assertTrue(report.requests() > 1000, report::toString);
        }
    }

    @Test
    void withoutTlsAndFleetTheOtherRequestsAreSent() {
        ProxyConfig plain = ProxyConfig.builder().listen("127.0.0.1:0").build();
        WarmUpPlan plan = WarmUpPlan.forWorker(directory.resolve("warm-up"), LONG, plain);
        try (WarmUp warmUp = WarmUp.start(plan)) {
            await("two cycles")
                    .atMost(PATIENCE)
                    .until(() -> warmUp.requests() > 1000 || warmUp.finished().isDone());
            assertEquals(0, warmUp.unexpected());
            assertTrue(warmUp.purged() > 0);
            warmUp.stop();
            assertEquals(Outcome.STOPPED, warmUp.finished().join().outcome());
        }
    }

    @Test
    void usesTlsAndPurgesOftenIfTheWorkerWill() {
        Path own = directory.resolve("warm-up");
        ProxyConfig plain = ProxyConfig.builder().listen("127.0.0.1:0").build();
        assertEquals(new WarmUpPlan(own, LONG, plain, CORES, false, false), WarmUpPlan.forWorker(own, LONG, plain));
        ProxyConfig tls = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .listen("127.0.0.1:0", directory.resolve("certificate.pem"), directory.resolve("key.pem"))
                .build();
        assertEquals(new WarmUpPlan(own, LONG, tls, CORES, true, false), WarmUpPlan.forWorker(own, LONG, tls));
        ProxyConfig redirect = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .rule(RemapVerb.REDIRECT, "http://a.test/", "https://a.test/", ConfigValues.empty())
                .build();
        assertEquals(
                new WarmUpPlan(own, LONG, redirect, CORES, false, false), WarmUpPlan.forWorker(own, LONG, redirect));
        ProxyConfig origin = ProxyConfig.forOrigin("127.0.0.1:0", "https://127.0.0.1:1");
        assertEquals(new WarmUpPlan(own, LONG, origin, CORES, true, false), WarmUpPlan.forWorker(own, LONG, origin));
        ProxyConfig fleet = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .set("fleet.name", "edge")
                .set("fleet.node", "a")
                .set("fleet.servers", "nats://127.0.0.1:1")
                .build();
        assertEquals(new WarmUpPlan(own, LONG, fleet, CORES, false, true), WarmUpPlan.forWorker(own, LONG, fleet));
    }

    @Test
    void endsAtItsLimit() {
        try (WarmUp warmUp = WarmUp.start(plan(Duration.ofMillis(100), ProxyConfig.defaults()))) {
            assertEquals(Outcome.LIMIT, warmUp.finished().join().outcome());
            assertTrue(warmUp.isComplete());
        }
    }

    @Test
    void isStoppedAtAnyTime() {
        Path own = directory.resolve("warm-up");
        WarmUp warmUp = WarmUp.start(plan(LONG, ProxyConfig.defaults()));
        warmUp.stop();
        assertEquals(Outcome.STOPPED, warmUp.finished().getNow(null).outcome());
        assertFalse(warmUp.isComplete());
        warmUp.close();
        assertFalse(Files.exists(own));
    }

    @Test
    void reportsTheFailure() throws IOException {
        Path file = Files.writeString(directory.resolve("warm-up"), "in the way");
        try (WarmUp warmUp = WarmUp.start(plan(LONG, ProxyConfig.defaults()))) {
            WarmUpReport report = warmUp.finished().join();
            assertEquals(Outcome.FAILED, report.outcome());
            assertTrue(report.reason().contains(file.toString()), report::toString);
        }
    }

    @Test
    void givesBackFilesThreadsDescriptorsAndMemory() throws IOException {
        // Classes and files that the JVM loads once remain.
        try (WarmUp first = WarmUp.start(plan(LONG, ProxyConfig.defaults()))) {
            awaitLoad(first);
        }
        Set<String> threads = threads();
        int descriptors = descriptors();
        long direct = directMemory();
        try (WarmUp warmUp = WarmUp.start(plan(LONG, ProxyConfig.defaults()))) {
            awaitLoad(warmUp);
            assertFalse(
                    warmUp.finished().isDone(), () -> warmUp.finished().join().toString());
            assertTrue(descriptors() > descriptors);
            assertTrue(directMemory() > direct);
        }
        await("threads").atMost(PATIENCE).until(() -> threads.containsAll(threads()));
        await("descriptors").atMost(PATIENCE).until(() -> descriptors() <= descriptors);
        await("direct memory").atMost(PATIENCE).until(() -> directMemory() <= direct);
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Without Netty's own pool, whose few chunks remain for later allocations. */
    private static long directMemory() {
        return PlatformDependent.usedDirectMemory()
                - PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
    }

    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("warm-up") || name.startsWith("millrace"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static int descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return (int) open.count();
        }
    }

    @Test
    void nothingOfItReachesAProxyInTheSameProcess() throws Exception {
        Path log = directory.resolve("access.log");
        try (WarmUpOrigin origin = WarmUpOrigin.start();
                ProxyServer proxy = ProxyServer.builder()
                        .config(ProxyConfig.builder()
                                .listen("127.0.0.1:0")
                                .map("/", origin.url())
                                .storage(directory.resolve("cache"), 64 << 20)
                                .set("cache.ram_size", "16MiB")
                                .set("log.access.path", log.toString())
                                .build())
                        .start()) {
            get(proxy);
            await("its line")
                    .atMost(PATIENCE)
                    .until(() -> Files.readAllLines(log).size() == 1);
            List<String> before = counted(proxy);
            try (WarmUp warmUp = WarmUp.start(plan(LONG, proxy.config()))) {
                awaitLoad(warmUp);
                assertFalse(
                        warmUp.finished().isDone(),
                        () -> warmUp.finished().join().toString());
            }
            assertEquals(before, counted(proxy));
            assertEquals(1, origin.requests());
            get(proxy);
            await("the next line")
                    .atMost(PATIENCE)
                    .until(() -> Files.readAllLines(log).size() > 1);
            assertEquals(2, Files.readAllLines(log).size());
        }
    }

    private static void get(ProxyServer proxy) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + proxy.port() + "/stored/1000/1");
        HttpRequest request = HttpRequest.newBuilder(uri).build();
        assertEquals(
                200,
                HttpClient.newHttpClient()
                        .send(request, BodyHandlers.discarding())
                        .statusCode());
    }

    /** Returns counters of requests, stored responses and log lines. */
    private static List<String> counted(ProxyServer proxy) {
        return proxy.metricsText()
                .lines()
                .filter(line ->
                        line.matches("millrace_(requests|responses|cache|origin|log|connections_total|store).*"))
                .filter(line -> !line.matches(".*(seconds|age|sync|time).*"))
                .toList();
    }
}
