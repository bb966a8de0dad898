package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests fifty clients that wait for one response. It is shared only if that is permitted (RFC 9111 section 4). */
class ColdKeyWaitersTest {

    private static final int WAITERS = 50;
    private static final int FENCES = 16;

    /** A response that only its first client may receive. */
    record Unshareable(String name, List<String> fieldLines) {
        @Override
        public String toString() {
            return name;
        }
    }

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() {
        origin.serves("/fence", "", "Cache-Control: no-store");
        proxy = product.launch().origin(origin.url()).start();
    }

    static Stream<Unshareable> unshareableAnswers() {
        return Stream.of(
                new Unshareable("private", List.of("Cache-Control: private, max-age=60")),
                new Unshareable("no-store", List.of("Cache-Control: no-store, max-age=60")),
                new Unshareable("set-cookie", List.of("Cache-Control: max-age=60", "Set-Cookie: session=one")),
                new Unshareable("vary-star", List.of("Cache-Control: max-age=60", "Vary: *")),
                new Unshareable("vary", List.of("Cache-Control: max-age=60", "Vary: X-Waiter")));
    }

    @ParameterizedTest
    @MethodSource("unshareableAnswers")
    void eachWaiterGetsAnAnswerOfItsOwn(Unshareable answer) throws Exception {
        String path = "/cold/" + answer;
        CountDownLatch firstMayAnswer = new CountDownLatch(1);
        origin.on(path, exchange -> {
            if (exchange.number() == 1) {
                firstMayAnswer.await();
            }
            String body =
                    "answer " + exchange.number() + " for " + exchange.request().field("X-Waiter");
            exchange.answer(200, body, answer.fieldLines().toArray(String[]::new));
        });

        List<RawClient> waiters = askTogether(path);
        try {
            firstMayAnswer.countDown();
            Set<String> numbers = new TreeSet<>();
            for (int i = 0; i < WAITERS; i++) {
                RawResponse response = waiters.get(i).response();
                assertEquals(200, response.status(), response::toString);
                assertTrue(response.text().endsWith(" for " + i), () -> "another waiter's answer: " + response);
                numbers.add(response.text().split(" ", -1)[1]);
            }
            assertEquals(WAITERS, numbers.size(), "answers were shared: " + numbers);
            assertEquals(WAITERS, origin.count(path));
        } finally {
            close(waiters);
        }
    }

    @Test
    void waitersOnACacheableKeyShareOneOriginRequestAndReadAlong() throws Exception {
        String path = "/cold/cacheable";
        String firstHalf = "first half;".repeat(1_000);
        String secondHalf = "second half;".repeat(1_000);
        CountDownLatch firstMayAnswer = new CountDownLatch(1);
        CountDownLatch allReadTheFirstHalf = new CountDownLatch(1);
        origin.on(path, exchange -> {
            firstMayAnswer.await();
            exchange.head(200, "Cache-Control: max-age=60", "Content-Length: " + (firstHalf + secondHalf).length());
            exchange.write(firstHalf);
            allReadTheFirstHalf.await();
            exchange.write(secondHalf);
        });

        assertSharedWhileItArrives(path, firstHalf, secondHalf, firstMayAnswer, allReadTheFirstHalf);
    }

    @Test
    void waitersReadAlongWhenTheLengthIsUnknown() throws Exception {
        String path = "/cold/chunked";
        CountDownLatch firstMayAnswer = new CountDownLatch(1);
        CountDownLatch allReadTheFirstHalf = new CountDownLatch(1);
        origin.on(path, exchange -> {
            firstMayAnswer.await();
            exchange.head(200, "Cache-Control: max-age=60", "Transfer-Encoding: chunked");
            exchange.chunk("one, ");
            allReadTheFirstHalf.await();
            exchange.chunk("two");
            exchange.lastChunk();
        });

        assertSharedWhileItArrives(path, "one, ", "two", firstMayAnswer, allReadTheFirstHalf);
    }

    private static void assertSharedWhileItArrives(
            String path,
            String firstHalf,
            String secondHalf,
            CountDownLatch firstMayAnswer,
            CountDownLatch allReadTheFirstHalf)
            throws Exception {
        List<RawClient> waiters = askTogether(path);
        try {
            firstMayAnswer.countDown();
            List<InputStream> bodies = new ArrayList<>();
            for (RawClient waiter : waiters) {
                Wire.Head head = waiter.head();
                assertEquals(200, RawResponse.statusOf(head), head::toString);
                InputStream body = waiter.body(head);
                assertEquals(firstHalf, text(body.readNBytes(firstHalf.length())));
                bodies.add(body);
            }
            allReadTheFirstHalf.countDown();
            for (InputStream body : bodies) {
                assertEquals(secondHalf, text(body.readAllBytes()));
            }
            assertEquals(1, origin.count(path));
            RawResponse later = RawClient.fetch(proxy.port(), path);
            assertEquals(firstHalf + secondHalf, later.text());
            assertTrue(later.isHit(), later::toString);
        } finally {
            firstMayAnswer.countDown();
            allReadTheFirstHalf.countDown();
            close(waiters);
        }
    }

    /**
     * Sends one request from each client and returns when the proxy has read them all. The origin has one of them, and
     * later requests on other connections have reached the origin on every event loop.
     */
    private static List<RawClient> askTogether(String path) throws IOException {
        List<RawClient> waiters = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiters.add(RawClient.connect(proxy.port()));
        }
        for (int i = 0; i < WAITERS; i++) {
            waiters.get(i).get(path, "X-Waiter: " + i);
        }
        await("the first request at the origin").atMost(Duration.ofSeconds(20)).until(() -> origin.count(path) >= 1);
        for (int i = 0; i < FENCES; i++) {
            assertEquals(200, RawClient.fetch(proxy.port(), "/fence").status());
        }
        return waiters;
    }

    private static void close(List<RawClient> clients) throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
