package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Effects of a transformation that gives up on other responses and on the fetch. */
final class GivenUpTransformTest {
    /** More than the failures in succession that open a circuit breaker. */
    private static final int LONG_RESPONSES = 20;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Repeats each piece, and gives up content at URLs with {@code /giveup}. Forbids storing at {@code /unstored}. */
    private static final class Repeats extends TestExtension implements OriginResponseHook, BodyTransformHook {
        final AtomicInteger begun = new AtomicInteger();

        @Override
        public void originResponse(OriginResponseView response) {
            if (response.url().contains("/unstored")) {
                response.doNotStore();
            }
        }

        @Override
        public Transform bodyTransform(OriginResponseView response) {
            begun.incrementAndGet();
            boolean givesUp = !response.url().contains("/small");
            return new AsyncTransform() {
                @Override
                public void chunk(ByteBuffer in, Continuation<Output> result) {
                    ByteBuffer bytes =
                            ByteBuffer.allocate(in.remaining()).put(in).flip();
                    result.proceed(out -> {
                        if (givesUp) {
                            out.giveUp(bytes, "too long");
                        } else {
                            out.write(bytes.duplicate());
                            out.write(bytes);
                        }
                    });
                }

                @Override
                public void end(Continuation<Output> result) {
                    result.proceed();
                }
            };
        }
    }

    @ParameterizedTest
    @EnumSource(OnError.class)
    void longContentsDoNotStopTheTransformationOfOthers(OnError onError) throws Exception {
        CountDownLatch all = new CountDownLatch(1);
        Repeats extension = new Repeats();
        proxy.with(extension.entry(onError)).start(request -> {
            if (request.has("/small")) {
                request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("ab"));
            } else {
                request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\n");
                all.await();
                request.send("first");
            }
        });
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < LONG_RESPONSES; i++) {
            clients.add(proxy.keep(proxy.client()).get("/giveup/" + i));
        }
        Awaitility.await().until(() -> extension.begun.get() == LONG_RESPONSES);
        all.countDown();
        for (RawClient client : clients) {
            readToTheEnd(client);
        }
        RawClient.Response small = proxy.get("/small");
        assertEquals("abab", small.text(), small.head());
    }

    private static void readToTheEnd(RawClient client) {
        try {
            client.response();
        } catch (IOException e) {
            // The response was ended early, since the extension fails closed.
        }
    }

    /** Fails at its first piece, or at the end, of every response. */
    private static final class Fails extends TestExtension implements BodyTransformHook {
        private final boolean isAtEnd;

        Fails(boolean isAtEnd) {
            this.isAtEnd = isAtEnd;
        }

        @Override
        public Transform bodyTransform(OriginResponseView response) {
            return new Transform() {
                @Override
                public void chunk(ByteBuffer in, Output out) {
                    if (!isAtEnd) {
                        throw new IllegalStateException("the fault of the test");
                    }
                    out.write(in);
                }

                @Override
                public void end(Output out) {
                    throw new IllegalStateException("the fault of the test");
                }
            };
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTransformationThatFailsInEveryResponseIsNotCalledAnyMore(boolean isAtEnd) throws Exception {
        proxy.with(new Fails(isAtEnd).entry(OnError.OPEN))
                .start(request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("ab")));
        for (int i = 0; i < LONG_RESPONSES; i++) {
            try (RawClient client = proxy.client()) {
                readToTheEnd(client.get("/" + i));
            }
        }
        assertTrue(proxy.proxy().extensions().all().get(0).isCircuitOpen());
        assertEquals("ab", proxy.get("/next").text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/unstored", "/giveup"})
    void theFetchOfContentThatIsNotStoredEndsWithItsOnlyClient(String path) throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        proxy.with(new Repeats().entry(OnError.OPEN)).start(request -> {
            request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
            request.awaitClose();
            closed.countDown();
        });
        try (RawClient client = proxy.client()) {
            client.get(path);
            String line;
            do {
                line = client.line();
            } while (!line.equals("first"));
            client.reset();
        }
        assertTrue(closed.await(30, TimeUnit.SECONDS), "the origin still sends");
    }
}
