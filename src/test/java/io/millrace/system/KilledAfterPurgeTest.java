package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that acknowledged purges of the packed product persist when its worker is killed right after the response. */
@Tag("nightly")
class KilledAfterPurgeTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final List<String> PATHS = List.of("/", "/blog/a", "/blog/b", "/js/a.js");

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private MillraceProcess proxy;

    private void start(String... fields) throws IOException {
        for (String path : PATHS) {
            origin.serves(path, "content of " + path, fields);
        }
        proxy = product.launch().origin(origin.url()).start();
        PATHS.forEach(this::get);
        PATHS.forEach(this::assertStored);
    }

    private String send(String method, String target) {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send(method + " " + target + " HTTP/1.1\r\nHost: site.example\r\nX-Purge-Method: regex\r\n\r\n");
            RawResponse response = client.response();
            assertEquals(200, response.status(), response.text());
            return response.text();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void get(String path) {
        assertEquals("content of " + path, send("GET", path));
    }

    private void assertStored(String path) {
        int before = origin.count(path);
        get(path);
        assertEquals(before, origin.count(path), path + " is not stored");
    }

    private void assertGone(String path) {
        int before = origin.count(path);
        get(path);
        assertEquals(before + 1, origin.count(path), path + " came back");
    }

    private void killWorker() {
        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
    }

    @Test
    void everythingOfAHost() throws IOException {
        start(FRESH);
        String said = send("PURGE", "/.*");
        killWorker();
        assertTrue(said.contains("all of host site.example"), said);
        PATHS.forEach(this::assertGone);
        PATHS.forEach(this::assertStored);
        killWorker();
        PATHS.forEach(this::assertStored);
    }

    @Test
    void purgesOfAPrefixAUrlAndAHostByMillctl() throws IOException {
        start(FRESH);
        send("PURGE", "/blog/.*");
        killWorker();
        assertStored("/js/a.js");
        assertGone("/blog/a");
        proxy.millctl("purge", "http://site.example/js/a.js").succeeds();
        killWorker();
        assertGone("/js/a.js");
        assertStored("/blog/a");
        String said =
                proxy.millctl("purge", "--host", "site.example").succeeds().out();
        killWorker();
        assertTrue(said.startsWith("invalidated: host site.example, stamp "), said);
        assertGone("/js/a.js");
    }
}
