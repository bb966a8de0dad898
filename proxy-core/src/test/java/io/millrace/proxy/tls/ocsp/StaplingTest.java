package io.millrace.proxy.tls.ocsp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the times of requests to responders, and the use of their answers; the test has the clock and the timer. */
class StaplingTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("stapling");
    private static final Instant START = Instant.parse("2026-06-01T12:00:00Z");

    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong(START.toEpochMilli());
    private final List<String> asked = new ArrayList<>();
    private final List<String> changed = new ArrayList<>();
    private final Made made = AUTHORITY.issue("www.example.com");
    private Supplier<CompletableFuture<byte[]>> answers = () -> CompletableFuture.completedFuture(good());
    private Stapling stapling;

    @BeforeEach
    void make() {
        stapling = stapling();
    }

    private Stapling stapling() {
        return new Stapling(directory.resolve("ocsp"), null, now::get, changed::add, (responder, request) -> {
            asked.add(responder);
            return answers.get();
        });
    }

    private TestResponder responder() {
        return new TestResponder(AUTHORITY, made.certificate(), Instant.ofEpochMilli(now.get()));
    }

    private byte[] good() {
        return responder().answer();
    }

    private OcspTarget target(String sha256, String responder) {
        return new OcspTarget(
                sha256, "www.example.com", responder, () -> made.chain().toArray(X509Certificate[]::new));
    }

    private OcspTarget target() {
        return target("one", "http://ocsp.example/");
    }

    private Staple tickAndGet() {
        stapling.tick();
        return stapling.staple(target());
    }

    private void pass(Duration time) {
        now.addAndGet(time.toMillis());
    }

    @Test
    void stapleIsAskedForOnceAndAgainAtHalfOfItsValidity() {
        assertNull(stapling.staple(target()), "nobody waits for a responder");
        Staple first = tickAndGet();
        assertNotNull(first);
        assertEquals(List.of("one"), changed);
        Duration half = Duration.ofMillis((first.nextUpdateMillis() - now.get() + 3_600_000) / 2 - 3_600_000);
        pass(half.minusSeconds(1));
        assertEquals(first, tickAndGet());
        pass(Duration.ofSeconds(1));
        Staple second = tickAndGet();
        assertTrue(second.isNewerThan(first));
        assertEquals(2, asked.size());
        assertEquals(2, stapling.answers());
    }

    @Test
    void olderAnswerTakesNothingAway() {
        stapling.staple(target());
        Staple first = tickAndGet();
        pass(Duration.ofDays(3));
        TestResponder old = responder();
        old.nextUpdate = Instant.ofEpochMilli(first.nextUpdateMillis()).minusSeconds(3600);
        answers = () -> CompletableFuture.completedFuture(old.answer());
        assertEquals(first, tickAndGet());
        assertEquals(2, asked.size());
    }

    enum Trouble {
        DOWN,
        REVOKED,
        UNKNOWN,
        TRY_LATER,
        LIES,
        GARBAGE
    }

    private CompletableFuture<byte[]> trouble(Trouble trouble) {
        TestResponder responder = responder();
        switch (trouble) {
            case DOWN -> {
                return CompletableFuture.failedFuture(new OcspFault(Kind.UNREACHABLE, "no connection"));
            }
            case REVOKED ->
                responder.status = TestAuthority.der(
                        0xa1, TestAuthority.der(24, "20260101000000Z".getBytes(StandardCharsets.US_ASCII)));
            case UNKNOWN -> responder.status = new byte[] {(byte) 0x82, 0};
            case LIES -> responder.keys = TestAuthority.ecKeys();
            case TRY_LATER -> {
                return CompletableFuture.completedFuture(TestResponder.refusal(3));
            }
            case GARBAGE -> {
                return CompletableFuture.completedFuture(new byte[] {1, 2, 3});
            }
        }
        return CompletableFuture.completedFuture(responder.answer());
    }

    @ParameterizedTest
    @EnumSource
    void lastGoodAnswerStaysUntilItsEndAndPausesGrow(Trouble trouble) {
        stapling.staple(target());
        Staple good = tickAndGet();
        answers = () -> trouble(trouble);
        pass(Duration.ofDays(2));
        assertEquals(good, tickAndGet());
        assertNotNull(stapling.status("one").problem());
        assertEquals(2, asked.size());
        pass(Duration.ofSeconds(59));
        tickAndGet();
        assertEquals(2, asked.size(), "a minute of pause after the first failure");
        pass(Duration.ofSeconds(1));
        tickAndGet();
        assertEquals(3, asked.size());
        pass(Duration.ofSeconds(119));
        tickAndGet();
        assertEquals(3, asked.size(), "two minutes after the second");
        for (int i = 0; i < 50; i++) {
            pass(Duration.ofMinutes(30));
            tickAndGet();
        }
        assertTrue(asked.size() >= 20 && asked.size() <= 30, "an hour at most, asked: " + asked.size());
        assertEquals(good, stapling.staple(target()));
        now.set(good.nextUpdateMillis() - 60_000);
        changed.clear();
        assertNull(tickAndGet(), "never past its end");
        assertEquals(List.of("one"), changed);
        assertEquals(0, stapling.status("one").untilSeconds());

        answers = () -> CompletableFuture.completedFuture(good());
        pass(Duration.ofHours(1));
        assertNotNull(tickAndGet());
        assertNull(stapling.status("one").problem());
    }

    @Test
    void answersOutliveARestartAndAreVerifiedAgain() throws IOException {
        stapling.staple(target());
        Staple before = tickAndGet();
        Path file = directory.resolve("ocsp").resolve("one.ocsp");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertEquals(1, files.count(), "no unfinished file stays");
        }

        answers = () -> CompletableFuture.failedFuture(new IOException("down"));
        stapling = stapling();
        assertArrayEquals(before.der(), stapling.staple(target()).der(), "without asking");
        stapling.tick();
        assertEquals(1, asked.size());

        byte[] damaged = Files.readAllBytes(file);
        damaged[damaged.length - 1] ^= 1;
        Files.write(file, damaged);
        stapling = stapling();
        assertNull(stapling.staple(target()), "a file that somebody changed is no answer");
        Files.write(file, before.der());
        now.set(before.nextUpdateMillis());
        stapling = stapling();
        assertNull(stapling.staple(target()), "out of date");
    }

    @Test
    void silentResponderIsAskedForOneCertificateAndOthersAreNotKeptWaiting() {
        answers = () -> CompletableFuture.failedFuture(new OcspFault(Kind.UNREACHABLE, "no connection"));
        for (int i = 0; i < 20; i++) {
            stapling.staple(target("silent" + i, "http://silent.example/"));
        }
        stapling.tick();
        assertEquals(2, asked.size(), "two at a time");
        pass(Duration.ofSeconds(30));
        stapling.tick();
        assertEquals(2, asked.size());
        stapling.staple(target());
        answers = () -> CompletableFuture.completedFuture(good());
        assertNotNull(tickAndGet());
    }

    @Test
    void slowRespondersAreNotAskedMoreThanEightTimesAtOnce() {
        answers = CompletableFuture::new;
        for (int i = 0; i < 50; i++) {
            stapling.staple(target("slow" + i, "http://slow" + i + ".example/"));
        }
        for (int i = 0; i < 10; i++) {
            stapling.tick();
            pass(Duration.ofSeconds(1));
        }
        assertEquals(8, asked.size());
    }

    @Test
    void forgottenCertificatesAreNotAskedForAndAChainWithoutIssuerIsNamed() {
        stapling.staple(target());
        stapling.retain(Set.of());
        stapling.tick();
        assertEquals(0, asked.size());
        assertTrue(stapling.isIdle());
        stapling.staple(new OcspTarget(
                "alone", "www.example.com", "http://ocsp.example/", () -> new X509Certificate[] {made.certificate()}));
        stapling.tick();
        assertEquals(0, asked.size());
        assertTrue(stapling.status("alone").problem().contains("issuer"));
    }
}
