package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The requests of content management systems against the packed product without a configuration, so that one rule maps
 * every host. Some plugins send the site as the host, the others the address of the cache.
 */
class PluginPurgesTest {
    private static final String PAGE = "/posts/1";
    private static final String OTHER = "/other";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private MillraceProcess proxy;

    /** A purge of the page: the host, the line of the request, and fields. */
    private record Purge(String host, String line, List<String> fields) {
        Purge(String host, String line, String... fields) {
            this(host, line, List.of(fields));
        }

        String bytes() {
            return line + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("\r\n", fields) + "\r\n\r\n";
        }
    }

    private static List<Purge> purges() {
        String site = "site.example";
        String cache = "127.0.0.1:6081";
        String chunk = chunk();
        return List.of(
                new Purge(site, "PURGE " + PAGE, "User-Agent: WordPress/6.8.1", "X-Purge-Method: default"),
                new Purge(site, "PURGE /posts/.*", "User-Agent: WordPress/6.8.1", "X-Purge-Method: regex"),
                new Purge(site, "PURGE /([a-z0-9_\\-]*?)posts/([a-z0-9_\\-]*)?", "X-Purge-Method: regex"),
                new Purge(site, "PURGE /", "X-Purge-Method: tags", "X-Cache-Tags-Pattern: (^|,)(p-1|p-2)(,|$)"),
                new Purge(cache, "PURGE /", "Connection: close", "X-Magento-Tags-Pattern: ((^|,)p-1(,|$))"),
                new Purge(cache, "PURGE /", "Connection: close", "X-Magento-Tags-Pattern: " + chunk),
                new Purge(cache, "BAN /", "User-Agent: GuzzleHttp/7", "Cache-Tags: p-1"),
                new Purge(cache, "BAN /tags", "User-Agent: GuzzleHttp/7", "Cache-Tags: node:1 p-1 node:2"),
                new Purge(
                        cache, "BAN /", "X-Host: ^(www\\.|)site\\.example$", "X-Url: /posts/.*", "X-Content-Type: .*"),
                new Purge(
                        cache, "BAN /", "X-Host: .*", "X-Url: .*", "X-Content-Type: .*", "X-Cache-Tags: (^|,)p-1(,|$)"),
                new Purge(cache, "PURGEKEYS /", "User-Agent: GuzzleHttp/7", "xkey-purge: p-1 p-2"),
                new Purge(cache, "PURGE /", "xkey: p-1"),
                new Purge(cache, "BAN /", "ApiPlatform-Ban-Regex: (^|\\,)p-1($|\\,)"));
    }

    /** Returns the tags of the largest request that Magento sends by default. */
    private static String chunk() {
        StringBuilder tags = new StringBuilder("((^|,)p-1(,|$))");
        while (tags.length() < 7_650) {
            tags.append("|((^|,)cat_p_").append(tags.length()).append("(,|$))");
        }
        return tags.toString();
    }

    private RawResponse send(String request) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send(request).response();
        }
    }

    private boolean isStored(String path) throws IOException {
        int before = origin.count(path);
        send("GET " + path + " HTTP/1.1\r\nHost: site.example\r\n\r\n");
        return origin.count(path) == before;
    }

    @Test
    void eachPluginPurgesThePage() throws Exception {
        String control = "Cache-Control: max-age=600";
        origin.serves(PAGE, "page", control, "X-Magento-Tags: p,p-1", "X-Cache-Tags: p,p-1", "Cache-Tags: p p-1");
        origin.serves(OTHER, "other", control, "xkey: p p-10");
        proxy = product.launch().origin(origin.url()).start();
        isStored(OTHER);
        assertTrue(isStored(OTHER));
        List<Purge> purges = purges();
        List<String> failures = new ArrayList<>();
        for (Purge purge : purges) {
            isStored(PAGE);
            assertTrue(isStored(PAGE));
            RawResponse answer = send(purge.bytes());
            if (answer.status() != 200 || isStored(PAGE)) {
                failures.add(purge.line() + " " + String.join(" ", purge.fields()) + ": " + answer.status());
            }
        }
        assertEquals(List.of(), failures);
        assertTrue(isStored(OTHER));
        assertFalse(
                origin.requests().stream().anyMatch(request -> !request.method().equals("GET")));
        assertEquals(
                purges.size() - 1,
                proxy.millctl("purge", "list", "--limit", "100")
                        .succeeds()
                        .out()
                        .lines()
                        .filter(line -> !line.contains(" url "))
                        .count());
    }
}
