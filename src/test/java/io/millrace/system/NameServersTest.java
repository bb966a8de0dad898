package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a name server with invalid behaviour, and one event loop that answers hits in the meantime. */
@Tag("nightly")
class NameServersTest {

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static NameServer names;
    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        names = new NameServer();
        origin.serves("/", "found", "Cache-Control: no-store");
        origin.serves("/stored", "stored", "Cache-Control: max-age=3600");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                worker: {event_loops: 1}
                dns: {name_servers: ["%1$s"], query_timeout: 2s, hosts_file: /dev/null, srv: true}
                remap:
                  - {regex_map: 'http://([a-z0-9]+)\\.names\\.example/', to: "http://$1.test:%2$d/"}
                  - {map: "http://stored.example/", to: "%3$s/"}
                  - {regex_map: 'http://([a-z0-9]+)\\.services\\.example/', to: "http://$1.test/"}
                """.formatted(names.address(), origin.port(), origin.url()));
        proxy = product.launch().config(config).start();
    }

    @AfterAll
    static void close() throws IOException {
        names.close();
    }

    @BeforeEach
    void storeSomething() throws IOException {
        assertEquals("stored", ask(RawClient.connect(proxy.port()), "stored.example", "/stored"));
    }

    private static String ask(RawClient client, String host, String target) throws IOException {
        try (client) {
            return send(client, host, target).response().text();
        }
    }

    private static RawClient send(RawClient client, String host, String target) throws IOException {
        return client.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    }

    private static void hitsAreAnswered() throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            for (int i = 0; i < 50; i++) {
                assertTrue(send(client, "stored.example", "/stored").response().isHit());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"good, 200", "unknown, 502", "refused, 502", "garbage, 502", "silent, 502", "spoofed, 200", "huge, 200"
    })
    void aNameIsFoundOrNot_andHitsAreAnsweredMeanwhile(String name, int status) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            send(client, name + ".names.example", "/");
            hitsAreAnswered();
            RawResponse response = client.response();
            assertEquals(status, response.status(), response::toString);
            if (status == 502) {
                assertTrue(response.joined("Cache-Status").contains("dns"), response::toString);
            }
        }
        hitsAreAnswered();
    }

    @Test
    void aServiceIsWhereItsRecordsSay_atTheFirstOfThemThatAnswers() throws IOException {
        names.service("_http._tcp.shop.test", 2, "good.test", origin.port());
        names.service("_http._tcp.shop.test", 1, "good.test", PackedProduct.freePort());
        int before = origin.count("/");
        assertEquals("found", ask(RawClient.connect(proxy.port()), "shop.services.example", "/"));
        List<OriginRequest> asked = origin.requests("/");
        assertEquals(before + 1, asked.size());
        assertEquals("shop.test", asked.get(before).field("Host"));
    }

    @Test
    void onlyRequestsForASlowNameWait() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            send(client, "slow.names.example", "/");
            await("the question").until(() -> names.wasAsked("slow.test"));
            int before = origin.count("/");
            hitsAreAnswered();
            assertEquals("found", ask(RawClient.connect(proxy.port()), "good.names.example", "/"));
            assertEquals(before + 1, origin.count("/"));
            names.release();
            assertFalse(client.response().text().isEmpty());
        }
    }
}
