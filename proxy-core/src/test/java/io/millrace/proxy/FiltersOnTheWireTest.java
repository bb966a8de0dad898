package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.access.FilterConfig.Action;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests the responses to requests that a filter refuses, and their records in log and metrics. */
class FiltersOnTheWireTest {
    private static final String SECOND = "127.0.0.2";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @TempDir
    Path directory;

    private static void answer(RawOrigin.Exchange request) throws IOException {
        request.ok("Cache-Control: max-age=3600\r\n", RawInput.latin1("content"));
    }

    private static ConfigValues filter(Action action, String... sources) {
        return ConfigValues.builder()
                .set(FilterKeys.ACTION, action)
                .set(FilterKeys.SRC_IP, AddressSet.parse(sources))
                .build();
    }

    private static ConfigValues methods(Action action, String... methods) {
        return ConfigValues.builder()
                .set(FilterKeys.ACTION, action)
                .set(FilterKeys.METHODS, List.of(methods))
                .build();
    }

    private static ConfigValues rule(ConfigValues... filters) {
        return ConfigValues.builder()
                .set(FilterKeys.RULE_FILTERS, List.of(filters))
                .build();
    }

    private RawClient.Response from(String local, String request) throws IOException {
        try (RawClient client = RawClient.from(local, proxy.address())) {
            return client.send(request).response();
        }
    }

    private static String get(String host) {
        return "GET /p HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    }

    @Test
    void clientOfAnotherAddressIsRefusedStoredContent() throws Exception {
        Path log = directory.resolve("access.log");
        proxy.start(FiltersOnTheWireTest::answer, config -> config.map(
                        "/", proxy.origin().url(), rule(filter(Action.ALLOW, "127.0.0.1")))
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<chi> %<pssc> %<crc> %<detail>"));
        try (RawClient allowed = proxy.client();
                RawClient refused = RawClient.from(SECOND, proxy.address())) {
            for (int i = 0; i < 3; i++) {
                assertEquals("content", allowed.get("/p").response().text());
                RawClient.Response no = refused.get("/p").response();
                assertEquals(403, no.status());
                assertEquals("403 Forbidden: a filter of this proxy refuses the request\n", no.text());
                assertEquals(
                        "millrace; detail=no-filter:remap[0].filters",
                        no.field("cache-status").replace("\"", ""));
            }
        }
        assertEquals(1, proxy.origin().requests());
        assertEquals(3, proxy.counted(Counter.DENIED_FILTER));
        ProxyExtension.await("six lines", () -> lines(log).length == 6);
        assertEquals("127.0.0.2 403 TCP_DENIED no-filter:remap[0].filters", lines(log)[1]);
        String scraped = proxy.proxy().metrics().prometheusText();
        assertTrue(
                scraped.contains("millrace_filter_denied_requests_total{application=\"millrace\","
                        + "filter=\"no-filter:remap[0].filters\"} 3.0\n"),
                scraped);
    }

    private static String[] lines(Path log) {
        try {
            return Files.exists(log)
                    ? Files.readString(log, StandardCharsets.ISO_8859_1).lines().toArray(String[]::new)
                    : new String[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void filterIsCalledByItsName() throws Exception {
        ConfigValues named = ConfigValues.builder()
                .set(FilterKeys.NAME, "guests")
                .set(FilterKeys.ACTION, Action.DENY)
                .set(FilterKeys.SRC_IP, AddressSet.parse(SECOND))
                .build();
        proxy.start(FiltersOnTheWireTest::answer, config -> config.map(
                        "/", proxy.origin().url())
                .filter(named)
                .accessFilter(
                        ConfigValues.builder().set(FilterKeys.NAME, "guests").build()));
        RawClient.Response refused = from(SECOND, get("test.example"));
        assertEquals(403, refused.status());
        assertEquals("millrace; detail=filter:guests", refused.field("cache-status"));
        assertEquals(200, from("127.0.0.1", get("test.example")).status());
    }

    /** A connection that received hits is refused after the reload, and served again after the next one. */
    @Test
    void filterHoldsFromTheReloadOn() throws Exception {
        proxy.start(
                FiltersOnTheWireTest::answer,
                config -> config.map("/", proxy.origin().url()));
        try (RawClient client = proxy.client()) {
            client.get("/p").response();
            assertEquals(200, client.get("/p").response().status());
            proxy.reload(
                    config -> config.map("/", proxy.origin().url()).accessFilter(filter(Action.DENY, "127.0.0.0/8")));
            assertEquals(403, client.get("/p").response().status());
            proxy.reload(config -> config.map("/", proxy.origin().url()));
            assertEquals(200, client.get("/p").response().status());
        }
    }

    @Test
    void responsesToRefusedClientsContainNothingOfRules() throws Exception {
        proxy.start(FiltersOnTheWireTest::answer, config -> config.accessFilter(filter(Action.DENY, SECOND))
                .rule(
                        RemapVerb.REDIRECT,
                        "http://old.example/",
                        "http://new.example/",
                        rule(methods(Action.DENY, "PUT")))
                .rule(
                        RemapVerb.REDIRECT,
                        "http://open.example/",
                        "http://new.example/",
                        rule(filter(Action.ALLOW, "all"))));
        assertEquals(403, from(SECOND, get("old.example")).status());
        assertNull(from(SECOND, get("old.example")).field("location"));
        assertEquals(403, from(SECOND, get("nowhere.example")).status());
        assertEquals(301, from(SECOND, get("open.example")).status());
        assertEquals(301, from("127.0.0.1", get("old.example")).status());
        assertEquals(404, from("127.0.0.1", get("nowhere.example")).status());
    }

    @Test
    void filtersComeBeforeTheMethodsOfTheRule() throws Exception {
        proxy.start(
                FiltersOnTheWireTest::answer,
                config -> config.map("/", proxy.origin().url(), rule(methods(Action.DENY, "TRACE", "DELETE"))));
        assertEquals(
                403, from("127.0.0.1", "TRACE /p HTTP/1.1\r\nHost: a\r\n\r\n").status());
        assertEquals(
                403, from("127.0.0.1", "DELETE /p HTTP/1.1\r\nHost: a\r\n\r\n").status());
        assertEquals(
                200,
                from("127.0.0.1", "PUT /p HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                        .status());
        assertEquals(1, proxy.origin().requests());
    }

    /** A filter can deny the right to purge, but cannot grant it. */
    @Test
    void purgesPassTheFiltersAndPurgeAllow() throws Exception {
        String purge = "PURGE /p HTTP/1.1\r\nHost: a\r\n\r\n";
        proxy.start(
                FiltersOnTheWireTest::answer,
                config -> config.map("/", proxy.origin().url(), rule(methods(Action.ALLOW, "GET"))));
        assertEquals(200, from("127.0.0.1", get("a")).status());
        RawClient.Response refused = from("127.0.0.1", purge);
        assertEquals(403, refused.status());
        assertEquals(
                "millrace; detail=no-filter:remap[0].filters",
                refused.field("cache-status").replace("\"", ""));
        proxy.reload(config -> config.map("/", proxy.origin().url(), rule(methods(Action.ALLOW, "GET", "PURGE"))));
        assertEquals(200, from("127.0.0.1", purge).status());
        proxy.reload(config -> config.map("/", proxy.origin().url(), rule(methods(Action.ALLOW, "GET", "PURGE")))
                .set("purge.allow", "none"));
        refused = from("127.0.0.1", purge);
        assertEquals("403 Forbidden: purge.allow does not contain 127.0.0.1\n", refused.text());
        assertNull(refused.field("cache-status"));
        assertEquals(1, proxy.counted(Counter.DENIED_FILTER));
        assertEquals(1, proxy.counted(Counter.DENIED_PURGE));
    }

    @Test
    void contentOfARefusedRequestIsNotReadAsTheNext() throws Exception {
        proxy.start(
                FiltersOnTheWireTest::answer,
                config -> config.map("/", proxy.origin().url(), rule(methods(Action.DENY, "POST"))));
        try (RawClient client = proxy.client()) {
            client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /p HTTP/1.1\r\nHost: a\r\n\r\n");
            RawClient.Response refused = client.response();
            assertEquals(403, refused.status());
            assertEquals("close", refused.field("connection"));
        }
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void clientIsTheAddressForwardedByATrustedProxy() throws Exception {
        proxy.start(FiltersOnTheWireTest::answer, config -> config.map(
                        "/", proxy.origin().url(), rule(filter(Action.ALLOW, "10.0.0.0/8")))
                .set("access.trusted_proxies", "127.0.0.1")
                .set("access.filter_by_x_forwarded_for", "true"));
        String named = "GET /p HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.1.2.3\r\n\r\n";
        assertEquals(200, from("127.0.0.1", named).status());
        assertEquals(403, from(SECOND, named).status());
        assertEquals(403, from("127.0.0.1", get("a")).status());
    }
}
