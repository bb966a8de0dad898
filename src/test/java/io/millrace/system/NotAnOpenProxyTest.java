package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that requests which no rule maps are not forwarded: no client reaches a host of its choice through this proxy.
 */
class NotAnOpenProxyTest {

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin foreign = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess mapped;
    private static MillraceProcess everyHost;

    @BeforeAll
    static void start() throws IOException {
        origin.serves("/", "the origin", "Cache-Control: no-store");
        foreign.serves("/", "the foreign host");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                remap:
                  - map: http://mapped.example/
                    to: %s/
                """.formatted(origin.url()));
        mapped = product.launch().config(config).start();
        everyHost = product.launch().origin(origin.url()).start();
    }

    @AfterEach
    void foreignHostWasNeverReached() {
        assertEquals(0, foreign.connectionsAccepted(), "a foreign host was reached");
    }

    @Test
    void mappedHostIsServed() throws Exception {
        assertEquals(
                "the origin",
                ask(mapped, "GET / HTTP/1.1\r\nHost: mapped.example\r\n\r\n").text());
        assertEquals(
                "the origin",
                ask(mapped, "GET http://mapped.example/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n")
                        .text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: unmapped.example\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: mapped.example.evil.example\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: FOREIGN\r\n\r\n",
                "GET / HTTP/1.0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: FOREIGN\r\nContent-Length: 1\r\n\r\nx",
            })
    void unmappedHostIsNotFound(String request) throws Exception {
        int before = origin.requests().size();
        assertEquals(404, ask(mapped, request).status());
        assertEquals(before, origin.requests().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET http://FOREIGN/ HTTP/1.1\r\nHost: FOREIGN\r\n\r\n",
                "GET http://FOREIGN/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
                "GET HTTP://FOREIGN/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
                "GET http://mapped.example@FOREIGN/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
                "GET https://FOREIGN/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
                "GET ftp://FOREIGN/ HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
            })
    void absoluteFormToAForeignHostIsRefused(String request) throws Exception {
        int before = origin.requests().size();
        RawResponse response = ask(mapped, request);
        assertTrue(response.status() >= 400 && response.status() < 500, response::toString);
        assertEquals(before, origin.requests().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CONNECT FOREIGN HTTP/1.1\r\nHost: FOREIGN\r\n\r\n",
                "CONNECT mapped.example:80 HTTP/1.1\r\nHost: mapped.example:80\r\n\r\n",
                "CONNECT FOREIGN HTTP/1.1\r\nHost: mapped.example\r\n\r\n",
            })
    void connectIsRefused(String request) throws Exception {
        for (MillraceProcess proxy : new MillraceProcess[] {mapped, everyHost}) {
            int before = origin.requests().size();
            RawResponse response = ask(proxy, request);
            assertTrue(response.status() >= 400, response::toString);
            assertEquals(before, origin.requests().size());
        }
    }

    @Test
    void ruleForEveryHostStillLeadsToItsOriginOnly() throws Exception {
        ask(everyHost, "GET http://FOREIGN/ HTTP/1.1\r\nHost: FOREIGN\r\n\r\n");
        assertEquals(
                "the origin",
                ask(everyHost, "GET / HTTP/1.1\r\nHost: FOREIGN\r\n\r\n").text());
    }

    private static RawResponse ask(MillraceProcess proxy, String request) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send(request.replace("FOREIGN", "127.0.0.1:" + foreign.port()))
                    .response();
        }
    }
}
