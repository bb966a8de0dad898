package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Five origins of one rule are stopped, silenced, made to reset connections or to answer 503, and recovered, at random
 * under keep-alive clients. At least one always works. {@code millrace.chaos.seconds} (30) and
 * {@code millrace.chaos.clients} (100) set time and number of clients; {@code millrace.seed} repeats a run.
 */
@Tag("nightly")
class ChaosOriginsTest {

    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int ORIGINS = 5;
    private static final int THREADS = 2;

    /** Limit of the time between two events, in milliseconds. */
    private static final int EVENT_MILLIS_MAX = 800;

    /** At the end all origins work, so that each has traffic again when the load ends. */
    private static final int CALM_SECONDS = 5;

    /** One check brings a host up, and another one may pass before the first request arrives. */
    private static final int CHECKS_MAX = 2;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private final List<ChaosOrigin> origins = new ArrayList<>();
    private final Map<ChaosOrigin.Mode, Integer> events = new LinkedHashMap<>();

    @AfterEach
    void closeOrigins() throws IOException {
        for (ChaosOrigin origin : origins) {
            origin.close();
        }
    }

    @Test
    void noRequestFailsThatAnotherOriginOrAStaleCopyCanServeAndTrafficReturnsByTheNextCheck() throws Exception {
        System.out.println("millrace.seed=" + SEED);
        Random random = new Random(SEED);
        Map<String, byte[]> bodies = bodies(random);
        AtomicLong asked = new AtomicLong();
        for (int i = 0; i < ORIGINS; i++) {
            origins.add(new ChaosOrigin(FreePorts.next(), bodies, asked));
        }
        MillraceProcess proxy = product.launch().config(configuration()).start();
        int seconds = Integer.getInteger("millrace.chaos.seconds", 30);
        int clients = Integer.getInteger("millrace.chaos.clients", 100);

        CountDownLatch over = new CountDownLatch(1);
        List<Throwable> problems = new ArrayList<>();
        long calmNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds - CALM_SECONDS);
        Thread chaos = new Thread(() -> disturb(random, calmNanos, over, problems), "chaos");
        chaos.start();
        KeepAliveClients.Outcome outcome =
                new KeepAliveClients(proxy.port(), clients, bodies).run(THREADS, Duration.ofSeconds(seconds));
        over.countDown();
        chaos.join();

        String list = proxy.millctl("origin", "list").succeeds().out();
        System.out.println(outcome.answers() + " answers in " + seconds + " s to " + clients + " clients, "
                + outcome.errors().size() + " errors, events " + events + ", checks until traffic returned "
                + histogram() + "\n" + list);
        assertEquals(List.of(), problems);
        assertEquals(0, outcome.errors().size(), () -> String.join("\n", outcome.errors()));
        for (ChaosOrigin origin : origins) {
            assertTrue(origin.answers() > 0, () -> origin.url() + " had no traffic at all\n" + list);
            for (ChaosOrigin.Return each : origin.returns()) {
                assertTrue(each.checks().size() <= CHECKS_MAX, () -> origin.url() + " waited for traffic: " + each);
            }
        }
        allAreKilledAndAStaleCopyAnswers(proxy, bodies);
    }

    /** Disturbs the origins, and then lets all of them work for the rest of the load. */
    private void disturb(Random random, long calmNanos, CountDownLatch over, List<Throwable> problems) {
        try {
            while (!over.await(random.nextInt(EVENT_MILLIS_MAX), TimeUnit.MILLISECONDS)
                    && System.nanoTime() - calmNanos < 0) {
                ChaosOrigin origin = origins.get(random.nextInt(ORIGINS));
                long well = origins.stream()
                        .filter(each -> each.mode() == ChaosOrigin.Mode.OK)
                        .count();
                ChaosOrigin.Mode[] modes = ChaosOrigin.Mode.values();
                ChaosOrigin.Mode next = origin.mode() != ChaosOrigin.Mode.OK
                        ? ChaosOrigin.Mode.OK
                        : well > 1 ? modes[1 + random.nextInt(modes.length - 1)] : ChaosOrigin.Mode.OK;
                if (next != origin.mode()) {
                    events.merge(next, 1, Integer::sum);
                    origin.become(next);
                }
            }
            for (ChaosOrigin origin : origins) {
                if (origin.mode() != ChaosOrigin.Mode.OK) {
                    origin.become(ChaosOrigin.Mode.OK);
                }
            }
        } catch (IOException | InterruptedException e) {
            problems.add(e);
        }
    }

    private void allAreKilledAndAStaleCopyAnswers(MillraceProcess proxy, Map<String, byte[]> bodies) throws Exception {
        String target = "/stored/0";
        await("an answer that an origin gave")
                .until(() -> RawClient.fetch(proxy.port(), target).status() == 200);
        for (ChaosOrigin origin : origins) {
            origin.become(ChaosOrigin.Mode.KILLED);
        }
        await("a stale answer").until(() -> RawClient.fetch(proxy.port(), target)
                .head()
                .joined("Cache-Status")
                .contains("detail"));
        RawResponse stale = RawClient.fetch(proxy.port(), target);
        assertEquals(200, stale.status(), stale::toString);
        assertEquals(bodies.get(target).length, stale.body().length);
    }

    /** Returns how often traffic returned after each number of checks. */
    private Map<Integer, Long> histogram() {
        return origins.stream()
                .flatMap(origin -> origin.returns().stream())
                .collect(Collectors.groupingBy(each -> each.checks().size(), TreeMap::new, Collectors.counting()));
    }

    private static Map<String, byte[]> bodies(Random random) {
        Map<String, byte[]> bodies = new LinkedHashMap<>();
        for (int i = 0; i < 40; i++) {
            byte[] body = new byte[500 + random.nextInt(4000)];
            random.nextBytes(body);
            bodies.put((i % 4 == 0 ? "/stored/" : "/live/") + i, body);
        }
        return bodies;
    }

    private Path configuration() throws IOException {
        String hosts =
                origins.stream().map(origin -> "\"" + origin.url() + "\"").collect(Collectors.joining(", "));
        return Files.writeString(
                product.newDirectory().resolve("millrace.yaml"), """
                origins:
                  - name: five
                    policy: least_loaded
                    hosts: [%s]
                    retry: {tries: 12}
                    markdown: {retry_time: 1s}
                    health_check: {path: %s, interval: 500ms, timeout: 2s, healthy: 1, unhealthy: 2}
                remap:
                  - {map: /, to: "http://five.internal/", origins: five}
                timeouts: {origin_first_byte: 2s}
                log: {access: {enabled: false}}
                """.formatted(hosts, ChaosOrigin.CHECKED_PATH));
    }
}
