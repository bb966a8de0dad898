package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests fields that select a stored response and did not reach the origin. */
class UnsentSelectorsTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static void byDevice(RawOrigin.Exchange request, String fields) throws IOException {
        request.ok(FRESH + fields, RawInput.latin1(request.has("X-Device: tv") ? "for tv" : "for nobody"));
    }

    /** RFC 9110 s7.6.1: a field listed in Connection does not reach the origin, so it selects nothing. */
    @Test
    void aNominatedFieldOfTheKeySelectsNothing() throws Exception {
        proxy.start(r -> byDevice(r, ""), config -> config.set("cache.key.fields", "X-Device"));
        assertEquals(
                "for nobody",
                proxy.getAndSettle("/a", "Connection: X-Device\r\n", "X-Device: tv\r\n")
                        .text());
        assertEquals("for tv", proxy.get("/a", "X-Device: tv\r\n").text());
    }

    @Test
    void aNominatedFieldOfVarySelectsNothing() throws Exception {
        proxy.start(r -> byDevice(r, "Vary: X-Device\r\n"));
        assertEquals(
                "for nobody",
                proxy.getAndSettle("/a", "Connection: X-Device\r\n", "X-Device: tv\r\n")
                        .text());
        assertEquals("for tv", proxy.get("/a", "X-Device: tv\r\n").text());
    }

    /** An untrusted client's field about the scheme does not reach the origin, so it must select nothing. */
    @Test
    void aWithheldFieldOfTheKeySelectsNothing() throws Exception {
        proxy.start(
                r -> r.ok(FRESH, RawInput.latin1(r.has("X-Forwarded-Proto: https") ? "secure" : "go to https")),
                config -> config.set("cache.key.fields", "X-Forwarded-Proto"));
        String plain = proxy.getAndSettle("/a").text();
        int asked = proxy.origin().requests();
        String evil = proxy.getAndSettle("/a", "X-Forwarded-Proto: https\r\n").text();
        // The origin received the same request, so its response is for all.
        assertEquals(plain, evil);
        assertEquals(asked + 1, proxy.origin().requests());
        proxy.getAndSettle("/a", "X-Forwarded-Proto: https\r\n");
        assertEquals(asked + 2, proxy.origin().requests());
    }

    /** The fields for the origin were determined before the client was trusted. */
    @Test
    void aFieldThatWasWithheldSelectsNothingThoughItsSenderIsTrustedBeforeTheAnswer() throws Exception {
        Semaphore mayAnswer = new Semaphore(0);
        proxy.start(
                r -> {
                    mayAnswer.acquire();
                    r.ok(FRESH, RawInput.latin1(r.has("Forwarded: proto=https") ? "secure" : "go to https"));
                },
                config -> config.set("cache.key.fields", "Forwarded"));
        RawClient early = proxy.client().get("/a", "Forwarded: proto=https\r\n");
        ProxyExtension.await("the request", () -> proxy.origin().requests() == 1);
        proxy.reload(config -> config.set("cache.key.fields", "Forwarded").set("access.trusted_proxies", "127.0.0.1"));
        mayAnswer.release(2);
        assertEquals("go to https", early.response().text());
        proxy.settle();
        assertEquals(
                "secure", proxy.getAndSettle("/a", "Forwarded: proto=https\r\n").text());
    }
}
