package io.millrace.proxy.access.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the verification of tokens, with keys of every kind. */
class TokenVerifierTest {
    private static TestIssuer issuer;

    @TempDir
    Path directory;

    private final AtomicLong nowMillis = new AtomicLong(1_800_000_000_000L);
    private final AtomicLong nanoTime = new AtomicLong();
    private final TokenVerifier verifier = new TokenVerifier(nowMillis::get, nanoTime::get);

    @BeforeAll
    static void generate() throws Exception {
        issuer = new TestIssuer();
    }

    private TokenConfig needed(Consumer<ConfigValues.Builder> more) throws Exception {
        LoadedFile file = LoadedFile.read(Files.writeString(directory.resolve("keys"), issuer.keySet()));
        ConfigValues.Builder values = ConfigValues.builder().set(TokenKeys.KEYS_FILE, file);
        more.accept(values);
        return TokenConfig.from(values.build());
    }

    private CredentialDigest digest(TokenConfig needed, String token) {
        byte[] bytes = token.getBytes(StandardCharsets.ISO_8859_1);
        return verifier.digest(CredentialDigest.function(), needed, bytes, 0, bytes.length);
    }

    private TokenResult verify(TokenConfig needed, String token) throws Exception {
        BlockingQueue<CredentialCheck.Result> results = new ArrayBlockingQueue<>(1);
        verifier.verify(token, needed, digest(needed, token), ImmediateEventExecutor.INSTANCE, results::add);
        return (TokenResult) results.poll(1, TimeUnit.MINUTES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RS256", "RS512", "PS256", "ES256", "EdDSA"})
    void aTokenIsValidByTheKeyOfItsAlgorithm(String algorithm) throws Exception {
        TokenConfig needed = needed(values -> {});
        String token = issuer.token(algorithm, claims -> {});
        assertNull(verifier.remembered(digest(needed, token), nowMillis.get()));
        assertEquals(TokenResult.VALID, verify(needed, token));
        assertEquals(TokenResult.VALID, verifier.remembered(digest(needed, token), nowMillis.get()));
        int last = token.lastIndexOf('.') + 5;
        char changed = token.charAt(last) == 'A' ? 'B' : 'A';
        assertEquals(
                TokenResult.SIGNATURE, verify(needed, token.substring(0, last) + changed + token.substring(last + 1)));
    }

    @Test
    void claimsAreCompared() throws Exception {
        TokenConfig needed = needed(values -> values.set(TokenKeys.ISSUER, "https://issuer.example")
                .set(TokenKeys.AUDIENCE, List.of("shop", "blog"))
                .set(TokenKeys.REQUIRED_CLAIMS, List.of("role=reader", "scope=read")));
        Consumer<JwtClaims> right = claims -> {
            claims.setStringListClaim("role", "writer", "reader");
            claims.setStringClaim("scope", "write read");
        };
        assertEquals(TokenResult.VALID, verify(needed, issuer.token(right)));
        assertEquals(TokenResult.CLAIM, verify(needed, issuer.token(claims -> {})));
        assertEquals(
                TokenResult.CLAIM,
                verify(needed, issuer.token(right.andThen(claims -> claims.setStringClaim("scope", "reads")))));
        assertEquals(TokenResult.ISSUER, verify(needed, issuer.token(right.andThen(claims -> claims.setIssuer("x")))));
        assertEquals(
                TokenResult.AUDIENCE, verify(needed, issuer.token(right.andThen(claims -> claims.setAudience("x")))));
    }

    private String withTimes(long notBefore, long expiry) throws JoseException {
        return issuer.token(claims -> {
            claims.setNotBefore(NumericDate.fromSeconds(notBefore));
            claims.setExpirationTime(NumericDate.fromSeconds(expiry));
        });
    }

    @ParameterizedTest
    @CsvSource({
        "1799999000, 1800000001, VALID",
        "1800000059, 1800001000, VALID",
        "1799999000, 1799999950, VALID",
        "1800000061, 1800001000, NOT_YET_VALID",
        "1799999000, 1799999939, EXPIRED"
    })
    void timesHaveATolerance(long notBefore, long expiry, TokenResult expected) throws Exception {
        assertEquals(expected, verify(needed(values -> {}), withTimes(notBefore, expiry)));
    }

    /** The reason that users see must not depend on the run. */
    @Test
    void ofSeveralFaultsTheFirstOfTheDocumentedOrderIsTheReason() throws Exception {
        TokenConfig needed = needed(values ->
                values.set(TokenKeys.ISSUER, "https://issuer.example").set(TokenKeys.AUDIENCE, List.of("shop")));
        Consumer<JwtClaims> others = claims -> {
            claims.setIssuer("x");
            claims.setAudience("x");
        };
        assertEquals(TokenResult.ISSUER, verify(needed, issuer.token(others)));
        assertEquals(
                TokenResult.EXPIRED,
                verify(
                        needed,
                        issuer.token(others.andThen(
                                claims -> claims.setExpirationTime(NumericDate.fromSeconds(1_700_000_000))))));
    }

    @Test
    void aTokenWithoutAnEndIsRefused() throws Exception {
        assertEquals(
                TokenResult.EXPIRED, verify(needed(values -> {}), issuer.token(claims -> claims.unsetClaim("exp"))));
    }

    @Test
    void aResultIsForgottenWhenTheTokenExpires() throws Exception {
        TokenConfig needed = needed(values -> {});
        String token = withTimes(1_799_999_000L, 1_800_000_010L);
        assertEquals(TokenResult.VALID, verify(needed, token));
        nowMillis.addAndGet(69_999);
        assertEquals(TokenResult.VALID, verifier.remembered(digest(needed, token), nowMillis.get()));
        nowMillis.addAndGet(1);
        assertNull(verifier.remembered(digest(needed, token), nowMillis.get()));
        assertEquals(TokenResult.EXPIRED, verify(needed, token));
    }

    @Test
    void aResultBelongsToTheSettings() throws Exception {
        TokenConfig any = needed(values -> {});
        TokenConfig other = needed(values -> values.set(TokenKeys.ISSUER, "https://other.example"));
        String token = issuer.token(claims -> {});
        assertEquals(TokenResult.VALID, verify(any, token));
        assertNull(verifier.remembered(digest(other, token), nowMillis.get()));
        assertEquals(TokenResult.ISSUER, verify(other, token));
    }

    private static String part(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void forgedTokensAreRefused() throws Exception {
        TokenConfig needed = needed(values -> {});
        String claims = part("{\"exp\":9999999999}");
        assertEquals(TokenResult.UNKNOWN_KEY, verify(needed, part("{\"alg\":\"none\"}") + "." + claims + "."));
        assertEquals(
                TokenResult.UNKNOWN_KEY,
                verify(needed, part("{\"alg\":\"HS256\",\"kid\":\"rsa\"}") + "." + claims + "." + part("x")));
        assertEquals(
                TokenResult.UNKNOWN_KEY,
                verify(needed, part("{\"alg\":\"ES256\",\"kid\":\"x\"}") + "." + claims + "." + part("x")));
        for (String text : new String[] {"", "x", "a.b", "a.b.c", "a.b.c.d.e", "..", "\u00e9.\u00e9.\u00e9"}) {
            assertEquals(TokenResult.MALFORMED, verify(needed, text), text);
        }
    }

    private static TokenConfig neededByUrl(HttpServer server) throws Exception {
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/jwks";
        return TokenConfig.from(
                ConfigValues.builder().set(TokenKeys.KEYS_URL, url).build());
    }

    private static HttpServer server(HttpHandler handler) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", handler);
        server.start();
        return server;
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static void stop(HttpServer server) {
        server.stop(0);
        ((ExecutorService) server.getExecutor()).shutdown();
    }

    /** The first key of the type fits only one of the two tokens. */
    @Test
    void aTokenWithoutAKeyNameIsVerifiedByEachKeyOfItsType() throws Exception {
        TestIssuer other = new TestIssuer();
        String keySet = issuer.keySetWith(other);
        LoadedFile file = LoadedFile.read(Files.writeString(directory.resolve("both"), keySet));
        TokenConfig byFile = TokenConfig.from(
                ConfigValues.builder().set(TokenKeys.KEYS_FILE, file).build());
        HttpServer server = server(exchange -> answer(exchange, 200, keySet));
        try {
            for (TokenConfig needed : List.of(byFile, neededByUrl(server))) {
                assertEquals(TokenResult.VALID, verify(needed, issuer.tokenWithoutKeyId()));
                assertEquals(TokenResult.VALID, verify(needed, other.tokenWithoutKeyId()));
                assertEquals(TokenResult.UNKNOWN_KEY, verify(needed, new TestIssuer().tokenWithoutKeyId()));
            }
        } finally {
            stop(server);
        }
    }

    @Test
    void afterAFailedFetchTheNextOneWaits() throws Exception {
        AtomicInteger fetches = new AtomicInteger();
        HttpServer server = server(exchange -> {
            boolean first = fetches.incrementAndGet() == 1;
            answer(exchange, first ? 500 : 200, first ? "" : issuer.keySet());
        });
        try {
            TokenConfig needed = neededByUrl(server);
            for (String algorithm : new String[] {"ES256", "EdDSA", "RS256"}) {
                assertEquals(TokenResult.KEYS_UNAVAILABLE, verify(needed, issuer.token(algorithm, claims -> {})));
            }
            nanoTime.addAndGet(IssuerKeys.RETRY_NANOS - 1);
            assertEquals(TokenResult.KEYS_UNAVAILABLE, verify(needed, issuer.token(claims -> {})));
            assertEquals(1, fetches.get());
            nanoTime.incrementAndGet();
            assertEquals(TokenResult.VALID, verify(needed, issuer.token(claims -> {})));
            assertEquals(2, fetches.get());
        } finally {
            stop(server);
        }
    }

    /** The results are received on the threads of the verifier, so that these wait like those for a slow issuer. */
    @Test
    void checksThatWaitForIssuersDelayNoTokenWithKeysInAFile() throws Exception {
        CountDownLatch waiting = new CountDownLatch(TokenVerifier.URL_THREADS);
        CountDownLatch released = new CountDownLatch(1);
        HttpServer server = server(exchange -> answer(exchange, 200, issuer.keySet()));
        try {
            TokenConfig slow = neededByUrl(server);
            for (int i = 0; i < 2 * TokenVerifier.URL_THREADS; i++) {
                String subject = "user" + i;
                String token = issuer.token(claims -> claims.setSubject(subject));
                verifier.verify(token, slow, digest(slow, token), ImmediateEventExecutor.INSTANCE, result -> {
                    waiting.countDown();
                    awaitUninterruptibly(released);
                });
            }
            waiting.await();
            assertEquals(TokenResult.VALID, verify(needed(values -> {}), issuer.token(claims -> {})));
        } finally {
            released.countDown();
            stop(server);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aVerificationThatFailsIsAnsweredAndNotRemembered() throws Exception {
        TokenConfig needed = needed(values -> {});
        String token = issuer.token(claims -> {});
        TokenVerifier faulty = new TokenVerifier(
                () -> {
                    throw new AssertionError("no clock");
                },
                nanoTime::get);
        BlockingQueue<CredentialCheck.Result> results = new ArrayBlockingQueue<>(1);
        faulty.verify(token, needed, digest(needed, token), ImmediateEventExecutor.INSTANCE, results::add);
        assertEquals(TokenResult.KEYS_UNAVAILABLE, results.poll(1, TimeUnit.MINUTES));
        assertNull(faulty.remembered(digest(needed, token), nowMillis.get()));
    }

    @Test
    void keysOfAUrlAreFetchedOnce() throws Exception {
        AtomicInteger fetches = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            fetches.incrementAndGet();
            byte[] body = issuer.keySet().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/jwks";
            TokenConfig needed = TokenConfig.from(
                    ConfigValues.builder().set(TokenKeys.KEYS_URL, url).build());
            for (String algorithm : new String[] {"ES256", "EdDSA", "RS256"}) {
                assertEquals(TokenResult.VALID, verify(needed, issuer.token(algorithm, claims -> {})));
            }
            assertEquals(1, fetches.get());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void withoutAnIssuerNoTokenIsValidAndNoneIsRemembered() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        int port = server.getAddress().getPort();
        server.stop(0);
        TokenConfig needed = TokenConfig.from(ConfigValues.builder()
                .set(TokenKeys.KEYS_URL, "http://127.0.0.1:" + port + "/")
                .build());
        String token = issuer.token(claims -> {});
        assertEquals(TokenResult.KEYS_UNAVAILABLE, verify(needed, token));
        assertNull(verifier.remembered(digest(needed, token), nowMillis.get()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "{ # is not a JSON Web Key Set",
                "{\"keys\": []} # has 0 keys",
                "{\"keys\": [{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"}]} # keys[0]: is a secret key",
                "PRIVATE # keys[0]: has a private key",
            })
    void filesWithoutPublicKeysAreRefused(String text, String message) throws Exception {
        String content = text.equals("PRIVATE") ? issuer.privateKeySet() : text;
        LoadedFile file = LoadedFile.read(Files.writeString(directory.resolve("keys"), content));
        ConfigValues values =
                ConfigValues.builder().set(TokenKeys.KEYS_FILE, file).build();
        InvalidValueException fault = assertThrows(InvalidValueException.class, () -> TokenConfig.checkFile(values));
        assertTrue(fault.problem().contains(file.path() + ": " + message), fault.problem());
    }
}
