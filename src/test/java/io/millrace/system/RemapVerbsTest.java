package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests every kind of remap rule in one configuration: the request to the origin, or the redirection of the client. */
class RemapVerbsTest {

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        for (String path : new String[] {"/p", "/recv/p", "/x-12/p", "/media/p"}) {
            origin.on(path, exchange -> exchange.answer(200, exchange.request().target(), "Cache-Control: no-store"));
        }
        origin.on(
                "/leads",
                exchange -> exchange.answer(
                        302,
                        "",
                        "Location: " + origin.url() + "/elsewhere?a=b",
                        "Set-Cookie: id=1; Domain=127.0.0.1; Path=/",
                        "Cache-Control: no-store"));
        int port = PackedProduct.freePort();
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                no_host_url_redirect: http://www.example/start
                remap:
                  - {redirect: "http://old.example/", to: "https://new.example/site/"}
                  - {redirect: "http://kept.example/", to: "https://new.example/", status: 308}
                  - {redirect_temporary: "http://moved.example/a/", to: "http://www.example/b/"}
                  - {regex_redirect: 'http://old\\.(.*)\\.z\\.example/', to: "http://new.$1.example/"}
                  - {regex_redirect_temporary: 'http://now\\.(.*)\\.z\\.example/', to: "http://then.$1.example/"}
                  - {regex_map: 'http://x([0-9]+)\\.z\\.example/', to: "ORIGIN/x-$1/"}
                  - map_with_referer: http://media.example/
                    to: ORIGIN/media/
                    referers: ['^https?://([^/]*\\.)?friends\\.example/']
                    referer_redirect: http://www.example/no
                  - {map: "http://www.example/", to: "ORIGIN/"}
                  - {map: "http://port.example/", to: "ORIGIN/nobody/"}
                  - {map_with_recv_port: "http://port.example:PORT/", to: "ORIGIN/recv/"}
                  - {reverse_map: "ORIGIN/", to: "http://www.example/", rewrite_set_cookie: true}
                """.replace("ORIGIN", origin.url()).replace("PORT", String.valueOf(port)));
        proxy = product.launch().config(config).port(port).start();
    }

    private static RawResponse ask(String host, String target, String fields) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n")
                    .response();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "www.example, /p?q=1, /p?q=1",
        "WWW.Example, /p, /p",
        "x12.z.example, /p?q, /x-12/p?q",
        "port.example, /p, /recv/p",
        "port.example:81, /p, /recv/p"
    })
    void theOriginIsAskedFor(String host, String target, String asked) throws IOException {
        RawResponse response = ask(host, target, "");
        assertEquals(200, response.status(), response::toString);
        assertEquals(asked, response.text());
    }

    @ParameterizedTest
    @CsvSource({
        "old.example, /a/b?c=d, 301, https://new.example/site/a/b?c=d",
        "kept.example, /a, 308, https://new.example/a",
        "moved.example, /a/c, 307, http://www.example/b/c",
        "old.a.b.z.example, /p, 301, http://new.a.b.example/p",
        "now.c.z.example, /p?q, 307, http://then.c.example/p?q",
        "media.example, /p, 302, http://www.example/no"
    })
    void theClientIsSentElsewhere(String host, String target, int status, String location) throws IOException {
        int before = origin.requests().size();
        RawResponse response = ask(host, target, "");
        assertEquals(status, response.status(), response::toString);
        assertEquals(location, response.field("Location"));
        assertEquals(before, origin.requests().size());
    }

    @ParameterizedTest
    @CsvSource({"x.z.example, /p", "moved.example, /b", "other.example, /p", "x1.z.example.evil, /p"})
    void unmappedRequestsAreNotFound(String host, String target) throws IOException {
        int before = origin.requests().size();
        assertEquals(404, ask(host, target, "").status());
        assertEquals(before, origin.requests().size());
    }

    @Test
    void pagesOfFriendsMayLink() throws IOException {
        assertEquals(
                "/media/p",
                ask("media.example", "/p", "Referer: http://www.friends.example/page\r\n")
                        .text());
        assertEquals(
                302,
                ask("media.example", "/p", "Referer: http://friends.example.evil/page\r\n")
                        .status());
    }

    @Test
    void answersSpeakOfClientsUrls() throws IOException {
        RawResponse response = ask("www.example", "/leads", "");
        assertEquals("http://www.example/elsewhere?a=b", response.field("Location"));
        assertEquals("id=1; Domain=www.example; Path=/", response.field("Set-Cookie"));
    }

    @Test
    void aRequestWithoutHostIsSentToTheLastResort() throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            RawResponse response = client.send("GET /p HTTP/1.0\r\n\r\n").response();
            assertEquals(302, response.status(), response::toString);
            assertEquals("http://www.example/start", response.field("Location"));
        }
        assertNull(ask("www.example", "/p", "").field("Location"));
    }
}
