package io.millrace.proxy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.extension.FailureReason;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests transformations that give their results later, from other threads. */
class AsyncTransformTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\nETag: \"e\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static ByteBuffer copy(ByteBuffer in) {
        return ByteBuffer.allocate(in.remaining()).put(in).flip();
    }

    /** Writes content in upper case, from the threads of extensions, and the number of calls at the end. */
    private static final class Upper extends TestExtension implements OriginResponseHook, BodyTransformHook {
        private static final Attribute<String> NOTE = Attribute.of("note");

        final AtomicInteger open = new AtomicInteger();
        final AtomicInteger openMax = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();

        @Override
        public void originResponse(OriginResponseView response) {
            response.set(NOTE, "of " + response.status());
        }

        @Override
        public Transform bodyTransform(OriginResponseView response) {
            String note = Objects.requireNonNull(response.get(NOTE));
            return new AsyncTransform() {
                @Override
                public void chunk(ByteBuffer in, Continuation<Output> result) {
                    openMax.accumulateAndGet(open.incrementAndGet(), Math::max);
                    ByteBuffer bytes = copy(in);
                    context().executor().execute(() -> {
                        byte[] upper = US_ASCII.decode(bytes)
                                .toString()
                                .toUpperCase(Locale.ROOT)
                                .getBytes(US_ASCII);
                        open.decrementAndGet();
                        result.proceed(out -> out.write(ByteBuffer.wrap(upper)));
                    });
                }

                @Override
                public void end(Continuation<Output> result) {
                    assertEquals(0, open.get());
                    result.proceed(out -> out.write(US_ASCII.encode(note)));
                }

                @Override
                public void close() {
                    closed.incrementAndGet();
                }
            };
        }
    }

    /** Writes each byte twice, during the call. */
    private static final class Doubled extends TestExtension implements BodyTransformHook {
        @Override
        public String name() {
            return "doubled";
        }

        @Override
        public Transform bodyTransform(OriginResponseView response) {
            return new Transform() {
                @Override
                public void chunk(ByteBuffer in, Output out) {
                    while (in.hasRemaining()) {
                        byte b = in.get();
                        out.write(ByteBuffer.wrap(new byte[] {b, b}));
                    }
                }

                @Override
                public void end(Output out) {}
            };
        }
    }

    private static final String LONG = "0123456789abcdef".repeat(10_000);

    @Test
    void resultsOfOtherThreadsAreStoredInOrder() throws Exception {
        Upper extension = new Upper();
        proxy.with(new Doubled().entry()).with(extension.entry());
        proxy.start(request -> request.ok(FRESH, RawInput.latin1(request.has("GET /empty") ? "" : LONG)));
        StringBuilder expected = new StringBuilder();
        LONG.toUpperCase(Locale.ROOT).chars().forEach(c -> expected.append((char) c)
                .append((char) c));
        expected.append("of 200");
        RawClient.Response miss = proxy.getAndSettle("/a");
        assertEquals(expected.toString(), miss.text());
        assertEquals("W/\"e\"", miss.field("etag"));
        assertEquals(expected.toString(), proxy.get("/a").text());
        assertEquals("of 200", proxy.getAndSettle("/empty").text());
        assertEquals("6", proxy.get("/empty").field("content-length"));
        assertEquals(2, proxy.origin().requests());
        assertEquals(1, extension.openMax.get(), "calls at a time");
        assertEquals(2, extension.closed.get());
    }

    /** Does what the path says with the second piece of the content. */
    private static final class Failing extends TestExtension implements BodyTransformHook {
        final List<Continuation<Output>> silent = new CopyOnWriteArrayList<>();
        final AtomicInteger closed = new AtomicInteger();

        @Override
        public Transform bodyTransform(OriginResponseView response) {
            String url = response.url();
            return new AsyncTransform() {
                private final StringBuilder held = new StringBuilder();

                @Override
                public void chunk(ByteBuffer in, Continuation<Output> result) {
                    boolean isFirst = held.length() == 0;
                    held.append(US_ASCII.decode(in));
                    if (isFirst && !held.toString().endsWith("second")) {
                        result.proceed();
                    } else if (url.endsWith("/fail")) {
                        context().executor().execute(() -> result.fail(new IOException("the fault of the test")));
                    } else if (url.endsWith("/throw")) {
                        throw new IllegalStateException("the fault of the test");
                    } else if (url.endsWith("/long")) {
                        result.proceed(out -> out.write(ByteBuffer.allocate((1 << 20) + 100)));
                    } else if (url.endsWith("/limit")) {
                        String bytes = held.toString();
                        result.proceed(out -> out.giveUp(US_ASCII.encode(bytes), "content is too long"));
                    } else {
                        silent.add(result);
                    }
                }

                @Override
                public void end(Continuation<Output> result) {
                    result.proceed(out -> out.write(US_ASCII.encode("end")));
                }

                @Override
                public void close() {
                    closed.incrementAndGet();
                }
            };
        }
    }

    private static void pieces(RawOrigin.Exchange request) throws IOException {
        request.send("HTTP/1.1 200 OK\r\n" + FRESH + "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        request.send("6\r\nsecond\r\n");
        request.send("5\r\nthird\r\n0\r\n\r\n");
    }

    @ParameterizedTest
    @CsvSource({
        "fail, open, exception",
        "throw, open, exception",
        "long, open, limit",
        "silent, open, deadline",
        "limit, closed, limit",
    })
    void aFailureWithinTheContentStoresNothing(String path, String onError, String reason) throws Exception {
        Failing extension = new Failing();
        ExtensionEntry entry = onError.equals("closed")
                ? extension.entry(OnError.CLOSED)
                : path.equals("silent") ? extension.entryWithDeadline(50) : extension.entry();
        proxy.with(entry).start(AsyncTransformTest::pieces);
        for (int i = 1; i <= 2; i++) {
            assertThrows(IOException.class, () -> proxy.client().get("/" + path).response());
            proxy.settle();
            assertEquals(i, proxy.origin().requests());
            assertEquals(i, extension.closed.get());
        }
        FailureReason expected = FailureReason.valueOf(reason.toUpperCase(Locale.ROOT));
        assertEquals(
                2,
                proxy.proxy()
                        .extensions()
                        .all()
                        .get(0)
                        .figures(Hook.BODY_TRANSFORM)
                        .failures(expected));
        assertEquals(0, proxy.counted(Counter.FILLS_STORED));
    }

    @Test
    void contentThatIsPassedOnWithoutTheTransformationIsNotStored() throws Exception {
        Failing extension = new Failing();
        proxy.with(extension.entry(OnError.OPEN)).start(AsyncTransformTest::pieces);
        for (int i = 1; i <= 2; i++) {
            assertEquals("firstsecondthird", proxy.getAndSettle("/limit").text());
            assertEquals(i, proxy.origin().requests());
            assertEquals(i, extension.closed.get());
        }
        assertEquals(2, proxy.counted(Counter.FILLS_NOT_STORABLE));
        assertEquals(0, proxy.counted(Counter.FILLS_STORED));
    }

    @Test
    void anOpenCallIsAbandonedWhenTheClientLeaves() throws Exception {
        Failing extension = new Failing();
        proxy.with(extension.entry()).start(AsyncTransformTest::pieces);
        try (RawClient client = proxy.client()) {
            client.get("/silent");
            Awaitility.await().until(() -> extension.silent.size() == 1);
            assertFalse(extension.silent.get(0).isAbandoned());
            client.reset();
        }
        Awaitility.await().until(() -> extension.closed.get() == 1);
        assertTrue(extension.silent.get(0).isAbandoned());
        extension.silent.get(0).proceed(out -> out.write(US_ASCII.encode("late")));
        proxy.settle();
    }

    @Test
    void explainNamesTheHook() throws Exception {
        proxy.with(new Failing().entry()).start(AsyncTransformTest::pieces);
        ExplainSource.Explanation explained = new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new ExplainSource.Question("http://test.example/a", "GET", List.of(), "127.0.0.1", 0, false))
                .toCompletableFuture()
                .get();
        assertTrue(
                explained.steps().stream()
                        .anyMatch(step -> step.name().equals("extensions")
                                && step.text().contains("test is asked: body_transform")),
                explained::toString);
    }
}
