package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig.ProxyProtocol;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests absolute targets whose scheme differs from that of their connection (RFC 9110 s7.4). */
class SchemeOfConnectionTest {
    private static final String TLS_HEADER =
            "0d0a0d0a000d0a515549540a 2111 0014 c0000207 c6336401 dc04 01bb 20 0005 0100000000";
    private static final String CLEAR_HEADER = "0d0a0d0a000d0a515549540a 2111 000c c0000207 c6336401 dc04 01bb";

    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    private static void echo(RawOrigin.Exchange request) throws IOException {
        request.ok("Cache-Control: max-age=3600\r\n", RawInput.latin1(request.head()));
    }

    /** Listeners: 0 in clear text, 1 with TLS, 2 with PROXY headers. */
    private ProxyConfig.Builder rules(ProxyConfig.Builder config) {
        return config.listen("127.0.0.1:0", certificate.certificate(), certificate.key())
                .listen("127.0.0.1:0", ProxyProtocol.ACCEPT)
                .set("access.proxy_protocol_allow", "127.0.0.1")
                .set("access.trusted_proxies", "127.0.0.2")
                .set("access.forwarded_fields", "x-forwarded-proto")
                .set("purge.allow", "127.0.0.1")
                .map("https://secure.test/", proxy.origin().url() + "/s/", ConfigValues.empty())
                .map("http://clear.test/", proxy.origin().url() + "/c/", ConfigValues.empty())
                .map("wss://secure.test/ws/", proxy.origin().url().replace("http:", "ws:"), ConfigValues.empty())
                .rule(RemapVerb.REDIRECT, "https://old.test/", "https://secure.test/", ConfigValues.empty())
                .map("/any/", proxy.origin().url() + "/a/", ConfigValues.empty());
    }

    private RawClient.Response ask(RawClient client, String line, String fields) throws IOException {
        try (client) {
            return client.send(line + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n")
                    .response();
        }
    }

    private RawClient clear() throws IOException {
        return new RawClient(proxy.address());
    }

    private RawClient tls() throws IOException {
        return certificate.client(proxy.proxy().addresses().get(1));
    }

    private RawClient announced(String header) throws IOException {
        return new RawClient(proxy.proxy().addresses().get(2))
                .send(HexFormat.of().parseHex(header.replace(" ", "")));
    }

    @ParameterizedTest(name = "{0} from {1} with {2}: {3}")
    @CsvSource({
        "https://secure.test/x, 127.0.0.1, '', 421",
        "HTTPS://SECURE.TEST/x, 127.0.0.1, '', 421",
        "https://secure.test/x, 127.0.0.1, X-Forwarded-Proto: https, 421",
        "https://secure.test/x, 127.0.0.1, Forwarded: proto=https, 421",
        "https://old.test/x, 127.0.0.1, '', 421",
        "https://else.test/any/x, 127.0.0.1, '', 421",
        "https://secure.test/x, 127.0.0.2, '', 421",
        "https://secure.test/x, 127.0.0.2, X-Forwarded-Proto: http, 421",
        "https://secure.test/x, 127.0.0.2, 'X-Forwarded-Proto: https, http', 421",
        "https://secure.test/x, 127.0.0.2, Forwarded: for=192.0.2.1;proto=http, 421",
        "https://secure.test/x, 127.0.0.2, 'Forwarded: proto=https, for=192.0.2.1', 421",
        "https://secure.test/x, 127.0.0.2, X-Forwarded-Proto: https, 200",
        "https://secure.test/x, 127.0.0.2, X-Forwarded-Proto: HTTPS, 200",
        "https://secure.test/x, 127.0.0.2, Forwarded: for=192.0.2.1;Proto=\"https\", 200",
        "https://secure.test/x, 127.0.0.2, 'Forwarded: for=192.0.2.1, for=\"[::1]:9;\";proto=https', 200",
        "https://old.test/x, 127.0.0.2, X-Forwarded-Proto: https, 301",
        "https://none.test/x, 127.0.0.1, '', 404",
        "http://clear.test/x, 127.0.0.1, '', 200",
        "http://else.test/any/x, 127.0.0.1, '', 200"
    })
    void listenerWithoutTlsNeedsATrustedProxysWord_rfc9110_s7_4(String url, String from, String field, int status)
            throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, this::rules);
        RawClient client = RawClient.from(from, proxy.address());
        RawClient.Response response = ask(client, "GET " + url, field.isEmpty() ? "" : field + "\r\n");
        assertEquals(status, response.status(), response.text());
        assertEquals(status == 200 ? 1 : 0, proxy.origin().requests());
        assertEquals(status == 421 ? 1 : 0, proxy.counted(Counter.DENIED_SCHEME));
        if (status == 421) {
            assertTrue(response.head().startsWith("HTTP/1.1 421 Misdirected Request\r\n"), response.head());
            assertTrue(response.field("cache-status").contains("detail=scheme"), response.head());
        } else if (status == 200) {
            assertEquals(
                    url.startsWith("https") ? "https" : "http",
                    RawClient.field(response.text(), "x-forwarded-proto").toLowerCase(Locale.ROOT));
        }
    }

    @Test
    void nothingOfARefusedRequestIsStoredForClientsWithTls() throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, this::rules);
        assertEquals(421, ask(clear(), "GET https://secure.test/x", "").status());
        assertFalse(ask(tls(), "GET https://secure.test/x", "")
                .field("cache-status")
                .contains("hit"));
        assertEquals(421, ask(clear(), "GET https://secure.test/x", "").status(), "from the cache");
        try (RawClient client = clear()) {
            client.send("HEAD https://secure.test/x HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals(421, client.head().status());
        }
        assertEquals(
                421,
                ask(clear(), "POST https://secure.test/x", "Content-Length: 0\r\n")
                        .status());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void targetOfHttpOverTlsIsThatOfHttp() throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, this::rules);
        RawClient.Response first = ask(tls(), "GET http://clear.test/x", "");
        assertEquals("http", RawClient.field(first.text(), "x-forwarded-proto"));
        assertTrue(ask(clear(), "GET http://clear.test/x", "")
                .field("cache-status")
                .contains("; hit"));
        assertEquals(404, ask(tls(), "GET http://secure.test/x", "").status());
    }

    @Test
    void proxyHeaderTellsIfTheClientUsedTls() throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, this::rules);
        assertEquals(
                421,
                ask(announced(CLEAR_HEADER), "GET https://secure.test/x", "").status());
        assertEquals(421, ask(announced(""), "GET https://secure.test/x", "").status());
        assertEquals(
                200, ask(announced(TLS_HEADER), "GET https://secure.test/x", "").status());
        assertEquals(
                421,
                ask(announced(CLEAR_HEADER), "GET https://secure.test/x", "X-Forwarded-Proto: https\r\n")
                        .status());
        // The listener decides the scheme of targets in origin form.
        RawClient originForm = announced(TLS_HEADER);
        assertEquals(404, ask(originForm, "GET /x", "").status());
    }

    @Test
    void upgradeToWebSocketIsRefusedLikewise() throws Exception {
        proxy.start(WebSocketPeer::echo, this::rules);
        String offer = WebSocketPeer.request("/ws/chat").replace("GET /ws", "GET https://secure.test/ws");
        try (RawClient client = clear()) {
            assertEquals(421, client.send(offer).response().status());
        }
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void purgeOfAnHttpsUrlOverAListenerWithoutTlsPurgesIt() throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, this::rules);
        ask(tls(), "GET https://secure.test/x", "");
        proxy.settle();
        assertTrue(ask(tls(), "GET https://secure.test/x", "")
                .field("cache-status")
                .contains("; hit"));
        assertEquals(200, ask(clear(), "PURGE https://secure.test/x", "").status());
        assertFalse(ask(tls(), "GET https://secure.test/x", "")
                .field("cache-status")
                .contains("; hit"));
    }

    /**
     * A forward proxy accepts https URLs, and connects to the URL's host over TLS. A URL that a rule maps is not
     * forwarded.
     */
    @Test
    void forwardedHttpsUrlIsAskedForOverTls_andRulesAreNot() throws Exception {
        proxy.start(SchemeOfConnectionTest::echo, config -> rules(config)
                .set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.allow_destinations", "127.0.0.1"));
        assertEquals(421, ask(clear(), "GET https://secure.test/x", "").status());
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        assertEquals(
                502, ask(clear(), "GET https://127.0.0.1:" + closed + "/x", "").status());
        assertEquals(0, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.DENIED_SCHEME));
    }
}
