package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.geo.MmdbWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests conditions that read the country of clients, with real clients at loopback addresses. */
class GeoOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private Path database;

    @BeforeEach
    void write() throws Exception {
        MmdbWriter writer = new MmdbWriter(24, 6).add(127, 0, 0, 0, 8, MmdbWriter.country("DE", "EU"));
        database = Files.write(directory.resolve("c.mmdb"), writer.bytes());
    }

    @Test
    void hitsAndMissesAreDecidedByCountry() throws Exception {
        String rules = "[{when: 'country == \"DE\" && path == \"/no\"', answer: {status: 451}},"
                + " {when: 'country != \"DE\"', answer: {status: 410}},"
                + " {when: 'continent in (\"EU\")', set_response_header: {X-Place: europe}}]";
        ConfigResult parsed = ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\ngeo: {database: " + database + "}\nrules: "
                        + rules,
                "m.yaml",
                Map.of());
        proxy.start(
                request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number())),
                fresh -> fresh.set(GeoKeys.DATABASE, database)
                        .rules(parsed.config().values().elements(RuleKeys.RULES)));
        assertEquals("content 1", proxy.getAndSettle("/a").text());
        RawClient.Response hit = proxy.get("/a");
        assertEquals("content 1", hit.text());
        assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        assertEquals("europe", hit.field("x-place"));
        assertEquals(451, proxy.get("/no").status());
    }

    @Test
    void theCountryIsAPartOfCacheKeysAndOnlyThisProxySetsIt() throws Exception {
        List<String> requests = new CopyOnWriteArrayList<>();
        proxy.start(
                request -> {
                    requests.add(request.head());
                    request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number()));
                },
                fresh -> fresh.set(GeoKeys.DATABASE, database)
                        .set(GeoKeys.COUNTRY_FIELD, "X-Client-Country")
                        .set(CacheKeyKeys.FIELDS, List.of("X-Client-Country")));
        String forged = "X-Client-Country: FR\r\nx_client_country: FR\r\n";
        assertEquals("content 1", proxy.getAndSettle("/a").text());
        assertEquals("content 1", proxy.getAndSettle("/a", forged).text());
        assertEquals("content 2", proxy.getAndSettle("/b", forged).text());
        for (String request : requests) {
            assertTrue(request.contains("\r\nX-Client-Country: DE\r\n"), request);
            assertFalse(request.contains("FR"), request);
        }
        Path next = Files.write(
                directory.resolve("next.mmdb"),
                new MmdbWriter(24, 6)
                        .add(127, 0, 0, 0, 8, MmdbWriter.country("FR", "EU"))
                        .bytes());
        // A refused reload keeps the database.
        assertThrows(
                IllegalArgumentException.class,
                () -> proxy.reload(config -> config.set(GeoKeys.DATABASE, next).set(AuthorizeKeys.URL, "no URL")));
        assertEquals("content 2", proxy.getAndSettle("/b").text());
        proxy.reload(config -> config.set(GeoKeys.DATABASE, next)
                .set(GeoKeys.COUNTRY_FIELD, "X-Client-Country")
                .set(CacheKeyKeys.FIELDS, List.of("X-Client-Country")));
        assertEquals("content 3", proxy.getAndSettle("/a").text());
    }
}
