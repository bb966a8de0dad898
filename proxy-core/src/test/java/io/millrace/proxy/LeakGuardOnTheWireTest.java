package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.observe.Counter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the leak guard with an origin that ignores the end of a path, as web cache deception needs it. */
class LeakGuardOnTheWireTest {
    private static final String VICTIM = "Cookie: session=victim\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private void start(String level) throws Exception {
        proxy.start(
                request -> request.ok(
                        "Content-Type: text/html\r\nCache-Control: max-age=60\r\n",
                        RawInput.latin1(request.has("session=victim") ? "page of the victim" : "please log in")),
                config -> config.set("cache.leak_guard", level));
    }

    @Test
    void attackerDoesNotGetThePageOfTheVictim() throws Exception {
        start("on");
        RawClient.Response victim = proxy.getAndSettle("/account/x.css", VICTIM);
        assertEquals("page of the victim", victim.text());
        assertTrue(victim.field("cache-status").endsWith("; detail=leak-guard:type"), victim.field("cache-status"));
        assertEquals("please log in", proxy.getAndSettle("/account/x.css").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.LEAK_GUARD_TYPE));
        assertEquals(0, proxy.counted(Counter.LEAK_GUARD_TYPE_STORED));
    }

    @Test
    void warnStoresAndCounts() throws Exception {
        start("warn");
        proxy.getAndSettle("/account/x.css", VICTIM);
        assertEquals("page of the victim", proxy.get("/account/x.css").text());
        assertEquals(1, proxy.counted(Counter.LEAK_GUARD_TYPE_STORED));
        assertEquals(0, proxy.counted(Counter.LEAK_GUARD_TYPE));
        proxy.getAndSettle("/account", VICTIM);
        assertEquals(1, proxy.counted(Counter.LEAK_GUARD_TYPE_STORED));
    }

    @Test
    void offStoresWithoutCounting() throws Exception {
        start("off");
        proxy.getAndSettle("/account/x.css", VICTIM);
        assertEquals("page of the victim", proxy.get("/account/x.css").text());
        assertEquals(0, proxy.counted(Counter.LEAK_GUARD_TYPE_STORED));
    }

    @Test
    void responsesToAuthorizationAreCountedAndHaveADetail() throws Exception {
        start("on");
        RawClient.Response answer = proxy.getAndSettle("/a", "Authorization: Basic eDp5\r\n");
        assertTrue(
                answer.field("cache-status").endsWith("; detail=leak-guard:authorization"),
                answer.field("cache-status"));
        assertEquals(1, proxy.counted(Counter.LEAK_GUARD_AUTHORIZATION));
    }

    /** A request with Cookie must not keep clients without it from the cache, also not by joining fetches. */
    @Test
    void refusalConcernsOneRequestOnly() throws Exception {
        start("on");
        proxy.getAndSettle("/account/x.css", VICTIM);
        proxy.getAndSettle("/account/x.css");
        assertEquals("please log in", proxy.get("/account/x.css").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals("please log in", proxy.get("/account/x.css", VICTIM).text());
        assertEquals(2, proxy.origin().requests());
    }

    private String explained(String path, Field... fields) throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(new Question("http://test.example" + path, "GET", List.of(fields), null, 0, false))
                        .toCompletableFuture()
                        .get()
                        .steps()
                        .stream()
                        .filter(step -> step.name().equals("leak-guard"))
                        .map(Step::text)
                        .reduce("", String::concat);
    }

    @Test
    void explainNamesTheGuard() throws Exception {
        start("on");
        assertEquals(
                "an answer of HTML or JSON for .css is not stored unless it has public or s-maxage, as the request has"
                        + " credentials",
                explained("/account/x.css", new Field("Cookie", "a=b")));
        assertEquals(
                "an answer of HTML or JSON for .css with Set-Cookie is not stored unless it has public or s-maxage",
                explained("/account/x.css"));
        assertEquals("", explained("/account"));
        proxy.reload(config -> config.set("cache.leak_guard", "warn"));
        assertEquals(
                "an answer of HTML or JSON for .css with Set-Cookie is stored and logged unless it has public or"
                        + " s-maxage",
                explained("/account/x.css"));
    }
}
