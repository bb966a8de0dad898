package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TlsOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests copies of requests with real clients and origins. */
class MirrorOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    private Path directory;

    private final ConcurrentLinkedQueue<String> copies = new ConcurrentLinkedQueue<>();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile int answerBytes = 10;
    private RawOrigin other;

    @BeforeEach
    void startOther() throws IOException {
        other = new RawOrigin(request -> {
            String length = RawClient.field(request.head(), "content-length");
            String content = length == null
                    ? ""
                    : new String(
                            request.in().read(Integer.parseInt(length)), java.nio.charset.StandardCharsets.ISO_8859_1);
            copies.add(request.head() + content);
            gate.await();
            request.ok("Cache-Control: max-age=60\r\n", ProxyExtension.content(answerBytes));
        });
    }

    @AfterEach
    void closeOther() throws Exception {
        gate.countDown();
        other.close();
    }

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> {
                    String length = RawClient.field(request.head(), "content-length");
                    if (length != null) {
                        request.in().read(Integer.parseInt(length));
                    } else if (request.has("chunked")) {
                        request.in().readChunked();
                    }
                    request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("own"));
                },
                config -> more.apply(config.set("mirror.to", other.url())));
    }

    private void await(Counter counter, long count) {
        ProxyExtension.await(counter + " " + count, () -> proxy.counted(counter) == count);
    }

    private RawClient.Response post(String fields, String content) throws IOException {
        try (RawClient client = proxy.client()) {
            return client.send("POST /a HTTP/1.1\r\nHost: test.example\r\n" + fields + "\r\n" + content)
                    .response();
        }
    }

    @Test
    void theOtherOriginGetsACopyOfEachMiss() throws Exception {
        start(config -> config);
        assertEquals("own", proxy.getAndSettle("/a?b", "X-Own: c\r\n").text());
        await(Counter.MIRRORED_SENT, 1);
        assertEquals("own", proxy.get("/a?b").text());
        String copy = copies.remove();
        assertTrue(copy.startsWith("GET /a?b HTTP/1.1\r\n"), copy);
        assertEquals("c", RawClient.field(copy, "x-own"));
        assertEquals("127.0.0.1:" + other.port(), RawClient.field(copy, "host"));
        assertTrue(copies.isEmpty(), "a hit is not copied");
        assertEquals(1, other.requests());
    }

    @Test
    void copiesHaveTheSourceAddressOfTheRule() throws Exception {
        ConcurrentLinkedQueue<String> addresses = new ConcurrentLinkedQueue<>();
        try (RawOrigin addressed = new RawOrigin(request -> {
            addresses.add(request.socket().getInetAddress().getHostAddress());
            request.ok("", RawInput.latin1("x"));
        })) {
            start(config -> config.set("origin.source_address", "127.0.0.2").set("mirror.to", addressed.url()));
            proxy.getAndSettle("/a");
            await(Counter.MIRRORED_SENT, 1);
            assertEquals(List.of("127.0.0.2"), List.copyOf(addresses));
        }
    }

    /** Name and client certificate of {@code origin.tls} are for the origins of clients only. */
    @Test
    void copiesUseNeitherTheNameNorTheClientCertificateOfOtherOrigins() throws Exception {
        TestAuthority authority = new TestAuthority("copies");
        Files.writeString(
                directory.resolve("ca.pem"),
                TestAuthority.pem("CERTIFICATE", authority.root().getEncoded()));
        authority.issue("one").write(directory, "one");
        try (TlsOrigin secure = new TlsOrigin(authority, authority.issue("mirror.localhost"))) {
            start(config -> config.set("mirror.to", "https://mirror.localhost:" + secure.port())
                    .set("origin.tls.ca_file", directory.resolve("ca.pem").toString())
                    .set("origin.tls.certificate", directory.resolve("one.crt").toString())
                    .set("origin.tls.key", directory.resolve("one.key").toString())
                    .set("origin.tls.name", "fixed.example"));
            assertEquals("own", proxy.getAndSettle("/a").text());
            await(Counter.MIRRORED_SENT, 1);
            assertEquals(1, secure.requests());
            assertTrue(secure.report().startsWith("sni=mirror.localhost client=none "), secure.report());
        }
    }

    @Test
    void hostIsThatOfTheClientIfTheRuleSaysSo() throws Exception {
        start(config -> config.set("pristine_host_hdr", "true"));
        proxy.getAndSettle("/a");
        await(Counter.MIRRORED_SENT, 1);
        assertEquals("test.example", RawClient.field(copies.remove(), "host"));
    }

    /** The client's exchange ends while the other origin answers nothing. */
    @Test
    void noClientWaits() throws Exception {
        start(config -> config.set("mirror.connections", "1").set("mirror.queue", "1"));
        gate = new CountDownLatch(1);
        for (int i = 0; i < 5; i++) {
            assertEquals("own", proxy.get("/" + i).text());
        }
        await(Counter.MIRRORED_DROPPED, 3);
        assertEquals(0, proxy.counted(Counter.MIRRORED_SENT));
        gate.countDown();
        await(Counter.MIRRORED_SENT, 2);
    }

    @Test
    void noClientNoticesAFailure() throws Exception {
        start(config -> config);
        other.close();
        assertEquals("own", proxy.getAndSettle("/a").text());
        await(Counter.MIRRORED_FAILED, 1);
        assertEquals("own", proxy.get("/a").text());
    }

    @Test
    void contentIsCopiedIfConfigured() throws Exception {
        start(config -> config.set("mirror.bodies", "true"));
        assertEquals("own", post("Content-Length: 5\r\n", "hello").text());
        await(Counter.MIRRORED_SENT, 1);
        String copy = copies.remove();
        assertTrue(copy.startsWith("POST /a HTTP/1.1\r\n") && copy.endsWith("\r\n\r\nhello"), copy);
        assertEquals(
                "own",
                post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                        .text());
        await(Counter.MIRRORED_SENT, 2);
        copy = copies.remove();
        assertEquals("5", RawClient.field(copy, "content-length"));
        assertTrue(copy.endsWith("\r\n\r\nabcde"), copy);
    }

    @Test
    void contentAboveTheLimitIsNotCopied() throws Exception {
        start(config -> config.set("mirror.bodies", "true").set("mirror.body_max", "1KiB"));
        post("Content-Length: 1025\r\n", "a".repeat(1025));
        await(Counter.MIRRORED_DROPPED, 1);
        post("Transfer-Encoding: chunked\r\n", "401\r\n" + "a".repeat(1025) + "\r\n0\r\n\r\n");
        await(Counter.MIRRORED_DROPPED, 2);
        post("Content-Length: 1024\r\n", "a".repeat(1024));
        await(Counter.MIRRORED_SENT, 1);
        assertEquals(1, other.requests());
    }

    @Test
    void requestsWithContentAreLeftOutByDefault() throws Exception {
        start(config -> config);
        post("Content-Length: 5\r\n", "hello");
        post("Content-Length: 0\r\n", "");
        await(Counter.MIRRORED_SENT, 1);
        assertEquals("0", RawClient.field(copies.remove(), "content-length"));
    }

    /** A client that leaves within its content gets no copy, and the memory is given back. */
    @Test
    void incompleteContentIsNotCopied() throws Exception {
        proxy.start(RawOrigin.Exchange::awaitClose, config -> config.set("mirror.to", other.url())
                .set("mirror.bodies", "true")
                .set("origin.request_buffer", "0"));
        try (RawClient client = proxy.client()) {
            client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 5\r\n\r\nhel");
            ProxyExtension.await("the request", () -> proxy.origin().requests() == 1);
        }
        await(Counter.MIRRORED_DROPPED, 1);
    }

    @Test
    void longAnswersAreBrokenOff() throws Exception {
        answerBytes = 3 << 20;
        start(config -> config);
        proxy.getAndSettle("/a");
        await(Counter.MIRRORED_SENT, 1);
    }

    @Test
    void nothingIsCopiedWithSampleZero() throws Exception {
        start(config -> config.set("mirror.sample", "0%"));
        proxy.getAndSettle("/a");
        proxy.reload(config -> config.set("mirror.to", other.url()));
        proxy.getAndSettle("/b");
        await(Counter.MIRRORED_SENT, 1);
        assertTrue(copies.remove().startsWith("GET /b "));
    }

    @Test
    void explainNamesTheOtherOrigin() throws Exception {
        start(config -> config.set("mirror.sample", "10%"));
        List<Step> steps = new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new Question("http://test.example/a", "GET", List.of(), null, 0, false))
                .toCompletableFuture()
                .get()
                .steps();
        Step step = steps.stream()
                .filter(each -> each.name().equals("mirror"))
                .findFirst()
                .orElseThrow();
        assertEquals(
                "if the request goes to an origin and has no content, " + other.url() + " gets a copy of 10% of such"
                        + " requests",
                step.text());
        assertFalse(copies.iterator().hasNext(), "a dry run sends nothing");
    }
}
