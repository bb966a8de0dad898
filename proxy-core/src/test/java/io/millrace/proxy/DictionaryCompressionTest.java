package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.github.luben.zstd.ZstdInputStream;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.encode.EncoderThreads;
import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests compression with dictionaries (RFC 9842) over real sockets. */
class DictionaryCompressionTest {
    private static final String LOOPBACK = "localhost";
    private static final String SCRIPT = "Content-Type: text/javascript\r\n";
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String MATCH = "Use-As-Dictionary: match=\"/app*.js\", id=\"one\"\r\n";
    private static final String BROWSER = "Accept-Encoding: gzip, deflate, br, zstd, dcb, dcz\r\n";

    /** The length of the header of each coding. */
    private static final int DCB_HEADER = 36;

    private static final int DCZ_HEADER = 40;

    /** All permits of encoders. */
    private static final int PERMITS = 128;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private volatile String version = "v1";

    /** Returns hexadecimal text with random content, of which most is that of another number. */
    private static byte[] script(int number, int length) {
        StringBuilder text = new StringBuilder("// " + number + "\n");
        Random same = new Random(1);
        Random own = new Random(number);
        while (text.length() < length) {
            Random from = text.length() / 1000 % 10 == number % 10 ? own : same;
            text.append(Long.toHexString(from.nextLong())).append('\n');
        }
        return text.substring(0, length).getBytes(StandardCharsets.US_ASCII);
    }

    private static String hash(byte[] dictionary) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(dictionary);
            return ":" + Base64.getEncoder().encodeToString(digest) + ":";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String available(byte[] dictionary) {
        return "Available-Dictionary: " + hash(dictionary) + "\r\nDictionary-ID: \"one\"\r\n";
    }

    private static byte[] decoded(String coding, byte[] dictionary, byte[] content) throws Exception {
        boolean isBrotli = coding.equals("dcb");
        int header = isBrotli ? DCB_HEADER : DCZ_HEADER;
        byte[] magic = isBrotli
                ? new byte[] {(byte) 0xff, 0x44, 0x43, 0x42}
                : new byte[] {0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0};
        ByteBuffer expected = ByteBuffer.allocate(header)
                .put(magic)
                .put(MessageDigest.getInstance("SHA-256").digest(dictionary));
        assertArrayEquals(expected.array(), Arrays.copyOf(content, header));
        InputStream from = new ByteArrayInputStream(content, header, content.length - header);
        if (isBrotli) {
            try (BrotliInputStream decoder = new BrotliInputStream(from)) {
                decoder.attachDictionary(ByteBuffer.allocateDirect(dictionary.length)
                        .put(dictionary)
                        .flip());
                return decoder.readAllBytes();
            }
        }
        try (ZstdInputStream decoder = new ZstdInputStream(from)) {
            return decoder.setDict(dictionary).readAllBytes();
        }
    }

    private void start(RawOrigin.Script script, String... settings) throws IOException {
        start(script, with -> with, settings);
    }

    private void start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more, String... settings)
            throws IOException {
        proxy.start(script, config -> {
            config.set("compression.enabled", "true").set("compression.dictionaries.enabled", "true");
            for (int i = 0; i < settings.length; i += 2) {
                config.set(settings[i], settings[i + 1]);
            }
            return more.apply(config);
        });
    }

    private RawClient.Response getFrom(String host, String path, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields) + "\r\n");
            RawClient.Response response = client.response();
            proxy.settle();
            proxy.proxy().store().sync();
            return response;
        }
    }

    private RawClient.Response get(String path, String... fields) throws IOException {
        return getFrom(LOOPBACK, path, fields);
    }

    private void awaitDictionaries(int count) {
        ProxyExtension.await(
                count + " dictionaries",
                () -> proxy.proxy().shared().dictionaries().count() == count);
    }

    /** Serves {@code /app1.js} with Use-As-Dictionary, and other numbers without. */
    private RawOrigin.Script scripts(int length) {
        return request -> {
            String path = request.head().split(" ", 3)[1];
            int number = Integer.parseInt(path.replaceAll("\\D", ""));
            request.ok(
                    FRESH + SCRIPT + "ETag: \"" + path + "\"\r\n" + (number == 1 ? MATCH : ""), script(number, length));
        };
    }

    private byte[] learnt(int length) throws IOException {
        byte[] content = script(1, length);
        assertEquals(200, get("/app1.js", BROWSER).status());
        awaitDictionaries(1);
        return content;
    }

    private String codingOf(String path, String... fields) throws IOException {
        return get(path, fields).field("content-encoding");
    }

    @ParameterizedTest
    @CsvSource({"dcb, 9000", "dcz, 9000", "dcb, 700000", "dcz, 700000"})
    void theVariantWithADictionaryIsStored(String coding, int length) throws Exception {
        start(scripts(length));
        byte[] dictionary = learnt(length);
        byte[] content = script(2, length);
        int plain = get("/app2.js", "Accept-Encoding: br\r\n").content().length;
        String accept = "Accept-Encoding: gzip, br, zstd, " + coding + "\r\n";
        for (int i = 0; i < 3; i++) {
            RawClient.Response response = get("/app2.js", accept, available(dictionary));
            assertEquals(coding, response.field("content-encoding"), response.head());
            assertEquals("Accept-Encoding, Available-Dictionary", response.field("vary"));
            assertEquals("W/\"/app2.js\"", response.field("etag"));
            assertArrayEquals(content, decoded(coding, dictionary, response.content()));
            assertTrue(response.content().length < plain / 2, response.content().length + " of " + plain);
        }
        assertEquals(length > 100_000 ? 3 : 2, proxy.origin().requests());
        Counter counter = coding.equals("dcb") ? Counter.COMPRESSED_DCB : Counter.COMPRESSED_DCZ;
        assertEquals(1, proxy.counted(counter));
        assertEquals(3, proxy.counted(Counter.DICTIONARY_USED));
    }

    @Test
    void theFirstCodingWithADictionaryIsPreferred() throws Exception {
        start(scripts(9000), "compression.dictionaries.encodings", "dcz, dcb");
        byte[] dictionary = learnt(9000);
        assertEquals("dcz", codingOf("/app2.js", BROWSER, available(dictionary)));
        assertEquals("dcb", codingOf("/app2.js", "Accept-Encoding: dcb, dcz;q=0.5\r\n", available(dictionary)));
        assertEquals("br", codingOf("/app2.js", "Accept-Encoding: dcz;q=0, br\r\n", available(dictionary)));
        assertEquals("br", codingOf("/app2.js", "Accept-Encoding: *\r\n", available(dictionary)));
        assertNull(codingOf("/app2.js", BROWSER, available(dictionary), "Cache-Control: no-transform\r\n"));
    }

    /** Clients whose dictionary is unknown share the variant of clients without one. */
    @Test
    void withAnUnknownDictionaryTheCodingIsOrdinary() throws Exception {
        start(scripts(9000));
        learnt(9000);
        assertEquals("br", codingOf("/app2.js", BROWSER));
        int before = proxy.origin().requests();
        assertEquals("br", codingOf("/app2.js", BROWSER, available(script(7, 9000))));
        assertEquals("br", codingOf("/app2.js", BROWSER, "Available-Dictionary: x\r\n"));
        assertEquals("br", codingOf("/app2.js", BROWSER, "Available-Dictionary: :AAAA:\r\n"));
        assertEquals(before, proxy.origin().requests());
        assertEquals(3, proxy.counted(Counter.DICTIONARY_UNKNOWN));
    }

    @ParameterizedTest
    @CsvSource({
        "/app2.js, '', dcb",
        "/lib2.js, '', br",
        "/app2.js, 'Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors', dcb",
        "/app2.js, 'Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors', br",
        "/app2.js, 'Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: cors', br",
        "/app2.js, 'Sec-Fetch-Site: same-site|Sec-Fetch-Mode: cors', br",
        "/app2.js, 'Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate', dcb",
        "/app2.js, 'Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate', dcb"
    })
    void theDictionaryIsUsedForItsUrlsAndItsReaders(String path, String fields, String coding) throws Exception {
        start(scripts(9000));
        byte[] dictionary = learnt(9000);
        String lines = fields.isEmpty() ? "" : fields.replace("|", "\r\n") + "\r\n";
        assertEquals(coding, codingOf(path, BROWSER, available(dictionary), lines));
    }

    /** The dictionary of a host is not used for another one, and without TLS only on this machine. */
    @ParameterizedTest
    @CsvSource({
        "localhost, '', localhost, '', dcb",
        "localhost, '', a.localhost, '', br",
        "127.0.0.1, '', 127.0.0.1, '', dcb",
        "test.example, '', test.example, '', br",
        "test.example, https, test.example, https, dcb",
        "test.example, https, test.example, '', br",
        "test.example, https, other.example, https, br"
    })
    void theDictionaryIsUsedInItsOrigin(String host, String scheme, String otherHost, String otherScheme, String coding)
            throws Exception {
        start(scripts(9000), "access.trusted_proxies", "127.0.0.0/8");
        byte[] dictionary = script(1, 9000);
        String proto = scheme.isEmpty() ? "" : "X-Forwarded-Proto: https\r\n";
        String otherProto = otherScheme.isEmpty() ? "" : "X-Forwarded-Proto: https\r\n";
        getFrom(host, "/app1.js", BROWSER, proto);
        if (!proto.isEmpty() || !host.equals("test.example")) {
            awaitDictionaries(1);
        }
        RawClient.Response response = getFrom(otherHost, "/app2.js", BROWSER, available(dictionary), otherProto);
        assertEquals(coding, response.field("content-encoding"));
    }

    @Test
    void aPurgedDictionaryIsForgotten() throws Exception {
        start(scripts(9000), config -> config.set("purge.allow", "127.0.0.0/8"));
        byte[] dictionary = learnt(9000);
        assertEquals("dcb", codingOf("/app2.js", BROWSER, available(dictionary)));
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("PURGE /app1.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertEquals(200, client.response().status());
        }
        assertEquals("br", codingOf("/app2.js", BROWSER, available(dictionary)));
        awaitDictionaries(0);
    }

    @Test
    void aStaleDictionaryIsNotUsedUntilItIsValidated() throws Exception {
        start(request -> {
            if (request.has("If-None-Match: ")) {
                request.send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=600\r\n\r\n");
            } else {
                scripts(9000).answer(request);
            }
        });
        byte[] dictionary = learnt(9000);
        proxy.advanceSeconds(601);
        assertEquals("br", codingOf("/app2.js", BROWSER, available(dictionary)));
        awaitDictionaries(0);
        assertEquals(200, get("/app1.js", BROWSER).status());
        awaitDictionaries(1);
        assertEquals("dcb", codingOf("/app3.js", BROWSER, available(dictionary)));
    }

    /** A response without the field replaces a dictionary. */
    @Test
    void aReplacedDictionaryIsForgotten() throws Exception {
        start(request ->
                request.ok(FRESH + SCRIPT + (version.equals("v1") ? MATCH : ""), script(version.charAt(1), 9000)));
        assertEquals(200, get("/app1.js", BROWSER).status());
        awaitDictionaries(1);
        version = "v2";
        assertEquals(
                200, get("/app1.js", BROWSER, "Cache-Control: no-cache\r\n").status());
        awaitDictionaries(0);
        assertEquals("br", codingOf("/app2.js", BROWSER, available(script('1', 9000))));
    }

    /** The client has the old dictionary, whose variants are removed with the old content. */
    @Test
    void newContentOutdatesVariantsWithADictionary() throws Exception {
        start(request -> {
            if (request.has("/app1.js")) {
                scripts(9000).answer(request);
            } else {
                request.ok(FRESH + SCRIPT + "ETag: \"" + version + "\"\r\n", script(version.charAt(1), 9000));
            }
        });
        byte[] dictionary = learnt(9000);
        assertEquals("br", codingOf("/app2.js", BROWSER));
        assertEquals("dcb", codingOf("/app2.js", BROWSER, available(dictionary)));
        version = "v2";
        assertEquals("br", codingOf("/app2.js", BROWSER, "Cache-Control: no-cache\r\n"));
        RawClient.Response response = get("/app2.js", BROWSER, available(dictionary));
        assertArrayEquals(script('2', 9000), decoded("dcb", dictionary, response.content()));
    }

    /** A response that is itself a dictionary, and stored only in a coding with an older one. */
    @Test
    void aDictionaryIsReadFromAVariantWithAnotherDictionary() throws Exception {
        start(request -> {
            int number = Integer.parseInt(request.head().split(" ", 3)[1].replaceAll("\\D", ""));
            request.ok(FRESH + SCRIPT + MATCH, script(number, 9000));
        });
        byte[] first = learnt(9000);
        for (String coding : new String[] {"dcb", "dcz"}) {
            String path = coding.equals("dcb") ? "/app2.js" : "/app3.js";
            assertEquals(coding, codingOf(path, "Accept-Encoding: " + coding + "\r\n", available(first)));
        }
        awaitDictionaries(3);
        assertEquals("dcb", codingOf("/app4.js", BROWSER, available(script(2, 9000))));
        assertEquals("dcb", codingOf("/app4.js", BROWSER, available(script(3, 9000))));
    }

    @Test
    void afterARestartADictionaryIsReadWhenItIsServed(@TempDir Path directory) throws Exception {
        start(scripts(9000), config -> config.storage(directory.resolve("volume"), 256L << 20));
        byte[] dictionary = learnt(9000);
        proxy.restart();
        assertEquals("br", codingOf("/app2.js", BROWSER, available(dictionary)));
        assertEquals(200, get("/app1.js", BROWSER).status());
        awaitDictionaries(1);
        assertEquals("dcb", codingOf("/app2.js", BROWSER, available(dictionary)));
        assertEquals(2, proxy.origin().requests());
    }

    /** Too long responses, and those that are not stored, are no dictionaries. */
    @ParameterizedTest
    @CsvSource({"max-age=600, 9000, 2", "max-age=600, 30000, 0", "no-store, 9000, 0", "max-age=0, 9000, 0"})
    void onlyStoredResponsesUpToTheLimitAreDictionaries(String control, int length, int count) throws Exception {
        start(
                request -> request.ok("Cache-Control: " + control + "\r\n" + SCRIPT + MATCH, script(1, length)),
                "compression.dictionaries.max_size",
                "10KiB");
        get("/app1.js", BROWSER);
        get("/app2.js", BROWSER);
        awaitDictionaries(count);
        assertEquals(count > 0 ? "dcb" : "br", codingOf("/app3.js", BROWSER, available(script(1, length))));
    }

    /** An origin that has dictionaries itself gets the fields of the client, and its response passes as it is. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, true"})
    void originsMayEncodeThemselves(String enabled, boolean isKnown) throws Exception {
        byte[] encoded = ProxyExtension.content(500);
        start(
                request -> {
                    if (request.has("/app1.js")) {
                        scripts(9000).answer(request);
                        return;
                    }
                    boolean accepts = request.head().contains("Available-Dictionary: :")
                            && request.head().contains("dcz")
                            && request.head().contains("Dictionary-ID: \"one\"");
                    request.ok(
                            FRESH + SCRIPT + (accepts ? "Content-Encoding: dcz\r\n" : "")
                                    + "Vary: accept-encoding, available-dictionary\r\n",
                            accepts ? encoded : script(2, 9000));
                },
                "compression.enabled",
                enabled,
                "compression.dictionaries.encodings",
                "dcz");
        get("/app1.js", BROWSER);
        awaitDictionaries(isKnown ? 1 : 0);
        byte[] dictionary = script(1, 9000);
        for (int i = 0; i < 2; i++) {
            RawClient.Response response = get("/app2.js", BROWSER, available(dictionary));
            assertEquals("dcz", response.field("content-encoding"));
            assertEquals("accept-encoding, available-dictionary", response.field("vary"));
            assertArrayEquals(encoded, response.content());
        }
        assertEquals(2, proxy.origin().requests());
        RawClient.Response other = get("/app2.js", "Accept-Encoding: gzip\r\n");
        assertFalse("dcz".equals(other.field("content-encoding")), other.head());
    }

    /** Only these clients may get the response: another one that guesses the hash must not learn that it exists. */
    @ParameterizedTest
    @CsvSource({
        "'', '', 1",
        "'Cookie: a=b', '', 1",
        "'', 'Vary: Cookie', 0",
        "'', 'Vary: accept-encoding, authorization', 0",
        "'', 'Set-Cookie: a=b', 0",
        "'Authorization: Basic YTpi', 'Cache-Control: public', 0"
    })
    void protectedResponsesAreNoDictionaries(String requestField, String responseField, int count) throws Exception {
        start(
                request -> request.ok(
                        FRESH + SCRIPT + MATCH + (responseField.isEmpty() ? "" : responseField + "\r\n"),
                        script(1, 9000)),
                "cache.cache_responses_to_cookies",
                "all");
        String line = requestField.isEmpty() ? "" : requestField + "\r\n";
        get("/app1.js", BROWSER, line);
        get("/app1.js", BROWSER, line);
        awaitDictionaries(count);
        assertEquals(count == 1 ? "dcb" : "br", codingOf("/app3.js", BROWSER, line, available(script(1, 9000))));
    }

    /** In rules with signed URLs or other proofs, responses are no dictionaries, also if a reload adds the proof. */
    @Test
    void responsesOfGuardedRulesAreNoDictionaries(@TempDir Path directory) throws Exception {
        LoadedFile keys =
                LoadedFile.read(Files.writeString(directory.resolve("keys"), "key3 = secret\nexcl_regex = /app\n"));
        start(scripts(9000));
        byte[] dictionary = learnt(9000);
        proxy.reload(config -> config.set("compression.enabled", "true")
                .set("compression.dictionaries.enabled", "true")
                .set(SignedUrlKeys.KEYS, keys));
        awaitDictionaries(0);
        assertEquals(200, get("/app1.js", BROWSER).status());
        assertEquals("br", codingOf("/app2.js", BROWSER, available(dictionary)));
        assertEquals(0, proxy.proxy().shared().dictionaries().count());
    }

    /** A reload that turns dictionaries off frees their memory. */
    @Test
    void aReloadDropsDictionariesBeyondTheLimit() throws Exception {
        start(scripts(9000));
        learnt(9000);
        proxy.reload(config -> config.set("compression.enabled", "true"));
        assertEquals(0, proxy.proxy().shared().dictionaries().bytes());
    }

    /** A validation takes over new terms at once, without reading the content, for which there is no permit here. */
    @Test
    void aValidatedDictionaryHasTheNewTerms() throws Exception {
        start(request -> {
            if (request.has("If-None-Match: ")) {
                request.send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=600\r\n"
                        + "Use-As-Dictionary: match=\"/lib*.js\"\r\n\r\n");
            } else {
                scripts(9000).answer(request);
            }
        });
        byte[] dictionary = learnt(9000);
        proxy.advanceSeconds(601);
        EncoderThreads threads = proxy.proxy().shared().encoderThreads();
        // The reading of the dictionary ends after it was added.
        ProxyExtension.await("all permits", () -> threads.takePermits(PERMITS));
        assertEquals(200, get("/app1.js", BROWSER).status());
        threads.returnPermits(PERMITS);
        assertEquals("dcb", codingOf("/lib2.js", BROWSER, available(dictionary)));
        assertEquals("br", codingOf("/app2.js", BROWSER, available(dictionary)));
    }

    /** A client whose dictionary cannot be used gets the coding of clients without one, but later ones do not. */
    @Test
    void withoutTheDictionaryTheCodingIsTheOrdinaryOne() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(request -> {
            if (!request.has("/app1.js")) {
                go.await();
            }
            scripts(9000).answer(request);
        });
        byte[] dictionary = learnt(9000);
        EncoderThreads threads = proxy.proxy().shared().encoderThreads();
        ProxyExtension.await("all permits but two", () -> threads.takePermits(PERMITS));
        threads.returnPermits(2);
        String end = "\r\nHost: localhost\r\n" + available(dictionary) + "Accept-Encoding: dcb, ";
        RawClient first = proxy.client();
        first.send("GET /app2.js HTTP/1.1" + end + "br\r\n\r\n");
        ProxyExtension.await("the request", () -> proxy.origin().requests() == 2);
        RawClient second = proxy.client();
        second.send("GET /app2.js HTTP/1.1" + end + "gzip\r\n\r\n");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals("br", first.response().field("content-encoding"));
        assertEquals("gzip", second.response().field("content-encoding"));
        proxy.settle();
        threads.returnPermits(PERMITS - 2);
        assertEquals("dcb", codingOf("/app2.js", BROWSER, available(dictionary)));
    }

    /** Without dictionaries nothing changes: neither Vary nor the request to the origin. */
    @Test
    void withoutDictionariesResponsesAreAsBefore() throws Exception {
        start(scripts(9000), "compression.dictionaries.enabled", "false");
        assertEquals("Accept-Encoding", get("/app1.js", BROWSER).field("vary"));
        assertEquals("br", codingOf("/app2.js", BROWSER, available(script(1, 9000))));
        assertEquals(0, proxy.proxy().shared().dictionaries().count());
        assertEquals(0, proxy.counted(Counter.DICTIONARY_UNKNOWN));
    }
}
