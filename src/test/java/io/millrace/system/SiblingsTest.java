package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests two proxies with one configuration: they share stored responses, and each works without the other. */
@Tag("nightly")
class SiblingsTest {
    private static final int PATHS = 40;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess one;
    private static MillraceProcess two;

    @BeforeAll
    static void start() throws IOException {
        int first = PackedProduct.freePort();
        int second = PackedProduct.freePort();
        for (String folder : List.of("/shared/", "/alone/")) {
            for (int i = 0; i < PATHS; i++) {
                origin.serves(folder + i, folder + i, "Cache-Control: max-age=3600");
            }
        }
        Path config = configOf(first, second);
        one = product.launch().config(config).set("via.name", "one").port(first).start();
        two = product.launch()
                .config(config)
                .set("via.name", "two")
                .port(second)
                .start();
    }

    private static Path configOf(int first, int second) throws IOException {
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                worker: {event_loops: 1}
                origins:
                  - name: edge
                    policy: consistent_hash
                    ring_mode: peering_ring
                    parent_is_proxy: true
                    go_direct: true
                    hosts: ["http://127.0.0.1:%d", "http://127.0.0.1:%d"]
                remap:
                  - {map: "http://shop.example:%3$d/", to: "%4$s/", origins: edge, cache: {key: {host: shop.example}}}
                  - {map: "%4$s/", to: "%4$s/", origins: edge, cache: {key: {host: shop.example}}}
                """.formatted(first, second, origin.port(), origin.url()));
        return config;
    }

    private static RawResponse ask(MillraceProcess proxy, String target) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send("GET " + target + " HTTP/1.1\r\nHost: shop.example:" + origin.port() + "\r\n\r\n")
                    .response();
        }
    }

    /** Returns the proxies that requested a path from the origin, for each request the last one. */
    private static List<String> askedFor(String path) {
        List<String> names = new ArrayList<>();
        for (OriginRequest request : origin.requests(path)) {
            String via = request.head().joined("Via");
            names.add(via.substring(via.lastIndexOf(' ') + 1));
        }
        return names;
    }

    @Test
    void aSiblingNeedNotFetchResponsesOfTheOther() throws IOException {
        Set<String> owners = new TreeSet<>();
        for (int i = 0; i < PATHS; i++) {
            String path = "/shared/" + i;
            for (MillraceProcess proxy : List.of(one, two)) {
                assertEquals(path, ask(proxy, path).text());
                assertTrue(ask(proxy, path).isHit(), path);
            }
            List<String> asked = askedFor(path);
            assertEquals(1, asked.size(), () -> path + " was fetched by " + asked);
            owners.addAll(asked);
        }
        assertEquals(Set.of("one", "two"), owners);
    }

    @Test
    void aSiblingLeftAloneFetchesUrlsOfTheOther() throws IOException {
        int gone = PackedProduct.freePort();
        int port = PackedProduct.freePort();
        MillraceProcess left = product.launch()
                .config(configOf(port, gone))
                .set("via.name", "left")
                .port(port)
                .start();
        for (int i = 0; i < PATHS; i++) {
            String path = "/alone/" + i;
            assertEquals(path, ask(left, path).text());
            assertEquals(List.of("left"), askedFor(path));
        }
    }
}
