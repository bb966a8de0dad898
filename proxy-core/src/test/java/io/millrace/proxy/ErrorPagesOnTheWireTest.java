package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests error pages with real clients. */
class ErrorPagesOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(String text) throws Exception {
        Files.writeString(directory.resolve("general.html"), "<h1>general</h1>");
        Files.writeString(directory.resolve("own.json"), "{\"own\":true}");
        proxy.start(
                request -> {
                    if (request.has(" /gone")) {
                        request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\norigin");
                    } else {
                        request.ok("", new byte[0]);
                    }
                },
                fresh -> {
                    ConfigResult result = ConfigLoader.parse(
                            text.replace("@origin", proxy.origin().url()),
                            "m.yaml",
                            directory,
                            Map.of(
                                    "listen", "['127.0.0.1:0']",
                                    "log.access.enabled", "false",
                                    "cache.ram_size", "32MiB",
                                    "worker.event_loops", "1"));
                    assertNotNull(result.config(), result::text);
                    return result.config().toBuilder();
                });
    }

    private RawClient.Response ask(String request) throws Exception {
        try (RawClient client = proxy.client()) {
            return client.send(request).response();
        }
    }

    private static String get(String host, String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    }

    @Test
    void pagesReplaceTheTextOfErrorsOfThisProxy() throws Exception {
        start("""
                filters:
                  - {name: nobody, action: deny}
                remap:
                  - map: http://a.example/closed/
                    to: "@origin/"
                    filters: [nobody]
                    error_pages:
                      - status: 403
                        file: own.json
                        content_type: application/json
                        set_response_header: {Cache-Control: max-age=5, X-Own: "1"}
                  - {map: "http://a.example/", to: "@origin/"}
                  - {map: "http://b.example/", to: "http://127.0.0.1:1/"}
                error_pages:
                  - {status: [400, 403, 404, 502, 503], file: general.html}
                """);
        RawClient.Response own = ask(get("a.example", "/closed/x"));
        assertEquals(403, own.status());
        assertEquals("{\"own\":true}", own.text());
        assertEquals("application/json", own.field("content-type"));
        assertEquals("max-age=5", own.field("cache-control"));
        assertEquals("1", own.field("x-own"));
        RawClient.Response unmapped = ask(get("c.example", "/"));
        assertEquals(404, unmapped.status());
        assertEquals("<h1>general</h1>", unmapped.text());
        assertEquals("text/html; charset=utf-8", unmapped.field("content-type"));
        assertEquals("no-store", unmapped.field("cache-control"));
        RawClient.Response failed = ask(get("b.example", "/"));
        assertEquals("<h1>general</h1>", failed.text(), failed.head());
        RawClient.Response origin = ask(get("a.example", "/gone"));
        assertEquals("origin", origin.text(), "errors of origins stay");
        RawClient.Response bad = ask("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
        assertEquals(400, bad.status());
        assertEquals("<h1>general</h1>", bad.text());
        try (RawClient client = proxy.client()) {
            RawClient.Response head =
                    client.send("HEAD / HTTP/1.1\r\nHost: c.example\r\n\r\n").head();
            assertEquals("16", head.field("content-length"));
        }
    }

    @Test
    void fieldsOfTheRefusalAreKept() throws Exception {
        start("""
                remap: [{map: /, to: "@origin/"}]
                request_limits: [{name: a, rate: 1/h}]
                error_pages:
                  - {status: 429, file: general.html, set_response_header: {Retry-After: "7"}}
                """);
        assertEquals(200, ask(get("a.example", "/")).status());
        RawClient.Response refused = ask(get("a.example", "/"));
        assertEquals(429, refused.status());
        assertEquals("<h1>general</h1>", refused.text());
        assertEquals("7", refused.field("retry-after"));
        assertEquals("\"a\";q=1;w=3600", refused.field("ratelimit-policy"));
        assertNull(refused.field("x-own"));
    }
}
