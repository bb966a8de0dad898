package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests in absolute form that no rule maps (RFC 9112 s3.2.2), from permitted clients and others. */
class ForwardedRequestTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    /** Answers with the received head, fresh for an hour. */
    private static void echo(RawOrigin.Exchange request) throws IOException {
        request.ok("Cache-Control: max-age=3600\r\n", RawInput.latin1(request.head()));
    }

    private static ProxyConfig.Builder forwarding(ProxyConfig.Builder config) {
        return config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.allow_destinations", "127.0.0.1");
    }

    private RawClient.Response ask(String line, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(line + " HTTP/1.1\r\nHost: other.example\r\n" + String.join("", fields) + "\r\n")
                    .response();
        }
    }

    private String url(String path) {
        return proxy.origin().url() + path;
    }

    @Test
    void goesToTheHostOfTheUrl_andIsStoredUnderIt() throws Exception {
        proxy.start(ForwardedRequestTest::echo, ForwardedRequestTest::forwarding);
        RawClient.Response first = ask(
                "GET " + url("/a?b"),
                "Proxy-Authorization: Basic eDp5\r\n",
                "Proxy-Connection: keep-alive\r\n",
                "X-One: 1\r\n");
        String asked = first.text();
        assertTrue(asked.startsWith("GET /a?b HTTP/1.1\r\n"), asked);
        assertEquals(proxy.origin().url().substring("http://".length()), RawClient.field(asked, "host"));
        assertEquals("1.1 millrace", RawClient.field(asked, "via"));
        assertEquals("1", RawClient.field(asked, "x-one"));
        assertNull(RawClient.field(asked, "proxy-authorization"));
        assertNull(RawClient.field(asked, "proxy-connection"));
        assertTrue(ask("GET " + url("/a?b")).field("cache-status").contains("; hit"));
        assertEquals(1, proxy.origin().requests());
        assertEquals(200, ask("PURGE " + url("/a?b")).status());
        assertFalse(ask("GET " + url("/a?b")).field("cache-status").contains("; hit"));
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void contentGoesAlong() throws Exception {
        proxy.start(request -> request.ok("", request.in().read(5)), ForwardedRequestTest::forwarding);
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("POST " + url("/form") + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
            assertEquals("hello", client.response().text());
        }
    }

    @Test
    void rulesComeBeforeForwarding_andOriginFormIsNeverForwarded() throws Exception {
        proxy.start(ForwardedRequestTest::echo, config -> forwarding(config)
                .set("forward_proxy.allow", "10.0.0.0/8")
                .map("http://mapped.example/", proxy.origin().url() + "/m/", ConfigValues.empty()));
        assertTrue(ask("GET http://mapped.example/a").text().startsWith("GET /m/a HTTP/1.1"));
        assertEquals(403, ask("GET " + url("/a")).status());
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_CLIENT));
        proxy.reload(config ->
                forwarding(config).map("http://mapped.example/", proxy.origin().url() + "/m/", ConfigValues.empty()));
        assertEquals(200, ask("GET " + url("/a")).status());
        try (RawClient client = new RawClient(proxy.address())) {
            String host = proxy.origin().url().substring("http://".length());
            assertEquals(
                    404,
                    client.send("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                            .response()
                            .status());
        }
        proxy.reload(config -> config);
        assertEquals(404, ask("GET " + url("/b")).status());
        assertEquals(2, proxy.origin().requests());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"})
    void privateDestinationIsDenied(String host) throws Exception {
        proxy.start(ForwardedRequestTest::echo, config -> forwarding(config)
                .set("forward_proxy.allow_destinations", "192.0.2.77"));
        String port = proxy.origin().url().replaceFirst(".*:", "");
        RawClient.Response refused = ask("GET http://" + host + ":" + port + "/");
        assertEquals(403, refused.status(), host);
        assertTrue(refused.field("cache-status").contains("detail=destination-denied"), refused.head());
        assertEquals(0, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_DESTINATION));
    }

    /** A connection that a rule has opened to a private address is not used for forwarded requests. */
    @Test
    void connectionOfARuleServesNoForwardedRequest() throws Exception {
        proxy.start(ForwardedRequestTest::echo, config -> forwarding(config)
                .set("forward_proxy.allow_destinations", "192.0.2.77")
                .map("http://mapped.example/", proxy.origin().url(), ConfigValues.empty()));
        assertEquals(200, ask("GET http://mapped.example/a").status());
        assertEquals(403, ask("GET " + url("/a")).status());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void aRequestThatPassedBeforeIsALoop_RFC9110_7_6_3() throws Exception {
        proxy.start(ForwardedRequestTest::echo, ForwardedRequestTest::forwarding);
        assertEquals(508, ask("GET " + url("/a"), "Via: 1.1 millrace\r\n").status());
        assertEquals(
                508,
                ask("GET http://127.0.0.1:" + proxy.address().getPort() + "/a").status(),
                "the proxy itself, whose port it does not know beforehand");
        assertEquals(0, proxy.origin().requests());
    }

    /**
     * Responses stored by a rule are only for requests that the rule maps, also after the rule is removed; and vice
     * versa.
     */
    @Test
    void responsesOfARuleDoNotAnswerForwardedRequests() throws Exception {
        proxy.start(ForwardedRequestTest::echo);
        String own = proxy.origin().url();
        proxy.reload(config -> config.map(own + "/", own + "/private/", ConfigValues.empty()));
        assertTrue(ask("GET " + own + "/a").text().startsWith("GET /private/a "));
        proxy.reload(config -> forwarding(config).set("forward_proxy.allow_destinations", "192.0.2.77"));
        assertEquals(403, ask("GET " + own + "/a").status());
        proxy.reload(ForwardedRequestTest::forwarding);
        assertTrue(ask("GET " + own + "/a").text().startsWith("GET /a "));
        proxy.reload(config -> forwarding(config).map(own + "/", own + "/private/", ConfigValues.empty()));
        assertTrue(ask("GET " + own + "/a").text().startsWith("GET /private/a "));
    }

    /** Behind a load balancer all clients have its address. The client is then the one that the filters use. */
    @Test
    void clientBehindATrustedProxyIsTheForwardedAddress() throws Exception {
        proxy.start(ForwardedRequestTest::echo, config -> forwarding(config)
                .set("forward_proxy.allow", "127.0.0.1, 10.0.0.0/8")
                .set("access.trusted_proxies", "127.0.0.1")
                .set("access.filter_by_x_forwarded_for", "true"));
        assertEquals(
                403, ask("GET " + url("/a"), "X-Forwarded-For: 1.1.1.1\r\n").status());
        assertEquals(
                403,
                ask("GET " + url("/a"), "X-Forwarded-For: 10.0.0.1, 1.1.1.1\r\n")
                        .status());
        assertEquals(
                403,
                ask("GET " + url("/a"), "X-Forwarded-For: 10.0.0.1, unknown\r\n")
                        .status());
        assertEquals(
                403, ask("CONNECT 1.1.1.1:443", "X-Forwarded-For: 1.1.1.1\r\n").status());
        assertEquals(4, proxy.counted(Counter.DENIED_FORWARD_CLIENT));
        assertEquals(
                200, ask("GET " + url("/a"), "X-Forwarded-For: 10.0.0.1\r\n").status());
        assertEquals(200, ask("GET " + url("/a")).status());
    }

    @Test
    void staleAnswerIsNoneWhereTheDestinationIsDenied() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=10, stale-if-error=3600\r\n", new byte[] {'a'}),
                ForwardedRequestTest::forwarding);
        assertEquals(200, ask("GET " + url("/a")).status());
        proxy.advanceSeconds(20);
        proxy.reload(config -> forwarding(config).set("forward_proxy.allow_destinations", "192.0.2.77"));
        assertEquals(403, ask("GET " + url("/a")).status());
        assertEquals(1, proxy.origin().requests());
    }

    /**
     * The source of the stored response is unknown. Whether its destination is permitted is determined by the request.
     */
    @Test
    void aStoredResponseIsNoHitIfItsDestinationIsDenied() throws Exception {
        proxy.start(ForwardedRequestTest::echo, ForwardedRequestTest::forwarding);
        assertEquals(200, ask("GET " + url("/a")).status());
        assertTrue(ask("GET " + url("/a")).field("cache-status").contains("; hit"));
        proxy.reload(config -> forwarding(config).set("log.access.enabled", "false"));
        assertTrue(ask("GET " + url("/a")).field("cache-status").contains("; hit"));
        proxy.reload(config -> forwarding(config).set("forward_proxy.allow_destinations", "192.0.2.77"));
        assertEquals(403, ask("GET " + url("/a")).status());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void purgeFindsForwardedObjectsAfterForwardingEnds() throws Exception {
        proxy.start(ForwardedRequestTest::echo, ForwardedRequestTest::forwarding);
        assertEquals(200, ask("GET " + url("/a")).status());
        proxy.reload(config -> config);
        assertEquals(200, ask("PURGE " + url("/a")).status());
        proxy.reload(ForwardedRequestTest::forwarding);
        assertFalse(ask("GET " + url("/a")).field("cache-status").contains("; hit"));
        assertEquals(2, proxy.origin().requests());
    }
}
