package io.millrace.proxy.tls.ocsp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which answers are used as staples. */
class OcspResponseVerifierTest {
    private static final int DAMAGES = 5_000 * Integer.getInteger("millrace.test.effort", 1);
    private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
    private static final Instant END = Instant.parse("2040-01-01T00:00:00Z");
    private static final TestAuthority AUTHORITY = new TestAuthority("ocsp");
    private static final TestAuthority OTHERS = new TestAuthority("others");
    private static final Made MADE =
            AUTHORITY.issueWithResponder("http://ocsp.example/x", true, TestAuthority.ecKeys(), "www.example.com");

    private static TestResponder responder() {
        return new TestResponder(AUTHORITY, MADE.certificate(), NOW);
    }

    private static Staple verified(byte[] answer) throws OcspFault, GeneralSecurityException {
        X509Certificate issuer = AUTHORITY.issuer();
        return OcspResponseVerifier.verified(
                answer, new OcspRequest(MADE.certificate(), issuer), issuer, NOW.toEpochMilli());
    }

    @Test
    void certificateNamesItsResponderAndDemandsAStaple() {
        assertEquals(new OcspExtensions("http://ocsp.example/x", true), OcspExtensions.of(MADE.certificate()));
        assertEquals(
                new OcspExtensions(null, false),
                OcspExtensions.of(AUTHORITY.issue("plain.example").certificate()));
        assertEquals(
                new OcspExtensions(null, false),
                OcspExtensions.of(AUTHORITY
                        .issueWithResponder("ldap://x", false, TestAuthority.ecKeys(), "ldap.example")
                        .certificate()),
                "only HTTP can be asked");
    }

    static List<Consumer<TestResponder>> goodAnswers() {
        return List.of(
                each -> {},
                each -> each.byKey = true,
                each -> each.signedBy(AUTHORITY.issueResponder(true, END, AUTHORITY)),
                each -> {
                    each.signedBy(AUTHORITY.issueResponder(true, END, AUTHORITY));
                    each.byKey = true;
                },
                each -> each.thisUpdate = NOW.plusSeconds(200));
    }

    @ParameterizedTest
    @MethodSource("goodAnswers")
    void goodAnswerIsAStapleUntilAMinuteBeforeItsEnd(Consumer<TestResponder> change) throws Exception {
        TestResponder responder = responder();
        change.accept(responder);
        byte[] answer = responder.answer();
        Staple staple = verified(answer);
        assertArrayEquals(answer, staple.der());
        long end = responder.nextUpdate.toEpochMilli();
        assertEquals(end, staple.nextUpdateMillis());
        assertEquals(true, staple.isUsable(end - 60_001));
        assertEquals(false, staple.isUsable(end - 60_000));
    }

    @Test
    void answerWithoutAnEndIsGoodForADay() throws Exception {
        TestResponder responder = responder();
        responder.nextUpdate = null;
        assertEquals(
                responder.thisUpdate.plusSeconds(86_400).toEpochMilli(),
                verified(responder.answer()).nextUpdateMillis());
    }

    static List<Arguments> badAnswers() {
        return List.of(
                bad("revoked", Kind.REVOKED, each -> each.status = revoked()),
                bad("unknown", Kind.UNKNOWN, each -> each.status = new byte[] {(byte) 0x82, 0}),
                bad(
                        "another certificate",
                        Kind.MISMATCH,
                        each -> each.about = AUTHORITY.issue("other.example").certificate()),
                bad("signed with another key", Kind.UNTRUSTED, each -> each.keys = TestAuthority.ecKeys()),
                bad("SHA-1", Kind.UNTRUSTED, each -> each.weak = true),
                bad(
                        "responder of another authority",
                        Kind.UNTRUSTED,
                        each -> each.signedBy(OTHERS.issueResponder(true, END, OTHERS))),
                bad(
                        "responder without the purpose",
                        Kind.UNTRUSTED,
                        each -> each.signedBy(AUTHORITY.issueResponder(false, END, AUTHORITY))),
                bad(
                        "another certificate of the issuer",
                        Kind.UNTRUSTED,
                        each -> each.signedBy(AUTHORITY.issue("www.example.com"))),
                bad(
                        "expired responder",
                        Kind.UNTRUSTED,
                        each -> each.signedBy(AUTHORITY.issueResponder(true, NOW.minusSeconds(1), AUTHORITY))),
                bad("responder's certificate left out", Kind.UNTRUSTED, each -> {
                    each.signedBy(AUTHORITY.issueResponder(true, END, AUTHORITY));
                    each.certificates = new byte[0][];
                }),
                bad("ended", Kind.OUTDATED, each -> each.nextUpdate = NOW),
                bad("ends in half a minute", Kind.OUTDATED, each -> each.nextUpdate = NOW.plusSeconds(30)),
                bad("begins in ten minutes", Kind.OUTDATED, each -> each.thisUpdate = NOW.plusSeconds(600)),
                bad("ends before it begins", Kind.OUTDATED, each -> {
                    each.thisUpdate = NOW.plusSeconds(100);
                    each.nextUpdate = NOW.plusSeconds(99);
                }),
                bad("critical extension", Kind.MALFORMED, each -> each.critical = true));
    }

    private static byte[] revoked() {
        return TestAuthority.der(0xa1, TestAuthority.der(24, "20260101000000Z".getBytes(StandardCharsets.US_ASCII)));
    }

    private static Arguments bad(String what, Kind kind, Consumer<TestResponder> change) {
        return Arguments.of(what, kind, change);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badAnswers")
    void badAnswerIsRefusedWithAReason(String what, Kind kind, Consumer<TestResponder> change) {
        TestResponder responder = responder();
        change.accept(responder);
        assertEquals(
                kind,
                assertThrows(OcspFault.class, () -> verified(responder.answer()), what)
                        .kind());
    }

    @ParameterizedTest
    @CsvSource({
        "1, malformedRequest",
        "2, internalError",
        "3, tryLater",
        "5, sigRequired",
        "6, unauthorized",
        "99, status 99"
    })
    void refusalNamesItsStatus(int status, String text) {
        OcspFault fault = assertThrows(OcspFault.class, () -> verified(TestResponder.refusal(status)));
        assertEquals(Kind.REFUSED, fault.kind());
        assertEquals(true, fault.getMessage().endsWith(text), fault.getMessage());
    }

    @Test
    void everyDamageEndsInAFault() throws Exception {
        byte[] answer = responder().answer();
        for (int i = 0; i < answer.length; i++) {
            byte[] cut = Arrays.copyOf(answer, i);
            assertThrows(OcspFault.class, () -> verified(cut), "cut at " + i);
        }
        byte[] longer = Arrays.copyOf(answer, answer.length + 1);
        assertThrows(OcspFault.class, () -> verified(longer));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < DAMAGES; i++) {
            byte[] damaged = answer.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            try {
                assertEquals(true, verified(damaged).isUsable(NOW.toEpochMilli()));
            } catch (OcspFault fault) {
                assertEquals(false, fault.getMessage().isEmpty(), "seed " + seed);
            }
        }
    }
}
