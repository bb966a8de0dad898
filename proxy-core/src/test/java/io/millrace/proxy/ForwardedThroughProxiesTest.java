package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests forwarded requests and tunnels through a group of other proxies: {@code forward_proxy.origins}. */
class ForwardedThroughProxiesTest {
    private static final RawOrigin.Script DESTINATION = request -> request.ok("", RawInput.latin1("destination"));

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private final List<RawOrigin> parents = new ArrayList<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeParents() throws IOException {
        for (RawOrigin parent : parents) {
            parent.close();
        }
    }

    private String parent(RawOrigin.Script script) throws IOException {
        RawOrigin parent = new RawOrigin(request -> {
            asked.add(request.head());
            script.answer(request);
        });
        parents.add(parent);
        return parent.url();
    }

    /** Opens a tunnel whose other end reports the request that it received. */
    private static void tunnel(RawOrigin.Exchange request) throws IOException {
        // Framing fields in a response to CONNECT are ignored.
        request.send("HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n");
        request.ok("", RawInput.latin1("inside " + request.in().readHead()));
    }

    private static RawOrigin.Script status(int status) {
        return request -> request.send("HTTP/1.1 " + status + " x\r\nContent-Length: 3\r\n\r\nabc");
    }

    private void start(boolean goDirect, String... parentUrls) throws IOException {
        ConfigValues group = ConfigValues.builder()
                .set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE)
                .set(OriginGroupKeys.PARENT_IS_PROXY, true)
                .set(OriginGroupKeys.GO_DIRECT, goDirect)
                .build();
        proxy.start(DESTINATION, config -> forwarding(config).origins("egress", group, List.of(parentUrls)));
    }

    private ProxyConfig.Builder forwarding(ProxyConfig.Builder config) {
        return direct(config).set("forward_proxy.origins", "egress");
    }

    private ProxyConfig.Builder direct(ProxyConfig.Builder config) {
        return config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.allow_destinations", "127.0.0.1")
                .set(
                        "forward_proxy.connect_ports",
                        Integer.toString(proxy.origin().port()));
    }

    private String authority() {
        return "127.0.0.1:" + proxy.origin().port();
    }

    private RawClient.Response get(String url) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send("GET " + url + " HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic eDp5\r\n\r\n")
                    .response();
        }
    }

    private RawClient connect(String authority) throws IOException {
        return proxy.client()
                .send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority
                        + "\r\nProxy-Authorization: Basic eDp5\r\n\r\n");
    }

    @Test
    void requestForAWholeUrlGoesToTheProxyAsItIs_andIsStored() throws Exception {
        start(false, parent(request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("parent"))));
        assertEquals("parent", get("http://site.example/a?b").text());
        assertTrue(asked.get(0).startsWith("GET http://site.example/a?b HTTP/1.1\r\n"), asked.get(0));
        assertEquals("site.example", RawClient.field(asked.get(0), "host"));
        assertEquals("1.1 millrace", RawClient.field(asked.get(0), "via"));
        assertNull(RawClient.field(asked.get(0), "proxy-authorization"));
        assertTrue(get("http://site.example/a?b").field("cache-status").contains("; hit"));
        assertEquals(1, asked.size());
    }

    @Test
    void tunnelGoesThroughTheProxy() throws Exception {
        start(false, parent(ForwardedThroughProxiesTest::tunnel));
        RawClient client = connect("site.example:" + proxy.origin().port());
        assertEquals(200, client.head().status());
        assertTrue(client.send("GET /in HTTP/1.1\r\n\r\n").response().text().startsWith("inside GET /in"));
        String target = "site.example:" + proxy.origin().port();
        assertTrue(asked.get(0).startsWith("CONNECT " + target + " HTTP/1.1\r\n"), asked.get(0));
        assertEquals(target, RawClient.field(asked.get(0), "host"));
        assertEquals("1.1 millrace", RawClient.field(asked.get(0), "via"));
        assertNull(RawClient.field(asked.get(0), "proxy-authorization"));
        assertNull(RawClient.field(asked.get(0), "connection"));
        assertEquals(0, proxy.origin().requests());
    }

    /** 503 is one of {@code retry.response_codes}; 403 is final. */
    @ParameterizedTest
    @CsvSource({"0, 200, 2", "503, 200, 2", "403, 502, 1"})
    void anotherProxyIsAskedForTheTunnel(int first, int status, int asks) throws Exception {
        start(
                false,
                parent(first == 0 ? RawOrigin.Exchange::reset : status(first)),
                parent(ForwardedThroughProxiesTest::tunnel));
        assertEquals(
                status, connect("site.example:" + proxy.origin().port()).head().status());
        assertEquals(asks, asked.size());
    }

    @ParameterizedTest
    @CsvSource({"false, 502", "true, 200"})
    void hostItselfIsConnectedToOnlyByGroupSetting(boolean goDirect, int status) throws Exception {
        start(goDirect, parent(RawOrigin.Exchange::reset));
        assertEquals(status, get("http://" + authority() + "/a").status());
        assertEquals(goDirect ? 1 : 0, proxy.origin().requests());
        assertEquals(status, connect(authority()).head().status());
    }

    /** The other proxy looks up names; this proxy checks addresses against its lists. */
    @Test
    void addressThatIsDeniedIsNotAskedForEither() throws Exception {
        start(true, parent(ForwardedThroughProxiesTest::tunnel));
        int port = proxy.origin().port();
        for (String host : List.of("10.0.0.1", "[::1]", "[64:ff9b::a00:1]", "169.254.169.254")) {
            RawClient.Response refused = get("http://" + host + ":" + port + "/");
            assertEquals(403, refused.status(), host);
            assertTrue(refused.field("cache-status").contains("detail=destination-denied"), refused.head());
            assertEquals(403, connect(host + ":" + port).head().status(), host);
        }
        assertEquals(0, asked.size());
        assertEquals(8, proxy.counted(Counter.DENIED_FORWARD_DESTINATION));
    }

    /** Responses that were fetched directly are validated after requests go through the proxies. */
    @Test
    void responsesStoredBeforeAreValidated() throws Exception {
        ConfigValues group = ConfigValues.builder()
                .set(OriginGroupKeys.PARENT_IS_PROXY, true)
                .build();
        String parent = parent(status(403));
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\nETag: \"a\"\r\n", RawInput.latin1("direct")),
                this::direct);
        assertEquals("direct", get("http://" + authority() + "/a").text());
        proxy.reload(config -> forwarding(config).origins("egress", group, List.of(parent)));
        assertEquals(403, get("http://" + authority() + "/a").status());
        assertEquals(1, asked.size());
    }
}
